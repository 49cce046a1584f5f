/**
 * Pictures of devtools in Chromium, for people to look at and for the guide:
 * `npm run node -- packages/devtools/test/pictures.ts FOLDER [webp]`.
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launch, type Page } from 'puppeteer-core'
import { findProgram } from '../../../tools/browser/engines.ts'
import { servePages } from '../../../tools/browser/page-server.ts'
import type {} from './browser/devtools.page.ts'

const SETTLE_MS = 500
const QUALITY = 60
const PEOPLE = 10_000

interface Picture {
  readonly name: string
  readonly theme: 'light' | 'dark'
  readonly width: number
  readonly steps: (page: Page) => Promise<void>
}

const press = (page: Page, ...texts: string[]): Promise<void> =>
  page.evaluate(async (all) => {
    for (const text of all) await devtoolsTab.press(text)
  }, texts)

async function documents(page: Page): Promise<void> {
  await press(page, 'Documents', 'people 10,000')
  await page.evaluate(async () => {
    await devtoolsTab.text('person-00007')
    const rows = [...document.querySelector('pannier-devtools')!.shadowRoot!.querySelectorAll<HTMLElement>('.document')]
    rows[7]!.click()
  })
}

async function explained(page: Page): Promise<void> {
  await press(page, 'Documents', 'people 10,000', 'Queries')
  await page.evaluate(async () => {
    await devtoolsTab.text('people')
    await devtoolsTab.type('Selector', '{ "name": { "$regex": "5$" }, "city": "Oslo" }')
    await devtoolsTab.type('Sort by', '-age')
  })
  await press(page, 'Explain')
}

async function conflict(page: Page): Promise<void> {
  await page.evaluate(() => devtoolsTab.conflict('person-00003'))
  await press(page, 'Documents', 'people 10,000', 'Conflicts')
}

async function timeline(page: Page): Promise<void> {
  await press(page, 'Time line')
  await page.evaluate(async () => {
    for (const id of ['person-00001', 'person-00002', 'person-00007', 'person-00011'])
      await devtoolsTab.put(id, { name: 'Ann', city: 'Oslo' })
  })
}

async function sync(page: Page): Promise<void> {
  await page.evaluate(() => devtoolsTab.startClient('app'))
  await press(page, 'Sync 1', 'Compare')
}

const PICTURES: readonly Picture[] = [
  { name: 'documents', theme: 'light', width: 1280, steps: documents },
  { name: 'documents-dark', theme: 'dark', width: 1280, steps: documents },
  { name: 'explain', theme: 'light', width: 1280, steps: explained },
  { name: 'explain-dark', theme: 'dark', width: 1280, steps: explained },
  { name: 'conflict', theme: 'light', width: 1280, steps: conflict },
  { name: 'timeline', theme: 'dark', width: 1280, steps: timeline },
  { name: 'sync', theme: 'light', width: 1280, steps: sync },
  { name: 'storage', theme: 'light', width: 1280, steps: (page) => press(page, 'Storage') },
  { name: 'documents-narrow', theme: 'light', width: 420, steps: documents },
  { name: 'explain-narrow', theme: 'light', width: 420, steps: explained },
]

const [, , given = 'dist/devtools', type = 'png'] = process.argv
const folder = resolve(given)
mkdirSync(folder, { recursive: true })
await using server = await servePages({
  entries: { 'devtools.page': join(import.meta.dirname, 'browser/devtools.page.ts') },
})
const browser = await launch({ executablePath: findProgram('chromium')!, args: ['--no-sandbox'] })
try {
  for (const { name, theme, width, steps } of PICTURES) {
    const page = await browser.newPage()
    await page.setViewport({ width, height: width < 800 ? 760 : 560, deviceScaleFactor: 1 })
    await page.goto(`${server.baseUrl}/devtools.page`)
    await page.waitForFunction(() => 'devtoolsTab' in globalThis)
    await page.evaluate(
      async ([people, look]) => {
        localStorage.setItem('pannier-devtools', '{"height":440}')
        await devtoolsTab.start('shop', people)
        await devtoolsTab.open(look)
      },
      [PEOPLE, theme] as const,
    )
    await steps(page)
    await new Promise((settled) => setTimeout(settled, SETTLE_MS))
    if (type === 'webp') await page.screenshot({ path: join(folder, `${name}.webp`), type, quality: QUALITY })
    else await page.screenshot({ path: join(folder, `${name}.png`) })
    await page.close()
    console.log(name)
  }
} finally {
  await browser.close()
}
