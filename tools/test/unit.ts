/** Runs vitest, and counts what its report says. */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../checks/packages.ts'
import { makeFolder, removeFolder, run } from '../processes.ts'
import { digestRun } from './input-digest.ts'
import { slowest, STILL_RUNNING, type Failure, type Outcome } from './outcome.ts'
import { RESULTS_FILE, type FileOutcome, type RunOutcome } from './results-reporter.ts'
import { COSTS_FILE, type FileCost } from './setup/costs.ts'

const UNIT_MS_MAX = 4_500_000

export interface UnitOptions {
  /** Further parameters for vitest: parts of paths, `--exclude=PATTERN`. */
  readonly parameters: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly times?: boolean
  /** A run is stopped if it takes longer. */
  readonly timeoutMs?: number
}

export interface UnitOutcome extends Outcome {
  readonly costs: readonly FileCost[]
}

export async function runUnitTests({
  parameters,
  env = {},
  times = false,
  timeoutMs = UNIT_MS_MAX,
}: UnitOptions): Promise<UnitOutcome> {
  const folder = makeFolder('unit')
  try {
    const [results, costs] = [join(folder, 'results.json'), join(folder, 'costs.jsonl')]
    const reporters = ['default', join(import.meta.dirname, 'results-reporter.ts')]
    const all = ['run', ...reporters.map((name) => `--reporter=${name}`), ...parameters]
    const { code, output } = await run(join(root, 'node_modules/.bin/vitest'), all, {
      cwd: root,
      env: { ...process.env, ...env, [RESULTS_FILE]: results, [COSTS_FILE]: costs },
      show: true,
      timeoutMs,
    })
    const outcome = read(results, (text) => JSON.parse(text) as RunOutcome)
    if (outcome === undefined) return withoutReport(code, output, timeoutMs)
    const settings = textOfSettings(env)
    return { ...count(outcome, code, times, settings), costs: read(costs, parseLines) ?? [] }
  } finally {
    removeFolder(folder)
  }
}

function withoutReport(code: number, output: string, timeoutMs: number): UnitOutcome {
  const note = code === 124 ? `Stopped after ${timeoutMs / 1000} s: a test does not end.` : 'There is no report.'
  const running = output.split('\n').filter((line) => line.startsWith(STILL_RUNNING))
  const failure = { title: note, text: running.slice(-10).join('\n'), replay: 'npm test -- --only=unit' }
  return { passed: 0, failed: 1, failures: [failure], costs: [] }
}

function count({ files, unhandled, lost }: RunOutcome, code: number, times: boolean, settings: string): Outcome {
  const cases = files.flatMap(({ file, cases: all }) => all.map((one) => ({ ...one, file })))
  const notRun = cases.filter((one) => one.notRun !== undefined)
  const skipped = cases.filter((one) => one.state === 'skipped' && one.notRun === undefined)
  const failure = (file: string, name: string, texts: readonly string[]): Failure => {
    const chosen = name === '' ? '' : ` -t ${JSON.stringify(name)}`
    return {
      title: `${file} ${name}`.trim(),
      text: texts.join('\n'),
      replay: `${settings}npx vitest run ${file}${chosen}`,
    }
  }
  const failures = [
    ...cases.filter(({ state }) => state === 'failed').map(({ file, name, errors }) => failure(file, name, errors)),
    ...files.filter(({ errors }) => errors.length > 0).map(({ file, errors }) => failure(file, '', errors)),
    ...skipped.map(({ file, name }) => failure(file, name, ['A skipped case counts as failed.'])),
    ...unhandled.map((text) => failure('', 'Outside of a case', [text])),
    ...lost.map((file) => failure(file, '', ['The process that ran it has ended.'])),
  ]
  if (code !== 0 && failures.length === 0) failures.push(failure('', `vitest ended with the code ${code}`, []))
  const msByFile = new Map(files.map(({ file, ms }: FileOutcome) => [file, ms]))
  return {
    passed: cases.filter(({ state }) => state === 'passed').length,
    failed: failures.length,
    failures,
    notRun: notRun.map(({ file, name, notRun: what }) => `${file} ${name}: ${what} is missing`),
    notes: [digestRun(files), ...(times ? slowest(msByFile) : [])],
  }
}

/** `SEED=7 EFFORT=2 `, as it stands before a command. */
export function textOfSettings(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value} `)
    .join('')
}

function parseLines(text: string): FileCost[] {
  const costs = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as FileCost)
  return costs.map((cost) => ({ ...cost, file: relative(root, cost.file) }))
}

function read<T>(path: string, parse: (text: string) => T): T | undefined {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
