/**
 * The step of `npm test` that runs browser tests in every installed engine. For each folder test/browser it runs the
 * page of suites, if there is one, and then the files that drive several pages.
 */
import { existsSync, globSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters, styleText } from 'node:util'
import type { BrowserSuiteFile } from '../browser/browser-suite.ts'
import type { Browser } from '../browser/browser.ts'
import { ENGINES, missingPackages, type Engine } from '../browser/engines.ts'
import { withTimeout } from '../browser/launch.ts'
import { errorFacts } from '../browser/page/report.ts'
import type { CaseResult } from '../browser/page/run-cases.ts'
import { servePages } from '../browser/page-server.ts'
import { runTab } from '../browser/run-page.ts'
import { withBrowser } from '../browser/with-browser.ts'
import { EVERYWHERE } from './seeds.ts'
import { slowest, type BrowserOptions, type Failure, type Outcome } from './outcome.ts'

const root = resolve(import.meta.dirname, '../..')
const FOLDERS = ['packages/*', 'bench', 'demo'].flatMap((path) =>
  globSync(`${path}/test/browser`, { cwd: root }).sort(),
)
const SUITES_PAGE = 'suites.page.ts'
/** Where there are few, tests that wait for something are late if much runs beside them. */
export const HAS_FEW_CORES: boolean = availableParallelism() < 4
/** Much of what browsers are tested for is waiting. */
const ENGINES_AT_ONCE = HAS_FEW_CORES || totalmem() < 6 * 2 ** 30 ? 2 : ENGINES.length
/** Longer than a case of a page may take. */
const SILENCE_MS_MAX = 150_000
const CASE_MS_MAX = 120_000

export async function runBrowserTests({ engines = ENGINES, filter = '', times }: BrowserOptions): Promise<Outcome> {
  const waiting = ENGINES.filter((name) => engines.includes(name))
  const outcomes: Outcome[] = []
  const msBySuite = new Map<string, number>()
  const lane = async (): Promise<void> => {
    for (let engine = waiting.shift(); engine !== undefined; engine = waiting.shift())
      outcomes.push(await runOrLeaveOut(engine, filter, msBySuite))
  }
  await Promise.all(Array.from({ length: ENGINES_AT_ONCE }, lane))
  const notes = [...outcomes.flatMap((outcome) => outcome.notes ?? []), ...(times ? slowest(msBySuite) : [])]
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0)
  const failures = outcomes.flatMap((outcome) => outcome.failures ?? [])
  if (passed + failed === 0 && engines !== ENGINES) return { passed, failed: 1, notes: [...notes, 'no case ran'] }
  return { passed, failed, notes, failures }
}

async function runOrLeaveOut(engine: Engine, filter: string, msBySuite: Map<string, number>): Promise<Outcome> {
  const missing = missingPackages(engine)
  if (missing.length > 0) {
    const inCi = process.env['CI'] === 'true'
    const note = `${engine} was left out: ${missing.join(', ')} not installed${inCi ? ', which CI does not allow' : ''}`
    return { passed: 0, failed: inCi ? 1 : 0, notes: [note] }
  }
  const { passed, failures } = await runEngine(engine, filter, msBySuite)
  const failed = failures.length
  return { passed, failed, notes: [`${engine}: ${passed} passed, ${failed} failed`], failures }
}

/** Counts cases, and shows each as it ends. */
class Tally {
  passed = 0
  readonly failures: Failure[] = []
  private readonly engine: Engine
  private readonly msBySuite: Map<string, number>

  constructor(engine: Engine, msBySuite: Map<string, number>) {
    this.engine = engine
    this.msBySuite = msBySuite
  }

  add({ name, error, durationMs }: CaseResult): void {
    const time = styleText('dim', `${Math.round(durationMs)} ms`)
    const suite = `${this.engine} ${name.split(': ')[0]}`
    this.msBySuite.set(suite, (this.msBySuite.get(suite) ?? 0) + durationMs)
    if (error === undefined) this.passed++
    else
      this.failures.push({
        title: `${this.engine} ${name}`,
        text: indent(error.stack ?? error.message),
        replay: `npm test -- --only=browser --engine=${this.engine} --filter=${JSON.stringify(name)}`,
      })
    console.log(
      ` ${error === undefined ? styleText('green', '✓') : styleText('red', '✗')} ${this.engine} ${name} ${time}`,
    )
    if (error !== undefined) console.log(indent(error.stack ?? error.message))
  }

  /** True if it passed. */
  async time(name: string, body: () => void | Promise<void>): Promise<boolean> {
    const start = performance.now()
    try {
      await withTimeout(Promise.resolve(body()), CASE_MS_MAX, name)
      this.add({ name, durationMs: performance.now() - start })
      return true
    } catch (error) {
      this.add({ name, error: errorFacts(error), durationMs: performance.now() - start })
      return false
    }
  }
}

/** All in one browser, as starting one takes seconds of processor time. */
async function runEngine(engine: Engine, filter: string, msBySuite: Map<string, number>): Promise<Tally> {
  const tally = new Tally(engine, msBySuite)
  await withBrowser(engine, {}, async (browser) => {
    for (const path of FOLDERS) {
      const folder = join(root, path)
      const files = globSync('*.browser.ts', { cwd: folder }).sort()
      if (existsSync(join(folder, SUITES_PAGE))) await runSuites(browser, folder, filter, tally)
      for (const file of files) await runFile(browser, folder, file, filter, tally)
    }
  })
  return tally
}

async function runSuites(browser: Browser, folder: string, filter: string, tally: Tally): Promise<void> {
  try {
    await runTab(browser, {
      entry: join(folder, SUITES_PAGE),
      query: { filter, ...(EVERYWHERE && { everywhere: '1' }) },
      timeoutMs: SILENCE_MS_MAX,
      onProgress: (value) => tally.add(value as CaseResult),
    })
  } catch (error) {
    tally.add({ name: 'the page of suites runs to its end', error: errorFacts(error), durationMs: 0 })
  }
  await leaveNothing(browser)
}

/** Each file has an origin of its own. */
async function runFile(browser: Browser, folder: string, file: string, filter: string, tally: Tally): Promise<void> {
  const name = basename(file, '.browser.ts')
  const pages = globSync('*.page.ts', { cwd: folder })
  const entries = Object.fromEntries(pages.map((page) => [basename(page, '.ts'), join(folder, page)]))
  await using server = await servePages({ entries })
  try {
    const { browserSuite } = (await import(pathToFileURL(join(folder, file)).href)) as BrowserSuiteFile
    const cases: [name: string, body: () => void | Promise<void>][] = []
    const { baseUrl } = server
    browserSuite({ test: (title, body) => cases.push([`${name}: ${title}`, body]), browser, baseUrl })
    for (const [title, body] of cases) {
      const passed = !title.includes(filter) || (await tally.time(title, body))
      // Whatever it has left is not in the way of the next one.
      if (!passed) await leaveNothing(browser)
    }
  } catch (error) {
    tally.add({ name: `${name} runs to its end`, error: errorFacts(error), durationMs: 0 })
  }
  await leaveNothing(browser)
}

/** Pages that were killed or left open, and a browser that opens none, are not in the way of others. */
async function leaveNothing(browser: Browser): Promise<void> {
  if (browser.pageCount > 0) await browser.end()
}

function indent(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/^/gm, '     ')
}
