/**
 * Which mutants the tests kill. Each mutant runs against the test files that reach its place, the nearest and cheapest first, until one
 * fails. Results are kept in the checkout's node_modules/.cache/mutants: a run that was stopped continues.
 */
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../checks/packages.ts'
import { laneOf, LANES, TESTED } from '../test/lanes.ts'
import { GROUPS } from './groups.ts'
import { editOf, lineOf, readMutants, type Mutant } from './list.ts'
import { cacheFile, readJson, writeJson } from './kept.ts'
import { distancesIn, reachOf, type Distances, type Reach } from './reach.ts'
import { report, resultLine, type Result, type Results } from './report.ts'
import { runFiles, type Failure } from './run-files.ts'

const USAGE = `Usage: npm run mutants [-- OPTIONS]

  --suite=FOLDER       the sources and tests of another checkout, with node_modules
  --lanes=LANE[,LANE]  of ${Object.keys(LANES).join(', ')}; or all, for checkouts with other lanes. ${TESTED.join(',')} if left out
  --only=TEXT          mutants of this group, or whose name has the text
  --jobs=N             that so many mutants run at the same time
  --again              mutants that have survived run again
  --fresh              all that is kept of earlier runs is forgotten
  --results=FILE       where results are kept; node_modules/.cache/mutants/LANES.json of the checkout if left out
  --report=FILE[,FILE] runs nothing: prints results; of two files, how many of the first's kills the second has
  --help               print this`

/** A file may take so much longer with a mutant. */
const LIMIT_FACTOR = 5
const LIMIT_MS_MIN = 30_000
/** Seconds that a file costs beside its tests. */
const FILE_SECONDS = 0.3
/** A file that has failed once has to fail again in one of this number of runs. */
const TRIES_MAX = 2
/** For a file that starts another program which reaches the mutant. */
const FAR = 8

const { values } = parseArgs({
  options: {
    suite: { type: 'string', default: root },
    lanes: { type: 'string', default: TESTED.join(',') },
    only: { type: 'string', default: '' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    again: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    results: { type: 'string' },
    report: { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (values.help === true) console.log(USAGE)
else if (values.report !== undefined) {
  const [first = {}, second] = values.report.split(',').map((file) => readJson<Results>(resolve(file), {}))
  report(readMutants(), first, second)
} else await runMutants()
process.exit()

async function runMutants(): Promise<void> {
  const suite = resolve(values.suite)
  const lanes = values.lanes.split(',')
  const jobs = Number(values.jobs)
  const file = values.results === undefined ? cacheFile(suite, `${lanes.join('-')}.json`) : resolve(values.results)
  if (values.fresh) for (const path of [file, cacheFile(suite, 'reach.json')]) rmSync(path, { force: true })
  const results: Record<string, Result> = readJson(file, {})
  const all = readMutants().filter((mutant) => isThere(mutant, suite))
  const isGroup = values.only in GROUPS
  const chosen = all.filter(({ group, name }) => (isGroup ? group === values.only : name.includes(values.only)))
  const isWanted = (path: string): boolean => lanes.includes('all') || lanes.includes(laneOf(path))
  const distances = await distancesIn(suite)
  const reach = await reachOf({ suite, isWanted, mutants: all, distances, jobs })
  const hunt: Hunt = { suite, reach, distances, alone: new Map() }
  const isLeft = (result: Result | undefined): boolean =>
    result === undefined || (values.again && result.killedBy === undefined)
  const left = chosen.filter(({ name }) => isLeft(results[name]))
  console.log(`${left.length} of ${chosen.length} mutants are left.`)
  const work = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const result = await run(mutant, hunt)
      results[mutant.name] = result
      writeJson(file, results)
      console.log(`${resultLine(mutant.group, mutant.name, result)} (${left.length} left)`)
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  report(chosen, results, undefined)
  console.log(`\nResults are in ${file}`)
}

interface Hunt {
  readonly suite: string
  readonly reach: Reach
  readonly distances: Distances
  /** Which files pass when they run alone. */
  readonly alone: Map<string, Promise<boolean>>
}

function isThere(mutant: Mutant, suite: string): boolean {
  try {
    editOf(mutant, suite)
    return true
  } catch (error) {
    console.log(`left out: ${mutant.name}: ${String(error)}`)
    return false
  }
}

async function run(mutant: Mutant, hunt: Hunt): Promise<Result> {
  const start = performance.now()
  const place = `${mutant.file}:${lineOf(mutant, hunt.suite)}`
  const files = inOrder(mutant, hunt)
  let at = 0
  while (at < files.length) {
    const failure = await runOn(mutant, hunt, files.slice(at))
    if (failure === undefined) break
    at = files.indexOf(failure.file) + 1
    if ((await passesAlone(hunt, failure.file)) && (await failsAgain(mutant, hunt, failure)))
      return { place, files: at, seconds: secondsSince(start), killedBy: failure }
  }
  return { place, files: files.length, seconds: secondsSince(start) }
}

/** Without a mutant. It may need what files before it have loaded. */
function passesAlone(hunt: Hunt, file: string): Promise<boolean> {
  const known = hunt.alone.get(file) ?? runOn(undefined, hunt, [file]).then((failure) => failure === undefined)
  hunt.alone.set(file, known)
  return known
}

/** Some tests fail by chance, more so on a machine that is busy; and some draw other inputs in each run. */
async function failsAgain(mutant: Mutant, hunt: Hunt, { file, isEndless }: Failure): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX && !isEndless; tries++)
    if ((await runOn(mutant, hunt, [file])) !== undefined) return true
  return isEndless
}

function runOn(
  mutant: Mutant | undefined,
  { suite, reach }: Hunt,
  files: readonly string[],
): Promise<Failure | undefined> {
  const edits = new Map(mutant && [[join(suite, mutant.file), [editOf(mutant, suite)]]])
  const limitOf = (file: string): number => LIMIT_MS_MIN + LIMIT_FACTOR * 1000 * (reach[file]?.seconds ?? 0)
  return runFiles({ suite, files, edits, workers: 1, isBail: true, limitOf })
}

/** Test files that reach the mutant: the near and the cheap ones first. */
function inOrder({ file: module, name }: Mutant, { reach, distances }: Hunt): readonly string[] {
  const steps = distances(module)
  const costOf = (file: string): number => (FILE_SECONDS + reach[file]!.seconds) * (steps.get(file) ?? FAR) ** 2
  return Object.keys(reach)
    .filter((file) => reach[file]!.passed && reach[file]!.mutants.includes(name))
    .sort((left, right) => costOf(left) - costOf(right))
}

function secondsSince(startMs: number): number {
  return Math.round((performance.now() - startMs) / 100) / 10
}
