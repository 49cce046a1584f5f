/**
 * Pictures of the page in Chromium, for people to look at: each view, light and dark, in three widths.
 * `npm run node -- packages/admin/test/pictures.ts FOLDER [PATTERN]` takes those whose name matches the pattern.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launch, type Page } from 'puppeteer-core'
import { findProgram } from '../../../tools/browser/engines.ts'
import { makeFolder } from '../../../tools/processes.ts'
import { fillOperations } from './example-operations.ts'
import { EMAIL, fillTasks, PASSWORD, startAdmin } from './server.ts'

const WIDTHS = [320, 1280, 2560]
const THEMES = ['light', 'dark'] as const
const TASKS = 20_000
const SETTLE_MS = 700

/** Has steps in its plan. */
const PLANNED = 'points > 3 && (done = true || due > @now)'

interface Picture {
  readonly name: string
  readonly isSignedOut?: boolean
  readonly hash: string
  readonly before?: (page: Page) => Promise<void>
}

const PICTURES: readonly Picture[] = [
  { name: 'sign-in', isSignedOut: true, hash: '' },
  { name: 'setup', isSignedOut: true, hash: '#/setup/secret' },
  { name: 'start', hash: '#/start' },
  { name: 'records', hash: '#/records/tasks' },
  { name: 'articles', hash: '#/records/articles' },
  { name: 'form-new', hash: '#/records/articles?record=new' },
  { name: 'form-record', hash: '#/records/articles', before: openFirst },
  { name: 'export', hash: '#/records/articles', before: (page) => chooseOfList(page, 'Export …') },
  { name: 'import', hash: '#/records/articles', before: (page) => chooseOfList(page, 'Import …') },
  { name: 'new', hash: '#/new' },
  { name: 'fields', hash: '#/fields/articles' },
  { name: 'field-options', hash: '#/fields/articles', before: (page) => pressNamed(page, 'Options of status') },
  { name: 'review', hash: '#/fields/articles', before: review },
  { name: 'rules', hash: '#/rules/articles' },
  { name: 'who', hash: '#/rules/articles?preview=list', before: openReason },
  { name: 'login', hash: '#/accounts/users' },
  { name: 'indexes', hash: '#/indexes/users' },
  { name: 'api', hash: '#/api/articles' },
  { name: 'relations', hash: '#/relations' },
  { name: 'schema', hash: '#/schema' },
  { name: 'logs', hash: '#/logs' },
  { name: 'log', hash: '#/logs', before: (page) => pressFirst(page, '.log') },
  { name: 'metrics', hash: '#/metrics' },
  { name: 'storage', hash: '#/storage' },
  { name: 'backups', hash: '#/backups' },
  { name: 'backup-restore', hash: '#/backups', before: (page) => pressFirst(page, '[aria-label^=Restore]') },
  { name: 'jobs', hash: '#/jobs' },
  { name: 'access-tokens', hash: '#/access/tokens' },
  { name: 'access-token-new', hash: '#/access/tokens?new=yes' },
  { name: 'access-sessions', hash: '#/access/sessions' },
  { name: 'console-sql', hash: '#/console/sql', before: (page) => pressFirst(page, '.form-foot .button-primary') },
  {
    name: 'console-filter',
    hash: `#/console/filter?collection=tasks&filter=${encodeURIComponent(PLANNED)}&sort=-points`,
  },
  {
    name: 'console-mango',
    hash: '#/console/mango?database=notes',
    before: (page) => pressFirst(page, '.form-foot .button-primary'),
  },
  { name: 'couchdb', hash: '#/couchdb' },
  { name: 'couchdb-views', hash: '#/couchdb/databases/notes/views' },
  { name: 'couchdb-document', hash: '#/couchdb/databases/notes/documents?doc=note-1' },
  { name: 'couchdb-replications', hash: '#/couchdb/replications' },
  { name: 'settings-mail', hash: '#/settings/mail' },
  { name: 'settings-limits', hash: '#/settings/limits', before: (page) => pressFirst(page, '.form .check input') },
  { name: 'settings-addresses', hash: '#/settings/addresses' },
  { name: 'no-match', hash: `#/records/tasks?filter=${encodeURIComponent('title = "none"')}` },
  { name: 'wrong-filter', hash: `#/records/tasks?filter=${encodeURIComponent('title = ')}` },
]

const [folder = '', pattern = ''] = process.argv.slice(2)
if (folder === '') throw new Error('Name a folder for the pictures.')
mkdirSync(folder, { recursive: true })
const profile = makeFolder('pictures')
const server = await startAdmin()
await fillTasks(server, TASKS)
await fillOperations(server)
const browser = await launch({
  executablePath: findProgram('chromium')!,
  userDataDir: profile,
  args: ['--no-sandbox', '--headless=new', '--hide-scrollbars=false'],
})
try {
  const page = await browser.newPage()
  page.on('console', (message) => console.log(message.type(), message.text()))
  // What is not saved asks before it goes.
  page.on('dialog', (dialog) => void dialog.accept())
  page.on('pageerror', (error) => console.log(String(error)))
  const wanted = PICTURES.filter(({ name }) => new RegExp(pattern).test(name))
  for (const picture of wanted.filter(({ isSignedOut }) => isSignedOut === true)) await take(page, picture)
  await page.goto(`${server.url}/_/`)
  await signIn(page)
  await loadExample(page)
  for (const picture of wanted.filter(({ isSignedOut }) => isSignedOut !== true)) await take(page, picture)
} finally {
  await browser.close()
  await server.close()
  rmSync(profile, { recursive: true, force: true })
}
process.exit()

async function signIn(page: Page): Promise<void> {
  await page.waitForSelector('[type=email]')
  await page.type('[type=email]', EMAIL)
  await page.type('[type=password]', PASSWORD)
  await page.click('[type=submit]')
  await page.waitForSelector('.sidebar')
}

async function pressFirst(page: Page, selector: string): Promise<void> {
  await (await page.waitForSelector(selector))!.click()
}

async function openFirst(page: Page): Promise<void> {
  await (await page.waitForSelector('[data-cell="0,2"]'))!.click()
}

async function chooseOfList(page: Page, name: string): Promise<void> {
  await (await page.waitForSelector('[aria-label="More of the list"]'))!.click()
  await (await page.waitForSelector(`[role=menuitem]::-p-text(${name})`))!.click()
}

async function pressNamed(page: Page, name: string): Promise<void> {
  await (await page.waitForSelector(`[aria-label="${name}"]`))!.click()
}

async function review(page: Page): Promise<void> {
  await pressNamed(page, 'Remove the field reads')
  await pressNamed(page, 'Move title down')
  await (await page.waitForSelector('::-p-text(Review and save)'))!.click()
}

async function openReason(page: Page): Promise<void> {
  await (await page.waitForSelector('.who-no button'))!.click()
}

async function loadExample(page: Page): Promise<void> {
  await page.evaluate(() => void (location.hash = '#/start'))
  const button = await page.waitForSelector('::-p-text(Load the example)')
  await button!.click()
  await page.waitForFunction(() => location.hash.includes('articles'))
}

async function take(page: Page, { name, hash, before }: Picture): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: width < 500 ? 640 : Math.round(width * 0.62) })
    for (const theme of THEMES) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
      await page.evaluate(() => void (location.hash = '#/nowhere'))
      await page.goto(`${server.url}/_/${hash}`)
      await page.reload()
      await before?.(page)
      await new Promise((settled) => setTimeout(settled, SETTLE_MS))
      await page.screenshot({ path: resolve(join(folder, `${name}-${width}-${theme}.png`)) as `${string}.png` })
    }
  }
}
