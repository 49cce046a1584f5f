/**
 * Pictures of the page in Chromium, for people to look at: each view, light and dark, in three widths, and a sheet with all of a width
 * and a theme. `npm run node -- packages/admin/test/pictures.ts FOLDER [PATTERN [WIDTH [THEME]]]` takes those whose name matches.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launch, type Page } from 'puppeteer-core'
import { SYSTEM } from '@pannier/backend'
import { findProgram } from '../../../tools/browser/engines.ts'
import { makeFolder } from '../../../tools/processes.ts'
import { send } from '../../server/test/test-server.ts'
import { ANN, fillOperations } from './example-operations.ts'
import { EMAIL, fillTasks, ITSELF, PASSWORD, startAdmin } from './server.ts'

const NARROW = 320
const WIDTHS = [NARROW, 1280, 3840]
const THEMES = ['light', 'dark'] as const
const TASKS = 20_000
const SETTLE_MS = 400
const THEME_MS = 350
/** A few figures, of one each two seconds. */
const METRICS_MS = 9000
const QUALITY = 50
/** A picture of a wall is kept at half its size, as it would be as large as ten others. */
const WALL = { from: 2000, scale: 0.5, quality: 25 }
/** In pixels. */
const SHEET_WIDTH = 2400
const SHEET_COLUMNS = 7

const BY_STATUS = `select status, count(*) as articles
from articles
where created >= :since or :since is null
group by status
order by articles desc`

/** Has steps in its plan. */
const PLANNED = 'points > 3 && (done = true || due > @now)'

interface Picture {
  readonly name: string
  readonly isSignedOut?: boolean
  readonly hash: string
  /** Other widths show nothing of it. */
  readonly isNarrow?: boolean
  /** Once, before the first width. Pictures behind this one show what comes of it, too. */
  readonly prepare?: (page: Page) => Promise<void>
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
  { name: 'field-options', hash: '#/fields/articles', before: openOptions },
  { name: 'review', hash: '#/fields/articles', before: review },
  { name: 'rules', hash: '#/rules/articles' },
  { name: 'who', hash: '#/rules/articles?preview=list', before: openReason },
  { name: 'login', hash: '#/accounts/users' },
  { name: 'indexes', hash: '#/indexes/users' },
  { name: 'who-logs-in', hash: '#/rules/users?preview=auth' },
  { name: 'api', hash: '#/api/articles' },
  { name: 'keep', hash: '#/records/articles', before: (page) => pressNamed(page, 'Keep on this device') },
  { name: 'device', hash: '#/device' },
  { name: 'relations', hash: '#/relations' },
  { name: 'schema', hash: '#/schema' },
  { name: 'logs', hash: '#/logs' },
  { name: 'log', hash: '#/logs', before: (page) => pressFirst(page, '.log') },
  { name: 'metrics', hash: '#/metrics', before: () => wait(METRICS_MS) },
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
    before: (page) => pressText(page, 'Act as this account …'),
  },
  { name: 'access-superusers', hash: '#/access/superusers' },
  { name: 'console-sql', hash: '#/console/sql', before: (page) => pressFirst(page, '.form-foot .button-primary') },
  {
    name: 'console-chart',
    hash: '#/console/sql',
    prepare: askBefore,
    before: async (page) => {
      await pressFirst(page, '.form-foot .button-primary')
      await pressText(page, 'Chart')
    },
  },
  { name: 'console-plan', hash: '#/console/sql', before: (page) => pressText(page, 'Explain') },
  { name: 'console-report', hash: '#/console/sql', before: (page) => pressText(page, 'Save as a report') },
  {
    name: 'console-reports',
    hash: '#/console/reports',
    prepare: saveReport,
    before: async (page) => {
      await pressFirst(page, '.report .button-primary')
      await page.waitForSelector('.report [role=status]')
    },
  },
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
  { name: 'menu', isNarrow: true, hash: '#/records/articles', before: (page) => pressFirst(page, '.topbar button') },
  { name: 'device-kept', hash: '#/device', prepare: keepArticles },
  { name: 'device-away', hash: '#/records/articles', prepare: writeWhileAway, before: readsHere },
  { name: 'device-waiting', hash: '#/device' },
  { name: 'device-refused', hash: '#/device', prepare: comeBack },
  { name: 'device-mend', hash: '#/device', before: (page) => pressFirst(page, '.write-actions button') },
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
        wanted.filter(({ isNarrow }) => isNarrow !== true || width === NARROW).map(({ name }) => name),
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

