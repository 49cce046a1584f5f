/**
 * Goal: the page works while the server is away.
 * Method: a server is really stopped and started again, on its data and its port. Meanwhile a person reads, writes and reloads. They use two
 * tabs, mend what was refused, and sign out.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Browser, Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { until } from '../../../server/test/test-server.ts'
import { EMAIL, fillTasks, ITSELF, PASSWORD, startAdmin } from '../server.ts'
import { fill, focused, goTo, isSound, press, sees, seesNo, signIn, waitFor } from './steps.ts'

const FEW = 30
/** Each is half a minute. */
const COPY_TRIES = 3
const GRID = '[role=grid]'
const BAR = '.away'
/** The sidebar has some twenty links. */
const TABS_MAX = 60
const OTHER = 'other@example.com'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  // Firefox takes a minute and a half of a slow machine for the larger one.
  const tasks = browser.engine === 'chromium' ? 100_000 : 20_000
  const count = tasks.toLocaleString('en')
  test(`${count} records are kept on this device, and read while the server is away, also after a reload`, async () => {
    await withMortal(browser, tasks, async (page, mortal) => {
      await press(page, 'Keep on this device')
      await sees(page, 'Anyone who can use this browser as you can read them', 'dialog')
      await isSound(page)
      await press(page, 'Keep them here')
      await sees(page, 'Copying', '.view-actions')
      for (let tries = 1; !(await page.evaluate(isCopied, count)); tries++)
        await until(() => page.evaluate(isCopied, count)).catch((error: unknown) => {
          if (tries === COPY_TRIES) throw error
        })
      await mortal.stop()
      await isAway(page)
      await isSound(page)
      await press(page, 'Try now')
      await sees(page, `${count} records`)
      await sees(page, `Task ${String(tasks).padStart(6, '0')}`, GRID)
      await goTo(page, '/records/tasks?sort=-points,title')
      await sees(page, 'Task 000101', GRID)
      await goTo(page, '/records/tasks?record=task00000000042')
      await valueIs(page, 'title', 'Task 000042')
      await press(page, 'Cancel')
      await goTo(page, `/records/tasks?filter=${encodeURIComponent('@collection.users.name ?= title')}`)
      await sees(page, 'The server answers it when it is back', '.filter')
      // The page's own files come from this device, too.
      await page.reload()
      await isAway(page)
      await goTo(page, `/records/tasks?filter=${encodeURIComponent('points = 7 && done = true')}&sort=title`)
      const found = Array.from({ length: tasks }, (_, at) => at).filter((at) => at % 101 === 7 && at % 3 === 0)
      await sees(page, `${found.length} records`)
      await sees(page, 'Task 000109', GRID)
      await mortal.start()
      await seesNo(page, 'The server is away', BAR)
      await sees(page, `On this device: ${count}`, '.view-actions')
    })
  })

  test('what is written while the server is away waits, also over a reload, and arrives when it is back', async () => {
    await withMortal(browser, FEW, async (page, mortal) => {
      await keepHere(page)
      await mortal.stop()
      await isAway(page)
      await goTo(page, '/records/tasks?record=new')
      await fill(page, 'title', 'Made while away')
      await press(page, 'Make the record')
      await sees(page, 'It is sent when the server is back', '.toasts')
      await sees(page, 'Made while away', GRID)
      await goTo(page, '/records/tasks?record=task00000000029')
      await fill(page, 'title', 'Changed while away')
      await press(page, 'Save')
      await sees(page, 'Changed while away', GRID)
      await seesNo(page, 'Record of tasks')
      await goTo(page, '/records/tasks?record=task00000000028')
      await press(page, 'More')
      await press(page, 'Delete')
      await sees(page, '3 changes wait', BAR)
      await seesNo(page, 'Task 000028', GRID)
      await sees(page, '30 records')
      await page.reload()
      await isAway(page)
      await sees(page, 'Changed while away', GRID)
      await press(page, 'Show them')
      await sees(page, 'Change of tasks', '.writes')
      await sees(page, 'Deletion of tasks', '.writes')
      await isSound(page)
      await mortal.start()
      await until(async () => (await titles(mortal)).includes('Made while away'))
      await seesNo(page, 'Waiting', 'h2')
      const stored = await titles(mortal)
      assertEqual(
        [stored.length, stored.includes('Changed while away'), stored.includes('Task 000028')],
        [30, true, false],
      )
      await goTo(page, '/records/tasks')
      await sees(page, 'Made while away', GRID)
      await isSound(page)
    })
  })

  test('what the server refuses is shown in words: a value is mended, a conflict is discarded, a unique one written otherwise', async () => {
    await withMortal(browser, FEW, async (page, mortal) => {
      const indexes = ['CREATE UNIQUE INDEX one_title ON tasks (title)']
      await mortal.backend.definitions.update(ITSELF.principal, 'tasks', { indexes })
      await keepHere(page)
      await mortal.stop()
      await isAway(page)
      for (const [id, title] of [
        ['task00000000030', 'x'.repeat(61)],
        ['task00000000029', 'Mine'],
        ['task00000000028', 'Task 000004'],
      ] as const)
        await change(page, id, title)
      await mortal.start(async ({ backend }) => {
        await backend.records.update(ITSELF, 'tasks', 'task00000000029', { title: 'Theirs' })
      })
      await sees(page, 'The server has refused 3 changes of yours', BAR)
      await isSound(page)
      await press(page, 'Show them')
      await sees(page, 'Somebody else has changed this record meanwhile', '.writes')
      await sees(page, 'Theirs', '.write-compared')
      await sees(page, 'unique', '.writes')
      await isSound(page)
      await mend(page, 'x'.repeat(61), 'Mended')
      await until(async () => (await titles(mortal)).includes('Mended'))
      await mend(page, 'Task 000004', 'Another one')
      await until(async () => (await titles(mortal)).includes('Another one'))
      await press(page, 'Discard mine')
      await sees(page, 'What you have written is lost', 'dialog')
      await pressIn(page, 'dialog', 'Discard mine')
      await seesNo(page, 'Refused by the server')
      assertEqual((await titles(mortal)).includes('Theirs'), true)
      await goTo(page, '/records/tasks')
      await sees(page, 'Theirs', GRID)
    })
  })

  if (browser.engine === 'chromium')
    test('the keyboard alone keeps a collection, mends and discards refused changes, and removes it, in both themes', async () => {
      await withMortal(browser, FEW, workByKeys)
    })

  test('two tabs have one queue, and each sees what the other has written', async () => {
    await withMortal(browser, FEW, async (page, mortal) => {
      await keepHere(page)
      const other = await browser.open(`${mortal.url}/_/#/records/tasks`)
      try {
        await sees(other, 'On this device: 30', '.view-actions')
        await mortal.stop()
        await isAway(page)
        await isAway(other)
        await goTo(page, '/records/tasks?record=task00000000025')
        await fill(page, 'title', 'Of the first tab')
        await press(page, 'Save')
        await sees(other, 'Of the first tab', GRID)
        await sees(other, '1 change waits', BAR)
        await goTo(other, '/records/tasks?record=task00000000025')
        await fill(other, 'title', 'Of the second tab')
        await press(other, 'Save')
        await sees(page, 'Of the second tab', GRID)
        await mortal.start()
        await until(async () => (await titles(mortal)).includes('Of the second tab'))
        await seesNo(page, 'server', BAR)
        await seesNo(other, 'server', BAR)
        assertEqual(other.errors(), [])
        await press(other, EMAIL)
        await press(other, 'Sign out')
        await sees(page, 'Sign in')
        await isWiped(page)
      } finally {
        await other.close()
      }
    })
  })

  test('signing out deletes the kept records, after a question if changes wait, and another superuser sees nothing of it', async () => {
    await withMortal(browser, FEW, async (page, mortal) => {
      await keepHere(page)
      await mortal.stop()
      await isAway(page)
      await goTo(page, '/records/tasks?record=task00000000030')
      await fill(page, 'title', 'Never sent')
      await press(page, 'Save')
      await sees(page, '1 change waits', BAR)
      await press(page, EMAIL)
      await press(page, 'Sign out')
      await sees(page, '1 change was not sent', 'dialog')
      await isSound(page)
      await press(page, 'Cancel')
      await sees(page, '1 change waits', BAR)
      await press(page, EMAIL)
      await press(page, 'Sign out')
      await press(page, 'Lose them and sign out')
      await sees(page, 'Sign in')
      await isWiped(page)
      await mortal.start(async ({ backend }) => {
        const account = { email: OTHER, password: PASSWORD, passwordConfirm: PASSWORD }
        await backend.records.create(ITSELF, '_superusers', account)
      })
      await fill(page, 'E-mail address', OTHER)
      await fill(page, 'Password', PASSWORD)
      await press(page, 'Sign in')
      await goTo(page, '/device')
      await sees(page, 'No collection is on this device')
      assertEqual((await titles(mortal)).includes('Never sent'), false)
    })
  })

  test('writes of a superuser wait while another one is signed in: neither shown nor sent, until the first is back', async () => {
    await withMortal(browser, FEW, async (page, mortal) => {
      await keepHere(page)
      await mortal.stop()
      await isAway(page)
      await write(page, 'task00000000030', 'Of the first')
      await sees(page, '1 change waits', BAR)
      // The session ends by time.
      await page.evaluate(() => localStorage.removeItem('pannier.admin.session'))
      await page.reload()
      await sees(page, 'Sign in')
      await mortal.start(async ({ backend }) => {
        const account = { email: OTHER, password: PASSWORD, passwordConfirm: PASSWORD }
        await backend.records.create(ITSELF, '_superusers', account)
      })
      await signInAs(page, OTHER)
      await goTo(page, '/device')
      await sees(page, 'No collection is on this device')
      await goTo(page, '/records/tasks')
      await sees(page, 'Task 000030', GRID)
      await keepHere(page)
      await mortal.stop()
      await isAway(page)
      await seesNo(page, '1 change waits', BAR)
      await write(page, 'task00000000029', 'Of the second')
      await sees(page, '1 change waits', BAR)
      await mortal.start()
      await until(async () => (await titles(mortal)).includes('Of the second'))
      await seesNo(page, 'server', BAR)
      await goTo(page, '/device')
      await sees(page, 'Collections on this device')
      await seesNo(page, 'Of the first')
      // Signing out deletes the records of the second one, and those alone.
      await press(page, OTHER)
      await press(page, 'Sign out')
      await sees(page, 'Forgot your password?')
      assertEqual((await titles(mortal)).includes('Of the first'), false)
      await signInAs(page, EMAIL)
      await until(async () => (await titles(mortal)).includes('Of the first'))
      await goTo(page, '/records/tasks')
      await sees(page, 'On this device: 30', '.view-actions')
    })
  })
}

