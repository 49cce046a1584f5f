/** Runs what was chosen, place by place, and keeps files and report up to date. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Presets, SingleBar } from 'cli-progress'
import { CONTENDERS, factsOf } from './contenders/catalog.ts'
import type { Place } from './contenders/catalog.ts'
import { recordEnvironment } from './harness/environment.ts'
import { obstacleIn } from './places.ts'
import { rowsOf, SCHEMA, SCHEMA_VERSION } from './harness/results.ts'
import { storedResults, storeResult } from './harness/stored.ts'
import type { ResultFile, Run } from './harness/results.ts'
import { runTurn } from './harness/run-turn.ts'
import { schedule } from './harness/schedule.ts'
import type { Turn } from './harness/schedule.ts'
import type { BenchOptions } from './options.ts'
import { withFigures } from './report/readme-figures.ts'
import { keyOf } from './report/charts.ts'
import { prepareReport } from './report/report.ts'
import { suiteOf } from './suites/suites.ts'

const PAGES_WITH_FIGURES = [
  ['few', join(import.meta.dirname, '../README.md')],
  ['all', join(import.meta.dirname, '../docs/internals/performance.md')],
] as const
const RESULTS = join(import.meta.dirname, 'results')
const HISTORY = join(RESULTS, 'history')
const MS_PER_MINUTE = 60_000

/** The results of a place so far. */
interface Session {
  readonly place: Place
  readonly startedAt: Date
  readonly runs: Run[]
  agent: string
  complete: boolean
}

export async function run(options: BenchOptions): Promise<void> {
  const render = await prepareReport()
  if (options.reportOnly) return reportCurrent(render)
  const sessions: Session[] = []
  // Also when Ctrl-C ends it: nothing in here waits.
  process.on('exit', () => keep(sessions, options, render))
  const places = options.places.filter((place) => {
    const obstacle = obstacleIn(place)
    if (obstacle !== undefined) console.log(`${place}: left out (${obstacle})`)
    return obstacle === undefined
  })
  const end = options.minutes === undefined ? undefined : performance.now() + options.minutes * MS_PER_MINUTE
  for (const [at, place] of places.entries()) {
    // The remaining places share the time that one place saved or overran.
    const share = end === undefined ? undefined : Math.max(1, end - performance.now()) / (places.length - at)
    const session: Session = { place, startedAt: new Date(), runs: [], agent: '', complete: false }
    sessions.push(session)
    await measure(session, turnsOf(place, options), options, share)
  }
}

function turnsOf(place: Place, { suites, contenders, repeats, ...choice }: BenchOptions): Turn[] {
  return schedule({
    suites: suites.map(suiteOf).map((suite) => ({ suite, cells: suite.cells(choice) })),
    contenders: contenders.filter((name) => factsOf(name).places.includes(place)),
    repeats,
  })
}

/** The first repeat is finished in any case; others only begin when they are likely to end in time. */
async function measure(
  session: Session,
  turns: readonly Turn[],
  { only, features }: BenchOptions,
  shareMs: number | undefined,
): Promise<void> {
  const start = performance.now()
  const lasted = new Map<string, number>()
  const bar = new SingleBar(
    { format: `${session.place.padEnd(8)} {bar} {percentage}%  {what}`, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  )
  bar.start(100, 0, { what: '' })
  for (const [at, turn] of turns.entries()) {
    const key = `${turn.suite.name} ${turn.cell.label} ${turn.contender}`
    const spent = performance.now() - start
    if (shareMs !== undefined && turn.repeat > 1 && spent + (lasted.get(key) ?? 0) > shareMs) break
    const what = `${turn.contender}, ${turn.cell.label}, repeat ${turn.repeat}`
    const done = shareMs === undefined ? at / turns.length : Math.max(spent / shareMs, 0)
    const show = (workload: string): void => bar.update(Math.min(99, done * 100), { what: `${what}: ${workload}` })
    show('start')
    const began = performance.now()
    const { run, agent } = await runTurn(turn, { place: session.place, only, features, onWorkload: show })
    lasted.set(key, performance.now() - began)
    session.runs.push(run)
    session.agent ||= agent
    complain(session.place, run)
  }
  session.complete = true
  bar.stop()
  const minutes = ((performance.now() - start) / MS_PER_MINUTE).toFixed(1)
  console.log(`${session.place}: ${session.runs.length} runs in ${minutes} minutes`)
}

function complain(place: Place, { contender, cell, wrong, failures }: Run): void {
  for (const { workload } of wrong) console.log(`${place} ${contender}, ${cell.label}: wrong answer in ${workload}`)
  for (const [workload, message] of Object.entries(failures)) {
    console.log(`${place} ${contender}, ${cell.label}: ${workload} failed: ${message}`)
  }
}

function keep(
  sessions: readonly Session[],
  options: BenchOptions,
  render: (files: readonly ResultFile[]) => string,
): void {
  const measured = sessions.filter((session) => session.runs.length > 0)
  if (measured.length === 0) return
  const files = measured.map((session) => fileOf(session, options))
  for (const file of files) writeResult(file, options.keep)
  writeReport(render(files))
}

function fileOf(session: Session, options: BenchOptions): ResultFile {
  const { place, startedAt, runs, agent, complete } = session
  const ran = CONTENDERS.filter((facts) => runs.some((one) => one.contender === facts.name))
  return {
    schema: SCHEMA,
    version: SCHEMA_VERSION,
    place,
    ...(options.name !== undefined && { name: options.name }),
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    complete,
    environment: recordEnvironment(place, agent, ran, options),
    runs,
    rows: rowsOf(runs),
  }
}

function writeResult(file: ResultFile, isKept: boolean): void {
  const name = `${file.startedAt.replaceAll(':', '-').slice(0, 19)}-${file.place}.json`
  mkdirSync(HISTORY, { recursive: true })
  writeFileSync(join(HISTORY, name), `${JSON.stringify(file)}\n`)
  if (isKept) storeResult(keyOf(file), file)
}

function reportCurrent(render: (files: readonly ResultFile[]) => string): void {
  const stored = storedResults()
  if (stored.length === 0) return console.log('There is nothing in bench/results/current/ yet: npm run bench -- --keep')
  // Engines as they come before those with something switched on, and what has no name before what has.
  const partsOf = (file: ResultFile): number => keyOf(file).split('-').length
  const files = stored.sort((a, b) => partsOf(a) - partsOf(b))
  writeReport(render(files))
  for (const [extent, path] of PAGES_WITH_FIGURES)
    writeFileSync(path, withFigures(readFileSync(path, 'utf8'), files, extent))
}

function writeReport(html: string): void {
  mkdirSync(RESULTS, { recursive: true })
  const path = join(RESULTS, 'report.html')
  writeFileSync(path, html)
  console.log(`Report: ${relative(process.cwd(), path)}`)
}
