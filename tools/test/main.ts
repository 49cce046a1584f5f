/**
 * `npm test`: what must hold before a change lands: format, lint, types, bars, unit tests of the lanes pure and wired, package checks,
 * browser tests. Every step runs, even after a failed one. The last line has the number of passed and failed test cases; a failed check
 * counts as one failed case.
 */
import { resolve } from 'node:path'
import { inspect, parseArgs, stripVTControlCharacters, styleText } from 'node:util'
import { processorSeconds } from '../browser/process-tree.ts'
import { BROWSER_LANES } from './browser-lanes.ts'
import { writeBudget } from './budget.ts'
import { LANES, TESTED, type Lane } from './lanes.ts'
import type { Outcome, Step, StepOptions } from './outcome.ts'
import { STAGES, STEPS } from './steps.ts'

const USAGE = `Usage: npm test [-- OPTIONS]

  --only=STEP[,STEP]   run these steps only: ${STEPS.map((step) => step.name).join(', ')}
  --engine=ENGINE      browser tests in this engine only: chromium, firefox, webkit (repeatable)
  --filter=TEXT        browser cases whose name contains TEXT only
  --lane=real          browser tests of the lane real: every file in every engine, every suite on every storage
  --lanes=LANE[,LANE]  unit tests of these lanes only: ${TESTED.join(', ')}
  --times              print which test files and browser suites took longest, and make what the lanes cost their budget
  --help               print this`

const FAILURE_LINES_MAX = 30

interface Result {
  readonly step: Step
  readonly outcome: Outcome
  readonly seconds: number
}

// Tests start the same programs again and again: Node compiles them once.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, '../../node_modules/.cache/compiled')
// A case that timed out may have left a server open: it must not keep the run from ending.
process.exit(await main())

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      engine: { type: 'string', multiple: true },
      filter: { type: 'string' },
      lane: { type: 'string', default: 'wired' },
      lanes: { type: 'string', default: TESTED.join(',') },
      times: { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) {
    console.log(USAGE)
    return 0
  }
  const names = values.only?.split(',')
  const unknown = names?.filter((name) => !STEPS.some((step) => step.name === name)) ?? []
  if (unknown.length > 0) {
    console.error(`There is no step ${unknown.join(', ')}.\n\n${USAGE}`)
    return 2
  }
  const lanes = values.lanes.split(',').filter((name): name is Lane => Object.hasOwn(LANES, name))
  if (lanes.length !== values.lanes.split(',').length) {
    console.error(`There is no such lane: ${values.lanes}.\n\n${USAGE}`)
    return 2
  }
  const lane = BROWSER_LANES.find((name) => name === values.lane)
  if (lane === undefined) {
    console.error(`There is no lane ${values.lane} of browser tests.\n\n${USAGE}`)
    return 2
  }
  const isChosen = ({ name }: Step): boolean => names === undefined || names.includes(name)
  const options: StepOptions = {
    lane,
    engines: values.engine,
    filter: values.filter,
    lanes,
    times: values.times,
  }
  const results: Result[] = []
  for (const rows of STAGES) {
    const done = await Promise.all(rows.map((steps) => runRow(steps.filter(isChosen), options)))
    results.push(...done.flat())
  }
  const costs = results.flatMap(({ outcome }) => outcome.costs ?? [])
  if (values.times && TESTED.every((lane) => lanes.includes(lane)) && costs.length > 0) writeBudget(costs)
  return summarize(results)
}

async function runRow(steps: readonly Step[], options: StepOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const step of steps) results.push(await runStep(step, options))
  return results
}

async function runStep(step: Step, options: StepOptions): Promise<Result> {
  console.log(styleText('bold', `\n▸ ${step.title}`))
  const start = performance.now()
  let outcome: Outcome
  try {
    outcome = await step.run(options)
  } catch (error) {
    console.error(error)
    outcome = {
      passed: 0,
      failed: 1,
      failures: [{ title: step.title, text: inspect(error), replay: `npm test -- --only=${step.name}` }],
    }
  }
  const seconds = (performance.now() - start) / 1000
  console.log(`${mark(outcome)} ${step.title} (${seconds.toFixed(1)} s)`)
  return { step, outcome, seconds }
}

function summarize(results: readonly Result[]): number {
  console.log(styleText('bold', '\nSummary'))
  let passed = 0
  let failed = 0
  for (const { step, outcome, seconds } of results) {
    passed += outcome.passed
    failed += outcome.failed
    const cases = outcome.passed > 0 ? `${outcome.passed} passed` : ''
    const problems = outcome.failed > 0 ? `${outcome.failed} failed` : ''
    const counts = [cases, problems].filter((text) => text !== '').join(', ')
    console.log(`${mark(outcome)} ${step.title.padEnd(44)} ${`${seconds.toFixed(1)} s`.padStart(8)}  ${counts}`)
    for (const note of outcome.notes ?? []) console.log(`    ${note}`)
  }
  for (const { step, outcome } of results) {
    for (const { title, text, replay } of outcome.failures ?? [])
      console.log(`\n${mark(outcome)} ${step.title}: ${title}\n${shorten(text)}\n${styleText('dim', replay)}`)
  }
  listNotRun(results)
  const seconds = processorSeconds()
  if (seconds !== undefined) console.log(`\n${seconds.toFixed(0)} s of processor time`)
  console.log(`\n${passed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

/** The third state: neither passed nor failed. */
function listNotRun(results: readonly Result[]): void {
  const notRun = results.flatMap(({ outcome }) => outcome.notRun ?? [])
  if (notRun.length === 0) return
  console.log(styleText('yellow', `\n${notRun.length} not run:`))
  for (const line of notRun) console.log(`  ${line}`)
}

function shorten(failure: string): string {
  const lines = stripVTControlCharacters(failure).split('\n')
  return lines.length <= FAILURE_LINES_MAX ? lines.join('\n') : [...lines.slice(0, FAILURE_LINES_MAX), '…'].join('\n')
}

function mark(outcome: Outcome): string {
  return outcome.failed > 0 ? styleText('red', '✗') : styleText('green', '✓')
}