async function write(page: Page, id: string, title: string): Promise<void> {
  await goTo(page, `/records/tasks?record=${id}`)
  await fill(page, 'title', title)
  await press(page, 'Save')
  await sees(page, title, GRID)
  // The table may know it before the form, which closes whichever record is open then.
  await seesNo(page, 'Record of tasks')
}

async function signInAs(page: Page, email: string): Promise<void> {
  await fill(page, 'E-mail address', email)
  await fill(page, 'Password', PASSWORD)
  await press(page, 'Sign in')
  await sees(page, 'Collections', '.sidebar')
}

/** Keeps a collection, sees what waits, mends one change, discards another one, and removes the collection. */
async function workByKeys(page: Page, mortal: Mortal): Promise<void> {
  await tabTo(page, 'Keep on this device')
  await page.press('Enter')
  await sees(page, 'Which records', 'dialog')
  await tabTo(page, 'Keep them here')
  await page.press('Enter')
  await isKept(page)
  await mortal.stop()
  await isAway(page)
  // One character too many.
  await change(page, 'task00000000030', 'x'.repeat(61))
  await change(page, 'task00000000029', 'Mine')
  await tabTo(page, 'Show them')
  await page.press('Enter')
  await sees(page, 'Change of tasks', '.writes')
  await isSoundInBoth(page)
  await mortal.start(async ({ backend }) => {
    await backend.records.update(ITSELF, 'tasks', 'task00000000029', { title: 'Theirs' })
  })
  await sees(page, 'Theirs', '.write-compared')
  await isSoundInBoth(page)
  await tabTo(page, 'Mend …')
  await page.press('Enter')
  await sees(page, 'Mend your change', 'dialog')
  await isSoundInBoth(page)
  await page.press('Escape')
  await seesNo(page, 'Mend your change')
  await waitFor(page, 'the focus on the button', '', () => document.activeElement?.textContent?.trim() === 'Mend …')
  await page.press('Enter')
  await sees(page, 'Mend your change', 'dialog')
  await page.press('End')
  await page.press('Backspace')
  await tabTo(page, 'Send it again')
  await page.press('Enter')
  await until(async () => (await titles(mortal)).includes('x'.repeat(60)))
  await seesNo(page, 'Mend your change')
  // The button is gone. The focus is not at the start of the page.
  await waitFor(page, 'the focus on the heading', '', () => document.activeElement?.id === 'refused')
  await tabTo(page, 'Discard mine')
  await page.press('Enter')
  await sees(page, 'What you have written is lost', 'dialog')
  await isSoundInBoth(page)
  await tabTo(page, 'Discard mine')
  await page.press('Enter')
  await seesNo(page, 'Refused by the server')
  await waitFor(page, 'the focus on the heading', '', () => document.activeElement?.id === 'kept')
  await tabTo(page, 'Remove tasks from this device')
  await page.press('Enter')
  await sees(page, 'No collection is on this device')
  await waitFor(page, 'the focus on the heading', '', () => document.activeElement?.id === 'kept')
  await isSoundInBoth(page)
}

