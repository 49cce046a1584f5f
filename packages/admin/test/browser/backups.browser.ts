/** Goal: a superuser makes, fetches, brings, restores and deletes backups, says when the server makes them, and runs jobs. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { createServer } from '../../../server/src/index.ts'
import type { PannierServer } from '../../../server/src/index.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { ITSELF, startAdmin } from '../server.ts'
import { fill, giveFile, goTo, isSound, press, sees, seesNo, signIn, waitFor, withServerPage } from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  test('a backup is made, fetched and deleted, and a wrong name is refused beside the field', async () => {
    await withServerPage(browser, '/backups', async (page, { server }) => {
      await sees(page, 'No backups yet')
      await isSound(page)
      await press(page, 'New backup')
      await fill(page, 'Name, if you want one of your own', 'Not Allowed')
      await press(page, 'Make the backup')
      await sees(page, 'format', '.field-wrong')
      await isSound(page)
      await fill(page, 'Name, if you want one of your own', 'mine.zip')
      await press(page, 'Make the backup')
      await sees(page, 'mine.zip', '.data')
      await isSound(page)
      // What the link leads to.
      await page.evaluate(() => {
        HTMLAnchorElement.prototype.click = function (): void {
          Object.assign(globalThis, { fetched: fetch(this.href).then((answer) => answer.arrayBuffer()) })
        }
      })
      await press(page, 'Download mine.zip')
      await waitFor(page, 'a download', '', () => 'fetched' in globalThis)
      const begin = await page.evaluate(async () => {
        const bytes = await (globalThis as unknown as { fetched: Promise<ArrayBuffer> }).fetched
        return String.fromCharCode(...new Uint8Array(bytes.slice(0, 2)))
      })
      assertEqual(begin, 'PK')
      await press(page, 'Delete mine.zip')
      await sees(page, 'The file is gone for good.')
      await press(page, 'Delete it')
      await sees(page, 'No backups yet')
      assertEqual(await server.backend.backups.list(ITSELF.principal), [])
    })
  })

  test('what is no backup is refused in words, when it is uploaded', async () => {
    await withServerPage(browser, '/backups', async (page) => {
      await giveFile(page, 'Upload a backup', 'text.zip', 'no archive')
      await sees(page, 'application/zip', '.toast-error')
      await giveFile(page, 'Upload a backup', 'empty.zip', `PK\u0005\u0006${'\0'.repeat(18)}`)
      await sees(page, 'empty.zip', '.data')
      await press(page, 'Restore empty.zip')
      await press(page, 'Lose what is newer, and restore')
      await sees(page, 'backup', '.toast-error')
    })
  })

  test('a backup is restored after a question that says what is lost, and the page comes back', async () => {
    let again: PannierServer | undefined
    const server: TestServer = await startAdmin({
      onRestart: () => {
        const port = Number(new URL(server.url).port)
        void (async () => {
          await server.server.close()
          again = await createServer({ dir: server.dir, logger: false })
          await again.listen({ port, host: '127.0.0.1' })
        })()
      },
    })
    const page = await browser.open(`${server.url}/_/`)
    try {
      const { backend } = server.server
      await backend.definitions.create(ITSELF.principal, { name: 'before', type: 'base', fields: [] })
      await signIn(page)
      await goTo(page, '/backups')
      await press(page, 'New backup')
      await fill(page, 'Name, if you want one of your own', 'old.zip')
      await press(page, 'Make the backup')
      await sees(page, 'old.zip', '.data')
      await backend.definitions.create(ITSELF.principal, { name: 'after', type: 'base', fields: [] })
      await press(page, 'Restore old.zip')
      await sees(page, 'All that was written since is lost')
      await isSound(page)
      await press(page, 'Lose what is newer, and restore')
      await sees(page, 'The server starts again')
      await isBack(page)
      await sees(page, 'before', '.sidebar')
      await seesNo(page, 'after', '.sidebar')
      assertEqual(page.errors(), [])
    } finally {
      await page.close()
      await again?.close()
      await server.close()
    }
  })

  test('the schedule is stored, and what is wrong in it stands beside it', async () => {
    await withServerPage(browser, '/backups', async (page, { server }) => {
      await fill(page, 'When, as a cron expression in UTC', 'often')
      await press(page, 'Save')
      await sees(page, 'cron', '.field-wrong .field-error')
      await isSound(page)
      await press(page, 'Every Sunday')
      await fill(page, 'How many to keep', '5')
      await press(page, 'Save')
      await sees(page, 'The settings are saved.')
      const { cron, cronMaxKeep } = server.backend.settings.values.backups
      assertEqual({ cron, cronMaxKeep }, { cron: '0 0 * * 0', cronMaxKeep: 5 })
      await press(page, 'Keep backups in a bucket (S3)')
      await press(page, 'Save')
      await sees(page, 'blank', '.field-wrong')
    })
  })

  test('a job is run now, and one that fails leads to its log', async () => {
    await withServerPage(browser, '/jobs', async (page, { server }) => {
      let runs = 0
      const { schedules, logs } = server.backend
      schedules.add('count', '0 0 1 1 *', () => void runs++)
      schedules.add('fail', '0 0 1 1 *', () => {
        throw new Error('no such file')
      })
      await sees(page, 'Delete old logs')
      await sees(page, 'none in the logs')
      await sees(page, 'count', '.data')
      await isSound(page)
      await press(page, 'Run now: count')
      await sees(page, 'count is started.')
      assertEqual(runs, 1)
      await press(page, 'Run now: fail')
      await sees(page, 'fail is started.')
      await logs.flush()
      await sees(page, 'no such file', '.data')
      await waitFor(page, 'a link', '', () => {
        const link = document.querySelector<HTMLElement>('.data a')
        link?.click()
        return link !== null
      })
      await sees(page, 'has failed', 'dialog')
    })
  })
}

/** The page loads again meanwhile, and answers nothing then. */
async function isBack(page: Page): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    const text = await page.evaluate(() => document.body.innerText).catch(() => 'The server starts again')
    if (!text.includes('The server starts again')) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('The page does not come back.')
}
