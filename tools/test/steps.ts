/** The steps of `npm test`. */
import { join, resolve } from 'node:path'
import { addUnseenSeconds } from '../browser/process-tree.ts'
import { run, spawnTracked } from '../processes.ts'
import type { BrowserAnswer } from './browser-program.ts'
import { compareWithBudget, type Budgeted } from './budget.ts'
import { onlyLanes } from './lanes.ts'
import type { BrowserOptions, Outcome, Step } from './outcome.ts'
import { runUnitTests } from './unit.ts'

/** A step that takes longer is stopped. Nobody learns anything from a test that never ends. */
const CHECK_MS_MAX = 300_000

const root = resolve(import.meta.dirname, '../..')
const program = (name: string): string => join(root, 'node_modules', '.bin', name)

const format = check('format', 'Format (npm run format mends it)', [[program('oxfmt'), '--check']])
const lint = check('lint', 'Lint', [[program('oxlint'), '--deny-warnings']])
/** The compiler keeps here what it knows: it checks changed files alone, in 2 s of 20. */
const TYPES_KNOWN = 'node_modules/.cache/types.tsbuildinfo'
const types = check('types', 'Types', [[program('tsc'), '-p', '.', '--incremental', '--tsBuildInfoFile', TYPES_KNOWN]])
const bars = check('bars', 'Bars (npm run bars lists offenders)', [[...script('tools/checks/bars.ts'), '--counted']])
const unit: Step = {
  name: 'unit',
  title: 'Unit tests',
  async run({ lanes, times }) {
    const outcome = await runUnitTests({ parameters: onlyLanes(lanes), times })
    return times ? outcome : withinBudget(outcome, lanes)
  },
}
const packages = check('package', 'Build and package checks', [
  script('tools/checks/build.ts'),
  script('tools/checks/exports.ts'),
  script('tools/checks/api.ts'),
  script('tools/checks/size.ts'),
  script('tools/docs/transcript.ts'),
])
const browser: Step = {
  name: 'browser',
  title: 'Browser tests',
  async run(options) {
    const outcome = await browserOutcome(options)
    const { lane, engines, filter, times } = options
    const isWhole = lane === 'wired' && engines === undefined && filter === undefined
    return isWhole && !times ? withinBudget(outcome, ['browser']) : outcome
  },
}

/**
 * Stages follow one another; the rows of a stage run beside one another, and the steps of a row in turn. Unit tests wait for disks and
 * timers, and browser tests wait much: what the one leaves of the cores the other takes.
 */
export const STAGES: readonly (readonly (readonly Step[])[])[] = [
  [
    [types, bars],
    [lint, format],
  ],
  [[unit], [packages, browser]],
]

export const STEPS: readonly Step[] = STAGES.flat(2)

/** @throws Error if the program ends without an answer */
function browserOutcome(options: BrowserOptions): Promise<Outcome> {
  const [command, ...parameters] = script('tools/test/browser-program.ts')
  const program = spawnTracked(command, parameters, { cwd: root, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return new Promise((resolve, reject) => {
    let outcome: Outcome | undefined
    program.on('message', (answer) => {
      outcome = (answer as BrowserAnswer).outcome
      addUnseenSeconds((answer as BrowserAnswer).unseenSeconds)
    })
    program.on('error', reject)
    program.on('exit', (code, signal) => {
      if (outcome !== undefined) resolve(outcome)
      else reject(new Error(`The browser tests have ended with ${code ?? signal}, and without an answer.`))
    })
    program.send(options)
  })
}

/** Fails where the processor time has outgrown its budget. */
function withinBudget(outcome: Outcome, lanes: readonly Budgeted[]): Outcome {
  const budget = compareWithBudget(outcome.costs ?? [], lanes)
  return {
    ...outcome,
    failed: outcome.failed + budget.failed,
    notes: [...(outcome.notes ?? []), ...(budget.notes ?? [])],
    failures: [...(outcome.failures ?? []), ...(budget.failures ?? [])],
  }
}

type Command = readonly [program: string, ...parameters: string[]]

function script(path: string): Command {
  return [process.execPath, '--conditions=pannier-source', path]
}

/** Commands that have to succeed one after the other. What one prints is shown if it fails; lines "= …" are notes. */
function check(name: string, title: string, commands: readonly Command[]): Step {
  return {
    name,
    title,
    async run() {
      const notes: string[] = []
      for (const [command, ...parameters] of commands) {
        const { code, output } = await run(command, parameters, { cwd: root, timeoutMs: CHECK_MS_MAX })
        const lines = output.split('\n')
        notes.push(...lines.filter((line) => line.startsWith('= ')).map((line) => line.slice(2)))
        if (code === 0) continue
        console.log(output.trimEnd())
        return {
          passed: 0,
          failed: 1,
          notes,
          failures: [{ title, text: output.trimEnd(), replay: `npm test -- --only=${name}` }],
        }
      }
      return { passed: 0, failed: 0, notes }
    },
  }
}