/** Presses Tab until the control of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed = []
  for (let presses = 0; presses < TABS_MAX; presses++) {
    await page.press('Tab')
    const reached = await focused(page)
    if (reached === name) return
    passed.push(reached)
  }
  throw new Error(`Tab does not reach '${name}'. It passes ${passed.join(', ')}.`)
}

async function change(page: Page, id: string, title: string): Promise<void> {
  await goTo(page, `/records/tasks?record=${id}`)
  await fill(page, 'title', title)
  await press(page, 'Save')
  await sees(page, title.slice(0, 20), GRID)
  await seesNo(page, 'Record of tasks')
}

async function isSoundInBoth(page: Page): Promise<void> {
  for (const theme of ['dark', 'light']) {
    await page.evaluate((chosen) => void (document.documentElement.dataset['theme'] = chosen), theme)
    await isSound(page)
  }
}

/** A server that is stopped and started again, at the same address. */
class Mortal {
  readonly url: string
  readonly #dir: string
  #server: TestServer | undefined

  static async make(tasks: number): Promise<Mortal> {
    const dir = await mkdtemp(join(tmpdir(), 'pannier-away-'))
    const server = await startAdmin({ dir })
    await fillTasks(server, tasks)
    return new Mortal(dir, server)
  }

  private constructor(dir: string, server: TestServer) {
    this.#dir = dir
    this.#server = server
    this.url = server.url
  }

