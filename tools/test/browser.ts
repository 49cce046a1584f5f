/**
 * Runs browser tests in the installed engines. For each folder test/browser it runs the pages of suites, and then the files that
 * drive several pages. browser-lanes.ts says what belongs to which lane.
 */
import { globSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters, styleText } from 'node:util'
import type { BrowserSuiteFile } from '../browser/browser-suite.ts'
import type { Browser } from '../browser/browser.ts'
import { ENGINES, missingPackages, type Engine } from '../browser/engines.ts'
import { withTimeout } from '../browser/launch.ts'
import { errorFacts } from '../browser/page/report.ts'
import type { CaseResult } from '../browser/page/run-cases.ts'
import { servePages } from '../browser/page-server.ts'
import { processorSeconds } from '../browser/process-tree.ts'
import { runTab } from '../browser/run-page.ts'
import { withBrowser } from '../browser/with-browser.ts'
import { browserFilesOf, type BrowserLane } from './browser-lanes.ts'
import { CASE_MS_MAX } from './lanes.ts'
import { slowest, type BrowserOptions, type Failure, type Outcome } from './outcome.ts'
import type { FileCost } from './setup/costs.ts'

const root = resolve(import.meta.dirname, '../..')
const FOLDERS = ['packages/*', 'bench', 'demo'].flatMap((path) =>
  globSync(`${path}/test/browser`, { cwd: root }).sort(),
)
/**
 * Much of what the lane real does is waiting. The lane wired waits for little: its engines run in turn, so that none starves, and the
 * processor time of each file is known.
 */
const ENGINES_AT_ONCE: Readonly<Record<BrowserLane, number>> = {
  wired: 1,
  real: availableParallelism() < 4 || totalmem() < 6 * 2 ** 30 ? 2 : ENGINES.length,
}
/** How much longer than a case may take a page of suites may be silent. */
const SILENCE_MS = 30_000
/** Turns of the event loop until a closed server is gone: two are enough. */
const TURNS = 10

export async function runBrowserTests({
  lane,
  engines = ENGINES,
  filter = '',
  files = [],
  times,
}: BrowserOptions): Promise<Outcome> {
  const waiting = ENGINES.filter((name) => engines.includes(name))
  const tally = new Tally(lane)
  const isAlone = Math.min(ENGINES_AT_ONCE[lane], waiting.length) === 1
  const inTurn = async (): Promise<void> => {
    for (let engine = waiting.shift(); engine !== undefined; engine = waiting.shift()) {
      const missing = missingPackages(engine)
      if (missing.length > 0) tally.notRun.push(`browser tests in ${engine} (apt-get install ${missing.join(' ')})`)
      else await new EngineRun(lane, engine, { filter, files, isAlone }, tally).run()
    }
  }
  await Promise.all(Array.from({ length: ENGINES_AT_ONCE[lane] }, inTurn))
  const { passed, failures, notRun, costs } = tally
  const isEmpty = passed + failures.length + notRun.length === 0
  if (isEmpty && files.length === 0)
    failures.push({ title: `no case of the lane ${lane} has '${filter}' in its name`, text: '', replay: '' })
  const notes = [...tally.counts(), ...(times ? slowest(tally.cpuMsByFile()) : [])]
  return { passed, failed: failures.length, failures, notRun, costs, notes }
}

/** Counts cases, and shows each as it ends. */
class Tally {
  passed = 0
  readonly failures: Failure[] = []
  readonly notRun: string[] = []
  readonly costs: FileCost[] = []
  private readonly lane: BrowserLane
  private readonly byEngine = new Map<Engine, { passed: number; failed: number }>()

  constructor(lane: BrowserLane) {
    this.lane = lane
  }

  add(engine: Engine, { name, error, durationMs }: CaseResult): void {
    const counts = this.byEngine.get(engine) ?? { passed: 0, failed: 0 }
    this.byEngine.set(engine, counts)
    const mark = error === undefined ? styleText('green', '✓') : styleText('red', '✗')
    console.log(` ${mark} ${engine} ${name} ${styleText('dim', `${Math.round(durationMs)} ms`)}`)
    if (error === undefined) {
      this.passed++
      counts.passed++
      return
    }
    counts.failed++
    const text = indent(error.stack ?? error.message)
    const lane = this.lane === 'real' ? ' --lane=real' : ''
    const replay = `npm test -- --only=browser${lane} --engine=${engine} --filter=${JSON.stringify(name)}`
    this.failures.push({ title: `${engine} ${name}`, text, replay })
    console.log(text)
  }

  /** True if it passed. What the pages show tells where a case that is late has stopped. */
  async time(browser: Browser, name: string, body: () => void | Promise<void>): Promise<boolean> {
    const { engine } = browser
    const start = performance.now()
    try {
      await withTimeout(Promise.resolve(body()), CASE_MS_MAX[this.lane], name)
      this.add(engine, { name, durationMs: performance.now() - start })
      return true
    } catch (error) {
      const durationMs = performance.now() - start
      const { message, stack = message } = errorFacts(error)
      const shown = durationMs < CASE_MS_MAX[this.lane] ? '' : `\n${await browser.describe()}`
      this.add(engine, { name, error: { message, stack: stack + shown }, durationMs })
      return false
    }
  }

