/** The lab page in a real browser: it runs, draws, keeps, exports, imports, compares and cancels; also by keys alone. */
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../tools/browser/browser.ts'
import { freePort, makeFolder, removeFolder } from '../../../tools/processes.ts'
import type { ResultFile } from '../../harness/results.ts'
import { makeAssets } from '../../lab/node/assets.ts'
import { serveLab } from '../../lab/node/server.ts'
import { assertEqual, assertTrue } from '../../../packages/db/testing/check.ts'

const WAIT_MS_MAX = 60_000
/** The assets, made once: a build takes seconds. */
let assets: ReturnType<typeof makeAssets> | undefined

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('runs what was chosen, draws it, and keeps it', async () => {
    await withLab(async (url) => {
      const page = await browser.open(url)
      await sees(page, '#empty', 'Nothing measured')
      await choose(page, { contenders: ['pannier', 'dexie'], workloads: ['bulkInsert', 'count'], repeats: 2 })
      await start(page, browser.supports.keys)
      await sees(page, '#said', 'Done: 4 runs')
      await sees(page, '#chart-table tbody', 'bulk insert')
      assertEqual(await rowHeads(page), ['bulk insert', 'count all'])
      await showBars(page, browser.supports.keys)
      await sees(page, '#chart-title', 'Bulk insert, 200 documents')
      assertEqual((await rowHeads(page)).sort(), ['Dexie', 'Pannier'])
      assertTrue(await isDrawn(page), 'the chart is drawn')
      assertEqual(await leftBehind(page), [], 'databases left behind')
      await page.reload()
      await sees(page, '#kept li strong', '')
      await sees(page, '#shown-facts', '')
      assertTrue((await textOf(page, '#kept')).includes('4 figures, 2 repeats'), 'the result is kept')
      await page.close()
    })
  })

  test('exports a file, imports it, and compares the two', async () => {
    await withLab(async (url) => {
      const page = await browser.open(url)
      await choose(page, { contenders: ['pannier'], workloads: ['bulkInsert'], repeats: 2 })
      await start(page, false)
      await sees(page, '#said', 'Done: 2 runs')
      const file = JSON.parse(await exported(page)) as ResultFile
      assertEqual([file.schema, file.version, file.place, file.complete], ['pannier-bench', 1, browser.engine, true])
      assertEqual(file.environment.reopened, true)
      assertTrue(file.environment.agent !== '' && file.environment.cores > 0, 'the device is recorded')
      await importText(page, 'other.json', JSON.stringify(muchLonger(file)))
      await sees(page, '#said', 'other.json is imported')
      await sees(page, '#compare-summary', '0 take less, 1 take more, 0 within the spread')
      await sees(page, '#compare-table .ratio', '100×')
      await importText(page, 'broken.json', '{"schema":"pannier-bench","version":7}')
      await sees(page, '#said', 'broken.json can’t be imported: it has version 7')
      await page.close()
    })
  })

  test('cancels at once, and nothing is left behind', async () => {
    await withLab(async (url) => {
      const page = await browser.open(url)
      await choose(page, { contenders: ['pannier', 'dexie'], workloads: [], repeats: 50 })
      await start(page, browser.supports.keys)
      await sees(page, '#progress-percent', '')
      await until(page, () => (document.querySelector('#progress-step')?.textContent ?? '').startsWith('bulk insert'))
      // The button has the focus.
      if (browser.supports.keys) await page.press('Enter')
      else await click(page, '#cancel')
      await sees(page, '#said', 'The run was cancelled')
      assertEqual(await page.evaluate(() => document.querySelectorAll('iframe').length), 0)
      assertEqual(await leftBehind(page), [], 'databases left behind')
      await page.close()
    })
  })

  test('a page as narrow as a phone does not scroll sideways, and every field has a name', async () => {
    await withLab(async (url) => {
      const page = await browser.open(url)
      await until(page, () => document.documentElement.dataset['ready'] === 'yes')
      const facts = await page.evaluate(async () => {
        const frame = document.createElement('iframe')
        Object.assign(frame.style, { width: '320px', height: '640px', position: 'fixed', top: '0' })
        frame.src = location.pathname
        document.body.append(frame)
        const deadline = performance.now() + 60_000
        // A document that is only arriving has no element yet.
        const isReady = (): boolean => frame.contentDocument?.querySelector('html')?.dataset['ready'] === 'yes'
        while (!isReady() && performance.now() < deadline) {
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        const inner = frame.contentDocument!
        const fields = [...inner.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input, select')]
        const unnamed = fields.filter((field) => field.labels?.length === 0 && !field.hasAttribute('aria-label'))
        const facts = { width: inner.documentElement.scrollWidth, unnamed: unnamed.map((field) => field.id) }
        frame.remove()
        return facts
      })
      assertTrue(facts.width <= 320, `${facts.width} px are not more than 320`)
      assertEqual(facts.unnamed, [])
      await page.close()
    })
  })
}

/** Runs `use` with a server of its own, hence an origin, hence nothing kept from before. */
async function withLab(use: (url: string) => Promise<void>): Promise<void> {
  assets ??= withoutResults()
  await using server = await serveLab(await assets, await freePort())
  await use(server.url)
}

async function withoutResults(): ReturnType<typeof makeAssets> {
  const folder = makeFolder('lab')
  try {
    return await makeAssets(folder)
  } finally {
    removeFolder(folder)
  }
}

interface Choice {
  readonly contenders: readonly string[]
  /** Names of workloads; an empty list means all. */
  readonly workloads: readonly string[]
  readonly repeats: number
}

async function choose(page: Page, choice: Choice): Promise<void> {
  await until(page, () => document.documentElement.dataset['ready'] === 'yes')
  await page.evaluate(({ contenders, workloads, repeats }) => {
    const check = (name: string, isWanted: (value: string) => boolean): void => {
      for (const input of document.querySelectorAll<HTMLInputElement>(`input[name=${name}]`)) {
        if (input.checked !== isWanted(input.value)) input.click()
      }
    }
    check('documents', (value) => value === '200')
    check('contender', (value) => contenders.includes(value))
    check('workload', (value) => workloads.length === 0 || workloads.includes(value))
    document.querySelector<HTMLInputElement>('#repeats')!.value = String(repeats)
  }, choice)
}

async function start(page: Page, byKey: boolean): Promise<void> {
  if (!byKey) return click(page, '#start')
  await page.evaluate(() => document.querySelector<HTMLElement>('#repeats')!.focus())
  await page.press('Tab')
  assertEqual(await page.evaluate(() => document.activeElement?.id), 'start')
  await page.press('Enter')
}

async function showBars(page: Page, byKey: boolean): Promise<void> {
  if (!byKey) return click(page, 'input[name=kind][value=bars]')
  await page.evaluate(() => document.querySelector<HTMLElement>('input[name=kind]:checked')!.focus())
  await page.press('ArrowRight')
}

/** Waits until the element shows a text that begins so. */
async function sees(page: Page, selector: string, text: string): Promise<void> {
  const shown = await page.evaluate(
    async ({ selector, text, waitMs }) => {
      const deadline = performance.now() + waitMs
      for (;;) {
        const shown = document.querySelector(selector)?.textContent?.trim()
        if (shown?.startsWith(text) || performance.now() > deadline) return shown ?? 'nothing'
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    { selector, text, waitMs: WAIT_MS_MAX },
  )
  if (!shown.startsWith(text)) throw new Error(`${selector} shows '${shown}', not '${text}'`)
}

/** `condition` is evaluated in the page. */
async function until(page: Page, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX
  while (!(await page.evaluate(condition))) {
    if (performance.now() > deadline) throw new Error(`not true in time: ${condition.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function click(page: Page, selector: string): Promise<void> {
  return page.evaluate((selector) => document.querySelector<HTMLElement>(selector)!.click(), selector)
}

function textOf(page: Page, selector: string): Promise<string> {
  return page.evaluate((selector) => document.querySelector(selector)!.textContent ?? '', selector)
}

function rowHeads(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('#chart-table tbody th')].map((head) => head.textContent ?? ''),
  )
}

/** Something that is not empty comes on its canvas. */
function isDrawn(page: Page): Promise<boolean> {
  return page.evaluate(async (waitMs) => {
    const hasPixels = (): boolean => {
      const canvas = document.querySelector<HTMLCanvasElement>('#chart canvas')
      const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data
      return pixels?.some((value) => value !== 0) ?? false
    }
    const deadline = performance.now() + waitMs
    while (!hasPixels() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50))
    return hasPixels()
  }, WAIT_MS_MAX)
}

function leftBehind(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const names = (await indexedDB.databases()).map(({ name = '' }) => name)
    return names.filter((name) => name.includes('measured'))
  })
}

/** The text of the file that the first kept result is offered as. */
function exported(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const { createObjectURL } = URL
    const file = Promise.withResolvers<Blob>()
    URL.createObjectURL = (blob) => {
      file.resolve(blob as Blob)
      return createObjectURL.call(URL, blob)
    }
    const { click } = HTMLAnchorElement.prototype
    HTMLAnchorElement.prototype.click = () => undefined
    document.querySelector<HTMLElement>('#kept button[aria-label^=Export]')!.click()
    URL.createObjectURL = createObjectURL
    HTMLAnchorElement.prototype.click = click
    return (await file.promise).text()
  })
}

function importText(page: Page, name: string, text: string): Promise<void> {
  return page.evaluate(
    ({ name, text }) => {
      const files = new DataTransfer()
      files.items.add(new File([text], name, { type: 'application/json' }))
      const input = document.querySelector<HTMLInputElement>('#import-file')!
      input.files = files.files
      input.dispatchEvent(new Event('change'))
    },
    { name, text },
  )
}

/** A hundred times as long. */
function muchLonger(file: ResultFile): ResultFile {
  const rows = file.rows.map((row) => ({
    ...row,
    samples: row.samples.map((sample) => sample * 100),
    ...(row.median !== undefined && { median: row.median * 100 }),
  }))
  return { ...file, rows }
}
