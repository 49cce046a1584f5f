/**
 * Goal: a server with another version of the page breaks no open tab, and a reload shows the new page, also while the server is away.
 * Method: two real builds of the page. A front before a real server hands out one of them, and no file of the other.
 */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Browser, Page } from '../../../../tools/browser/browser.ts'
import { freePort } from '../../../../tools/processes.ts'
import { buildAdminPage, type BuiltAdminPage } from '../../../../tools/web/admin-page.ts'
import { once } from '../../../../demo/test/browser/steps.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { contentTypeOf } from '../../../server/src/http/content-types.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { until } from '../../../server/test/test-server.ts'
import { fillTasks, startAdmin } from '../server.ts'
import { goTo, press, sees, seesNo, signIn } from './steps.ts'

const FEW = 3
const GRID = '[role=grid]'
const AWAY = 'The server is away'
const builds = once(async () => [await buildAdminPage(), await buildAdminPage('/* the next version */')] as const)

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  if (browser.engine !== 'chromium') return

  test('an open tab of the version before continues, a reload shows the next version, and that one opens while the server is away', async () => {
    await withFront(browser, async (page, front, [before, next]) => {
      await keepHere(page)
      const other = await browser.open(`${front.url}/_/#/records/tasks`)
      await sees(other, 'On this device', '.view-actions')
      front.page = next
      // Its parts are on the device.
      await goTo(page, '/storage')
      await sees(page, 'Check everything')
      assertEqual(await versionOf(page), mainOf(before))
      await page.reload()
      assertEqual(await versionOf(page), mainOf(next))
      await sees(page, 'Check everything')
      await until(() => page.evaluate(isKept, mainOf(next)))
      // The worker of the next version is the one of this tab too.
      await goTo(other, '/jobs')
      await sees(other, 'Run now')
      assertEqual(await versionOf(other), mainOf(before))
      front.isAway = true
      await sees(page, AWAY)
      await page.reload()
      await sees(page, AWAY)
      assertEqual(await versionOf(page), mainOf(next))
      await goTo(page, '/device')
      await sees(page, 'Collections on this device')
      await goTo(page, '/records/tasks')
      await sees(page, 'Task 000003', GRID)
      await goTo(other, '/device')
      await sees(other, 'Collections on this device')
      front.isAway = false
      await seesNo(page, AWAY)
      assertEqual(other.errors(), [])
      await other.close()
    })
  })

  test('a tab that keeps nothing says that there is another version, and offers to load it', async () => {
    await withFront(browser, async (page, front, [, next]) => {
      front.page = next
      await goTo(page, '/storage')
      await sees(page, 'The server has another version of this page now')
      await goTo(page, '/records/tasks')
      await sees(page, 'Task 000003', GRID)
      await goTo(page, '/storage')
      await press(page, 'Reload the page')
      await until(async () => (await versionOf(page).catch(() => undefined)) === mainOf(next))
      await sees(page, 'Check everything')
    })
  })
}

/** What a browser reaches of the server: all of it but the files of the page, which are those of one build. */
class Front {
  page: BuiltAdminPage
  #isAway = false
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #behind: string

  constructor(page: BuiltAdminPage, behind: string) {
    this.page = page
    this.#behind = behind
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`
  }

  set isAway(yes: boolean) {
    this.#isAway = yes
    if (yes) this.#server.closeAllConnections()
  }

  async start(): Promise<void> {
    const port = await freePort()
    await new Promise<void>((resolve) => this.#server.listen(port, 'localhost', resolve))
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method = '', headers } = request
    if (this.#isAway) return void response.destroy()
    const name = /^\/_\/([^?]*)/.exec(url)?.[1]
    if (name === undefined) {
      const onward = forward(`${this.#behind}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      onward.on('error', () => response.destroy())
      response.on('close', () => onward.destroy())
      request.pipe(onward)
      return
    }
    const content = this.page.files.get(name === '' ? 'index.html' : name)
    if (content === undefined) return void response.writeHead(404).end()
    const type = contentTypeOf(name === '' ? 'index.html' : name)
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip', 'cache-control': 'no-cache' })
    response.end(content)
  }
}

async function withFront(
  browser: Browser,
  use: (page: Page, front: Front, versions: readonly [BuiltAdminPage, BuiltAdminPage]) => Promise<void>,
): Promise<void> {
  const versions = await builds()
  const server: TestServer = await startAdmin()
  await fillTasks(server, FEW)
  const front = new Front(versions[0], server.url)
  await front.start()
  const page = await browser.open(`${front.url}/_/`)
  try {
    await signIn(page)
    await goTo(page, '/records/tasks')
    await sees(page, 'Task 000003', GRID)
    await use(page, front, versions)
  } finally {
    await page.close()
    front.close()
    await server.close()
  }
}

async function keepHere(page: Page): Promise<void> {
  await press(page, 'Keep on this device')
  await press(page, 'Keep them here')
  await sees(page, `On this device: ${FEW}`, '.view-actions')
  await until(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
}

/** The script of the version that a tab has. */
function versionOf(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.querySelector<HTMLScriptElement>('script[type=module]')?.src.split('/').at(-1))
}

function mainOf({ first }: BuiltAdminPage): string | undefined {
  return first.find((name) => /^main-.*\.js$/.test(name))
}

/** The version is on the device, and its worker is the one that works. */
async function isKept(main: string | undefined): Promise<boolean> {
  const [newest = ''] = (await caches.keys()).slice(-1)
  const index = await caches.match(new URL('.', location.href).href, { cacheName: newest })
  const { active, waiting, installing } = (await navigator.serviceWorker.getRegistration())!
  const isWorking = active?.state === 'activated' && waiting === null && installing === null
  return isWorking && (await index?.text())?.includes(String(main)) === true
}