/** The options are below the screen where it is small. */
async function openOptions(page: Page): Promise<void> {
  await pressNamed(page, 'Options of status')
  await page.evaluate(() => document.querySelector('.field-options')?.parentElement?.scrollIntoView({ block: 'start' }))
}

/** The console begins with the last statement that was run. */
async function askBefore(page: Page): Promise<void> {
  const ran = [BY_STATUS, 'select * from articles limit 10']
  await page.evaluate((text) => localStorage.setItem('pannier.admin.sql-history', text), JSON.stringify(ran))
}

async function saveReport(): Promise<void> {
  await server.server.backend.reports.create(SYSTEM, {
    name: 'articles-by-status',
    description: 'How many articles each status has.',
    query: BY_STATUS,
    parameters: [{ name: 'since', type: 'date', default: '2020-01-01' }],
    rule: '@request.auth.id != ""',
  })
}

async function keepArticles(page: Page): Promise<void> {
  await page.goto(`${server.url}/_/#/records/articles`)
  await page.reload()
  await pressNamed(page, 'Keep on this device')
  await pressText(page, 'Keep them here')
  await page.waitForSelector('::-p-text(On this device:)')
}

/** One title is changed, another one emptied. */
async function writeWhileAway(page: Page): Promise<void> {
  await page.goto(`${server.url}/_/#/records/articles`)
  await page.waitForSelector('[data-cell="0,2"]')
  await page.setOfflineMode(true)
  const { items } = await server.server.backend.records.list(ITSELF, 'articles', { perPage: 2 })
  for (const [at, { id }] of items.entries()) {
    await page.evaluate((hash) => void (location.hash = hash), `#/records/articles?record=${String(id)}`)
    const title = await page.waitForSelector('dialog textarea')
    await title!.click({ count: 3 })
    await page.keyboard.press('Backspace')
    if (at === 0) await title!.type('Tides, written on a train')
    await pressFirst(page, '.dialog-foot .button-primary')
    await page.waitForSelector('dialog[open]', { hidden: true })
  }
}

async function readsHere(page: Page): Promise<void> {
  await page.waitForSelector('::-p-text(You see what this device keeps)')
}

/** Somebody else has changed the first of the two meanwhile. */
async function comeBack(page: Page): Promise<void> {
  const { items } = await server.server.backend.records.list(ITSELF, 'articles', { perPage: 1 })
  const change = { title: 'Tides, as the editor has it' }
  await server.server.backend.records.update(ITSELF, 'articles', String(items[0]!['id']), change)
  await page.setOfflineMode(false)
  await page.goto(`${server.url}/_/#/device`)
  await page.reload()
  await page.waitForSelector('.write-refused')
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

async function take(page: Page, { name, isNarrow, hash, prepare, before }: Picture): Promise<void> {
  await prepare?.(page)
  for (const width of isNarrow === true ? widths.filter((one) => one === NARROW) : widths) {
    const height = width < 500 ? 640 : Math.round(width * 0.62)
    await page.setViewport({ width, height, deviceScaleFactor: width > WALL.from ? WALL.scale : 1 })
    await page.goto(`${server.url}/_/${hash}`)
    await page.reload()
    await before?.(page)
    await wait(SETTLE_MS)
    if (await page.evaluate(isTooLarge)) console.log(`${name} is larger than its screen of ${width} pixels.`)
    for (const theme of themes) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }])
      // Colours fade, and charts are drawn again.
      await wait(THEME_MS)
      const quality = width > WALL.from ? WALL.quality : QUALITY
      await page.screenshot({ path: pathOf(name, width, theme), type: 'webp', quality })
    }
  }
}

/** Tables and diagrams scroll in a place of their own. The page itself does not scroll once one is signed in. */
function isTooLarge(): boolean {
  const { scrollHeight, clientHeight } = document.documentElement
  if (document.querySelector('.shell') !== null && scrollHeight > clientHeight) return true
  return [...document.querySelectorAll('html, .content, .dialog-body')].some(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
  )
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
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
