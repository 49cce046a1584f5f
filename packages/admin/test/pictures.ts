/**
 * Pictures of the page in Chromium, for people to look at: each view, light and dark, in three widths, and a sheet with all of a width
 * and a theme. `npm run node -- packages/admin/test/pictures.ts FOLDER [PATTERN [WIDTH [THEME]]]` takes those whose name matches.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launch, type Page } from 'puppeteer-core'
import { findProgram } from '../../../tools/browser/engines.ts'
import { makeFolder } from '../../../tools/processes.ts'
import { send } from '../../server/test/test-server.ts'
import { ANN, fillOperations } from './example-operations.ts'
import { EMAIL, fillTasks, PASSWORD, startAdmin } from './server.ts'

const WIDTHS = [320, 1280, 3840]
const THEMES = ['light', 'dark'] as const
const TASKS = 20_000
const SETTLE_MS = 400
const THEME_MS = 350
const QUALITY = 70
/** In pixels. */
const SHEET_WIDTH = 2400
const SHEET_COLUMNS = 7

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
  { name: 'who-logs-in', hash: '#/rules/users?preview=auth' },
  { name: 'api', hash: '#/api/articles' },
  { name: 'keep', hash: '#/records/articles', before: (page) => pressFirst(page, '::-p-text(Keep on this device)') },
  { name: 'device', hash: '#/device' },
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
  { name: 'access-account', hash: `#/access/accounts?collection=users&account=${ANN}` },
  {
    name: 'access-act-as',
    hash: `#/access/accounts?collection=users&account=${ANN}`,
    before: (page) => pressText(page, 'Act as it …'),
  },
  { name: 'access-superusers', hash: '#/access/superusers' },
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
  { name: 'couchdb-documents', hash: '#/couchdb/databases/notes/documents' },
  { name: 'couchdb-indexes', hash: '#/couchdb/databases/notes/indexes' },
  { name: 'couchdb-changes', hash: '#/couchdb/databases/notes/changes' },
  { name: 'couchdb-permissions', hash: '#/couchdb/databases/notes/permissions' },
  { name: 'couchdb-revisions', hash: '#/couchdb/databases/notes/documents?revisions=both' },
  { name: 'couchdb-configuration', hash: '#/couchdb/configuration' },
  { name: 'couchdb-replications', hash: '#/couchdb/replications' },
  { name: 'settings-application', hash: '#/settings/application' },
  { name: 'settings-files', hash: '#/settings/files' },
  { name: 'settings-logs', hash: '#/settings/logs' },
  { name: 'settings-mail', hash: '#/settings/mail' },
  { name: 'settings-limits', hash: '#/settings/limits', before: (page) => pressFirst(page, '.form .check input') },
  { name: 'settings-addresses', hash: '#/settings/addresses' },
  { name: 'no-match', hash: `#/records/tasks?filter=${encodeURIComponent('title = "none"')}` },
  { name: 'wrong-filter', hash: `#/records/tasks?filter=${encodeURIComponent('title = ')}` },
]

const [folder = '', pattern = '', width = '', theme = ''] = process.argv.slice(2)
if (folder === '') throw new Error('Name a folder for the pictures.')
const widths = width === '' ? WIDTHS : [Number(width)]
const themes = THEMES.filter((one) => theme === '' || theme === one)
mkdirSync(folder, { recursive: true })
const profile = makeFolder('pictures')
const server = await startAdmin()
await fillTasks(server, TASKS)
await fillOperations(server)
const branches = ['1-aa', '1-bb'].map((rev) => ({ _id: 'both', _rev: rev, text: `text of ${rev}`, same: true }))
await send(server.url, 'POST /notes/_bulk_docs', { docs: branches, new_edits: false })
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
  for (const width of widths)
    for (const theme of themes)
      await takeSheet(
        page,
        wanted.map(({ name }) => name),
        width,
        theme,
      )
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

async function pressText(page: Page, text: string): Promise<void> {
  await (await page.waitForSelector(`::-p-text(${text})`))!.click()
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
  for (const width of widths) {
    await page.setViewport({ width, height: width < 500 ? 640 : Math.round(width * 0.62) })
    await page.goto(`${server.url}/_/${hash}`)
    await page.reload()
    await before?.(page)
    await new Promise((settled) => setTimeout(settled, SETTLE_MS))
    for (const theme of themes) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
      // Colours fade, and charts are drawn again.
      await new Promise((drawn) => setTimeout(drawn, THEME_MS))
      await page.screenshot({ path: pathOf(name, width, theme), type: 'webp', quality: QUALITY })
    }
  }
}

/** All pictures of a width and a theme, small, in the order of the list above. */
async function takeSheet(page: Page, names: readonly string[], width: number, theme: string): Promise<void> {
  const columns = width < 500 ? SHEET_COLUMNS * 2 : SHEET_COLUMNS
  await page.setViewport({ width: SHEET_WIDTH, height: 800 })
  const shown = names.map(
    (name) => `data:image/webp;base64,${readFileSync(pathOf(name, width, theme)).toString('base64')}`,
  )
  const pictures = shown.map((address) => `<img src="${address}" style="width: 100%">`).join('')
  const style = `display: grid; grid-template-columns: repeat(${columns}, 1fr); gap: 8px; background: gray`
  await page.goto('about:blank')
  await page.setContent(`<body style="margin: 0; ${style}">${pictures}</body>`)
  await page.screenshot({ path: pathOf('all', width, theme), type: 'webp', quality: QUALITY, fullPage: true })
}

function pathOf(name: string, width: number, theme: string): `${string}.webp` {
  return resolve(join(folder, `${name}-${width}-${theme}.webp`)) as `${string}.webp`
}