  get backend(): TestServer['server']['backend'] {
    return this.#server!.server.backend
  }

  async stop(): Promise<void> {
    await this.#server!.close()
    this.#server = undefined
  }

  /** `before`: what others do before the page reaches it. */
  async start(before: (server: TestServer['server']) => Promise<void> = async () => {}): Promise<void> {
    const elsewhere = await startAdmin({ dir: this.#dir, hasSuperuser: false })
    await before(elsewhere.server)
    await elsewhere.close()
    const port = Number(new URL(this.url).port)
    this.#server = await startAdmin({ dir: this.#dir, hasSuperuser: false, port })
  }

  async close(): Promise<void> {
    await this.#server?.close()
    await rm(this.#dir, { recursive: true, force: true })
  }
}

async function withMortal(
  browser: Browser,
  tasks: number,
  use: (page: Page, mortal: Mortal) => Promise<void>,
): Promise<void> {
  const mortal = await Mortal.make(tasks)
  const page = await browser.open(`${mortal.url}/_/`)
  try {
    await signIn(page)
    await goTo(page, '/records/tasks')
    await sees(page, 'Task ', GRID)
    await use(page, mortal)
    assertEqual(page.errors(), [])
  } finally {
    await page.close()
    await mortal.close()
  }
}

async function keepHere(page: Page): Promise<void> {
  await press(page, 'Keep on this device')
  await press(page, 'Keep them here')
  await isKept(page)
}

/** Also the files of the page. */
async function isKept(page: Page): Promise<void> {
  await sees(page, `On this device: ${FEW}`, '.view-actions')
  await page.evaluate(async () => void (await navigator.serviceWorker.ready))
}

/** All of it is here. A slow machine takes longer than one waits for a text. */
function isCopied(count: string): boolean {
  const head = document.querySelector<HTMLElement>('.view-actions')
  return head?.innerText.includes(`On this device: ${count}`) === true
}

/** The page has noticed it. */
async function isAway(page: Page): Promise<void> {
  await sees(page, 'The server is away. You see what this device keeps as of', BAR)
}

async function titles(mortal: Mortal): Promise<readonly string[]> {
  const { items } = await mortal.backend.records.list(ITSELF, 'tasks', { perPage: 500 })
  return items.map(({ title }) => String(title))
}

async function valueIs(page: Page, label: string, value: string): Promise<void> {
  await waitFor(page, `'${value}' in ${label}`, { label, value }, (wanted) =>
    [...document.querySelectorAll('label')].some(
      ({ innerText, control }) =>
        innerText.replace(/\s*\*$/, '').trim() === wanted.label &&
        (control as HTMLTextAreaElement | null)?.value === wanted.value,
    ),
  )
}

/** Mends the refused change that shows a text. */
async function mend(page: Page, shown: string, title: string): Promise<void> {
  await waitFor(page, `a change with '${shown}'`, shown, (text) => {
    const item = [...document.querySelectorAll<HTMLElement>('.write')].find(({ innerText }) => innerText.includes(text))
    const button = [...(item?.querySelectorAll('button') ?? [])].find(({ innerText }) => innerText.includes('Mend'))
    button?.click()
    return button !== undefined
  })
  await sees(page, 'Mend your change', 'dialog')
  await isSound(page)
  await fill(page, 'title', title)
  await press(page, 'Send it again')
  await seesNo(page, 'Mend your change')
}

async function pressIn(page: Page, selector: string, name: string): Promise<void> {
  await waitFor(page, `a button '${name}' in ${selector}`, { selector, name }, (wanted) => {
    const all = [...document.querySelectorAll<HTMLElement>(`${wanted.selector} button`)]
    const found = all.find(({ innerText }) => innerText.trim() === wanted.name)
    found?.click()
    return found !== undefined
  })
}

/** Nothing of the records is in the storage of the browser. */
async function isWiped(page: Page): Promise<void> {
  await until(
    () =>
      page.evaluate(async () => {
        const databases = await indexedDB.databases()
        const isThere = databases.some(({ name = '' }) => name.includes('superusers'))
        const kept = Object.keys(localStorage).filter((name) => /device|definitions/.test(name))
        return !isThere && kept.length === 0 && (await caches.keys()).length === 0
      }),
    () => page.evaluate(async () => [await indexedDB.databases(), Object.keys(localStorage), await caches.keys()]),
  )
}
