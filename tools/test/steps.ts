/** The steps of `npm test`. */
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { makeFolder, removeFolder, run } from '../processes.ts'
import { runBrowserTests } from './browser.ts'
import { STILL_RUNNING, type Outcome, type Step } from './outcome.ts'

/** Steps are stopped if they take longer: whoever waits for a test that never ends learns nothing. */
const CHECK_MS_MAX = 120_000
const UNIT_MS_MAX = 1_800_000

const root = resolve(import.meta.dirname, '../..')
const program = (name: string): string => join(root, 'node_modules', '.bin', name)

const format = check('format', 'Format (npm run format mends it)', [[program('oxfmt'), '--check']])
const lint = check('lint', 'Lint', [[program('oxlint'), '--deny-warnings']])
const types = check('types', 'Types', [[program('tsc'), '-p', '.']])
const bars = check('bars', 'Bars (npm run bars lists offenders)', [[...script('tools/checks/bars.ts'), '--counted']])
const unit: Step = { name: 'unit', title: 'Unit tests', run: runUnitTests }
const packages = check('package', 'Build and package checks', [
  script('tools/checks/build.ts'),
  script('tools/checks/exports.ts'),
  script('tools/checks/api.ts'),
  script('tools/checks/size.ts'),
  script('tools/docs/transcript.ts'),
])
const browser: Step = { name: 'browser', title: 'Browser tests', run: runBrowserTests }

/**
 * Stages follow one another; the lanes of a stage run beside one another, and the steps of a lane in turn. Unit tests compute, and
 * browser tests wait much.
 */
export const STAGES: readonly (readonly (readonly Step[])[])[] = [
  [[format, lint, types, bars]],
  [[unit], [packages, browser]],
]

export const STEPS: readonly Step[] = STAGES.flat(2)

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
        return { passed: 0, failed: 1, notes, failures: [output.trimEnd()] }
      }
      return { passed: 0, failed: 0, notes }
    },
  }
}

async function runUnitTests(): Promise<Outcome> {
  const folder = makeFolder('unit')
  try {
    const report = join(folder, 'report.json')
    const reporters = ['default', 'json', join(import.meta.dirname, 'slow-tests-reporter.ts')]
    const parameters = ['run', ...reporters.map((name) => `--reporter=${name}`), `--outputFile.json=${report}`]
    const { code, output } = await run(program('vitest'), parameters, { cwd: root, show: true, timeoutMs: UNIT_MS_MAX })
    const counted = readReport(report)
    if (counted === undefined) {
      const note = code === 124 ? `Stopped after ${UNIT_MS_MAX / 1000} s: a test does not end.` : 'There is no report.'
      const running = output.split('\n').filter((line) => line.startsWith(STILL_RUNNING))
      return { passed: 0, failed: 1, notes: [note], failures: [[note, ...running.slice(-10)].join('\n')] }
    }
    const { passed, failed, skipped, failures } = counted
    // A file that does not load has no failed case, and a skipped test is not allowed.
    const problems = Math.max(failed, code === 0 ? 0 : 1) + skipped
    const notes = skipped > 0 ? [`${skipped} skipped tests count as failed`] : []
    // What is thrown outside of a test is in no report.
    const unhandled = output.lastIndexOf('Unhandled Errors')
    if (unhandled >= 0) failures.push(output.slice(unhandled))
    return { passed, failed: problems, notes, failures }
  } finally {
    removeFolder(folder)
  }
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    /** Of a file that does not load. */
    readonly message: string
    readonly assertionResults: readonly { readonly fullName: string; readonly failureMessages?: readonly string[] }[]
  }[]
}

function readReport(path: string): { passed: number; failed: number; skipped: number; failures: string[] } | undefined {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8')) as Report
    const skipped = report.numPendingTests + report.numTodoTests
    const failures = report.testResults.flatMap(({ name, message, assertionResults }) => [
      ...(message === '' ? [] : [`${relative(root, name)}\n${message}`]),
      ...assertionResults.flatMap(({ fullName, failureMessages = [] }) =>
        failureMessages.map((text) => `${relative(root, name)} ${fullName}\n${text}`),
      ),
    ])
    return { passed: report.numPassedTests, failed: report.numFailedTests, skipped, failures }
  } catch {
    return undefined
  }
}