  /** Notes the processor time that `run` takes, browser included. Of engines that run at the same time each has all of it. */
  async spend(file: string, run: () => Promise<void>): Promise<void> {
    const before = processorSeconds() ?? 0
    await run()
    const cpuMs = ((processorSeconds() ?? 0) - before) * 1000
    this.costs.push({ file, cpuMs })
  }

  cpuMsByFile(): ReadonlyMap<string, number> {
    const byFile = new Map<string, number>()
    for (const { file, cpuMs } of this.costs) byFile.set(file, (byFile.get(file) ?? 0) + cpuMs)
    return byFile
  }

  counts(): string[] {
    return [...this.byEngine].map(([engine, { passed, failed }]) => `${engine}: ${passed} passed, ${failed} failed`)
  }
}

interface Choice {
  /** A part of the names of cases. */
  readonly filter: string
  /** Parts of paths; none: all files. */
  readonly files: readonly string[]
  /** No other engine runs at the same time. */
  readonly isAlone: boolean
}

/** All files in one browser, as starting one takes seconds of processor time. */
class EngineRun {
  private readonly lane: BrowserLane
  private readonly engine: Engine
  private readonly choice: Choice
  private readonly tally: Tally

  constructor(lane: BrowserLane, engine: Engine, choice: Choice, tally: Tally) {
    this.lane = lane
    this.engine = engine
    this.choice = choice
    this.tally = tally
  }

  async run(): Promise<void> {
    const isChosen = (path: string): boolean =>
      this.choice.files.length === 0 || this.choice.files.some((part) => path.includes(part))
    await withBrowser(this.engine, {}, async (browser) => {
      for (const folder of FOLDERS) {
        const { pages, files } = browserFilesOf(root, folder, this.lane, this.engine)
        for (const path of pages.filter(isChosen)) await this.tally.spend(path, () => this.runSuites(browser, path))
        for (const path of files.filter(isChosen)) await this.tally.spend(path, () => this.runFile(browser, path))
      }
    })
  }

  private async runSuites(browser: Browser, path: string): Promise<void> {
    const caseMsMax = CASE_MS_MAX[this.lane]
    try {
      await runTab(browser, {
        entry: join(root, path),
        query: { filter: this.choice.filter, lane: this.lane, caseMsMax: String(caseMsMax) },
        timeoutMs: caseMsMax + SILENCE_MS,
        onProgress: (value) => this.tally.add(this.engine, value as CaseResult),
      })
    } catch (error) {
      this.tally.add(this.engine, { name: `${path} runs to its end`, error: errorFacts(error), durationMs: 0 })
    }
    await leaveNothing(browser)
  }

  /** Each file has an origin of its own. */
  private async runFile(browser: Browser, path: string): Promise<void> {
    const { engine, tally } = this
    const folder = join(root, dirname(path))
    const name = basename(path).replace(/(?:\.wired|\.smoke)?\.browser\.ts$/, '')
    const pages = globSync('*.page.ts', { cwd: folder })
    const entries = Object.fromEntries(pages.map((page) => [basename(page, '.ts'), join(folder, page)]))
    await using server = await servePages({ entries })
    try {
      const { browserSuite } = (await import(pathToFileURL(join(root, path)).href)) as BrowserSuiteFile
      const cases: [name: string, body: () => void | Promise<void>][] = []
      const ends: (() => Promise<void>)[] = []
      const serversBefore = serverCount()
      browserSuite({
        test: (title, body) => cases.push([`${name}: ${title}`, body]),
        after: (body) => ends.push(body),
        notRun: (what) => tally.notRun.push(`${engine} ${name}: ${what}`),
        browser,
        baseUrl: server.baseUrl,
      })
      for (const [title, body] of cases) {
        const passed = !title.includes(this.choice.filter) || (await tally.time(browser, title, body))
        // Whatever it has left is not in the way of the next one.
        if (!passed) await leaveNothing(browser)
      }
      for (const end of ends) await end()
      // WebKit is driven through servers of this process.
      if (this.choice.isAlone && engine !== 'webkit' && (await hasMoreServers(serversBefore)))
        throw new Error('It leaves a server behind.')
    } catch (error) {
      tally.add(engine, { name: `${path} runs to its end`, error: errorFacts(error), durationMs: 0 })
    }
    await leaveNothing(browser)
  }
}

/** Pages that were killed or left open, and a browser that opens none, are not in the way of others. */
async function leaveNothing(browser: Browser): Promise<void> {
  if (browser.pageCount > 0) await browser.end()
}

/** The system names one that has just been closed for some turns more. */
async function hasMoreServers(before: number): Promise<boolean> {
  for (let turn = 0; turn < TURNS && serverCount() > before; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  return serverCount() > before
}

function serverCount(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length
}

function indent(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/^/gm, '     ')
}
