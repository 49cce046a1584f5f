/** Runs vitest, and counts what its report says. */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../checks/packages.ts'
import { makeFolder, removeFolder, run } from '../processes.ts'
import { slowest, STILL_RUNNING, type Outcome } from './outcome.ts'

const UNIT_MS_MAX = 4_500_000

export interface UnitOptions {
  /** Further parameters for vitest: parts of paths, `--exclude=PATTERN`. */
  readonly parameters: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly times?: boolean
  /** A run is stopped if it takes longer. */
  readonly timeoutMs?: number
}

const LOUD = '!!! '

export async function runUnitTests({
  parameters,
  env = {},
  times = false,
  timeoutMs = UNIT_MS_MAX,
}: UnitOptions): Promise<Outcome> {
  const folder = makeFolder('unit')
  try {
    const report = join(folder, 'report.json')
    const reporters = ['default', 'json', join(import.meta.dirname, 'slow-tests-reporter.ts')]
    const all = ['run', ...reporters.map((name) => `--reporter=${name}`), `--outputFile.json=${report}`, ...parameters]
    const { code, output } = await run(join(root, 'node_modules/.bin/vitest'), all, {
      cwd: root,
      env: { ...process.env, ...env },
      show: true,
      timeoutMs,
    })
    const counted = readReport(report)
    if (counted === undefined) {
      const note = code === 124 ? `Stopped after ${timeoutMs / 1000} s: a test does not end.` : 'There is no report.'
      const running = output.split('\n').filter((line) => line.startsWith(STILL_RUNNING))
      return { passed: 0, failed: 1, notes: [note], failures: [[note, ...running.slice(-10)].join('\n')] }
    }
    const { passed, failed, skipped, failures, msByFile } = counted
    // A file that does not load has no failed case, and a skipped test is not allowed.
    const problems = Math.max(failed, code === 0 ? 0 : 1) + skipped
    const notes = [
      ...(skipped > 0 ? [`${skipped} skipped tests count as failed`] : []),
      ...(times ? slowest(msByFile) : []),
      ...loudLines(output),
    ]
    // What is thrown outside of a test is in no report.
    const unhandled = output.lastIndexOf('Unhandled Errors')
    if (unhandled >= 0) failures.push(output.slice(unhandled))
    return { passed, failed: problems, notes, failures }
  } finally {
    removeFolder(folder)
  }
}

/** What tests say that had nobody to ask, each once: they pass, and say so again at the end. */
function loudLines(output: string): readonly string[] {
  return [...new Set(output.split('\n').filter((line) => line.startsWith(LOUD)))]
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    /** Why a file does not load. */
    readonly message: string
    readonly startTime: number
    readonly endTime: number
    readonly assertionResults: readonly { readonly fullName: string; readonly failureMessages?: readonly string[] }[]
  }[]
}

interface Counted {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: string[]
  readonly msByFile: ReadonlyMap<string, number>
}

function readReport(path: string): Counted | undefined {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8')) as Report
    const skipped = report.numPendingTests + report.numTodoTests
    const failures = report.testResults.flatMap(({ name, message, assertionResults }) => [
      ...(message === '' ? [] : [`${relative(root, name)}\n${message}`]),
      ...assertionResults.flatMap(({ fullName, failureMessages = [] }) =>
        failureMessages.map((text) => `${relative(root, name)} ${fullName}\n${text}`),
      ),
    ])
    const msByFile = new Map(
      report.testResults.map(({ name, startTime, endTime }) => [relative(root, name), endTime - startTime]),
    )
    return { passed: report.numPassedTests, failed: report.numFailedTests, skipped, failures, msByFile }
  } catch {
    return undefined
  }
}
