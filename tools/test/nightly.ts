/**
 * `npm run nightly`: all lanes on the real thing, with seeds of their own, every suite on every storage and in every browser. Prints the
 * seed first, and writes one report with the command that shows each failure again.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { root } from '../checks/packages.ts'
import { runBrowserTests } from './browser.ts'
import { LANES, onlyLanes, type Lane } from './lanes.ts'
import { reportPage, type Ran } from './nightly-report.ts'
import type { Outcome } from './outcome.ts'
import { testsReachedSince } from './reached-tests.ts'
import { runUnitTests, textOfSettings } from './unit.ts'

const PARTS = [...Object.keys(LANES), 'browser']
const ROUND_MS_MAX = 12 * 3_600_000
/** No test runs as many seeds in a round. */
const SEEDS_A_ROUND = 1_000_000
const REPORT = 'dist/nightly.html'

const USAGE = `Usage: npm run nightly [-- OPTIONS] [PART OF A PATH …]

  PART OF A PATH      only test files whose path has it
  --since=COMMIT      only test files that the files changed since then can break
  --only=PART[,PART]  ${PARTS.join(', ')}; default: all
  --engine=ENGINE     browser tests in this engine only (repeatable)
  --seed=N            the first seed; default: the date
  --seeds=N           so many seeds of each test
  --effort=N          seeds and repetitions, as a multiple of those in npm test; default 4
  --minutes=N         begin rounds with further seeds for so long; default: one round
  --report=FILE       default ${REPORT}
  --help              print this`

type Settings = Readonly<Record<string, string>>

// A case that timed out may have left a server open: it must not keep the run from ending.
process.exit(await main())

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      since: { type: 'string' },
      only: { type: 'string', default: PARTS.join(',') },
      engine: { type: 'string', multiple: true },
      seed: { type: 'string', default: dateSeed() },
      seeds: { type: 'string' },
      effort: { type: 'string', default: '4' },
      minutes: { type: 'string', default: '0' },
      report: { type: 'string', default: REPORT },
      help: { type: 'boolean' },
    },
  })
  const parts = values.only.split(',')
  const unknown = parts.filter((part) => !PARTS.includes(part))
  if (values.help === true || unknown.length > 0) {
    console.log(unknown.length > 0 ? `There is no part ${unknown.join(', ')}.\n\n${USAGE}` : USAGE)
    return unknown.length > 0 ? 2 : 0
  }
  const chosen = values.since === undefined ? positionals : [...positionals, ...testsReachedSince(values.since)]
  if (values.since !== undefined && chosen.length === 0) {
    console.log(`Nothing that a test reaches has changed since ${values.since}.`)
    return 0
  }
  const lanes = parts.filter((part): part is Lane => part !== 'browser')
  const end = performance.now() + Number(values.minutes) * 60_000
  const ran: Ran[] = []
  let seed = Number(values.seed)
  console.log(styleText('bold', `Seed ${seed}`))
  do {
    const settings: Settings = {
      SEED: String(seed),
      EFFORT: values.effort,
      EVERYWHERE: '1',
      ...(values.seeds !== undefined && { SEEDS: values.seeds }),
    }
    for (const lane of lanes) ran.push(await runLane(lane, chosen, settings))
    if (parts.includes('browser') && ran.every((one) => one.name !== 'browser'))
      ran.push(await runBrowsers(values.engine, chosen, settings))
    seed += SEEDS_A_ROUND
  } while (performance.now() < end)
  return report(ran, join(root, values.report))
}

function dateSeed(): string {
  return new Date().toISOString().slice(0, 10).replaceAll('-', '')
}

function runLane(lane: Lane, chosen: readonly string[], env: Settings): Promise<Ran> {
  const parameters = [...onlyLanes([lane]), ...chosen]
  const run = (): Promise<Outcome> => runUnitTests({ parameters, env, timeoutMs: ROUND_MS_MAX })
  return timed(lane, LANES[lane], env, run)
}

function runBrowsers(engines: readonly string[] | undefined, chosen: readonly string[], env: Settings): Promise<Ran> {
  // Suites are loaded after this.
  Object.assign(process.env, env)
  const run = (): Promise<Outcome> =>
    runBrowserTests({ lane: 'real', engines, filter: undefined, times: false, files: chosen })
  return timed('browser', 'every suite in every engine', env, run)
}

/** A case that is not run here counts as failed: what the night does not ask nobody asks. */
async function timed(name: string, what: string, env: Settings, run: () => Promise<Outcome>): Promise<Ran> {
  console.log(styleText('bold', `\n▸ ${name}: ${what}\n  ${textOfSettings(env)}`))
  const start = performance.now()
  const outcome = await run()
  const missing = (outcome.notRun ?? []).map((line) => ({ title: `Not run: ${line}`, text: '', replay: '' }))
  return {
    name,
    settings: textOfSettings(env),
    seconds: (performance.now() - start) / 1000,
    passed: outcome.passed,
    failures: [...(outcome.failures ?? []), ...missing],
  }
}

function report(ran: readonly Ran[], path: string): number {
  console.log(styleText('bold', '\nWhat ran'))
  for (const { name, settings, passed, failures, seconds } of ran)
    console.log(
      `${failures.length > 0 ? '✗' : '✓'} ${name.padEnd(8)} ${seconds.toFixed(0).padStart(6)} s  ${passed} passed, ${failures.length} failed  ${settings}`,
    )
  for (const { title, text, replay } of ran.flatMap(({ failures }) => failures))
    console.log(`\n✗ ${title}\n${text}\n${styleText('dim', replay)}`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, reportPage(ran))
  const passed = ran.reduce((sum, one) => sum + one.passed, 0)
  const failed = ran.reduce((sum, { failures }) => sum + failures.length, 0)
  console.log(`\nThe report: ${relative(process.cwd(), path)}\n\n${passed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}
