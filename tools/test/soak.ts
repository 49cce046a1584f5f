/**
 * `npm run soak`: what `npm test` does with few seeds, with many, round after round, each with other seeds. Prints what it ran, and
 * how to run again what failed. The slow and the browser lane run once: every suite on every storage.
 */
import { parseArgs, styleText } from 'node:util'
import { LANES, type Lane } from './lanes.ts'
import type { Outcome } from './outcome.ts'
import { runBrowserTests } from './browser.ts'
import { runUnitTests } from './unit.ts'

const LANES_USUAL = [...Object.keys(LANES), 'browser']
const ROUND_MS_MAX = 12 * 3_600_000
/** No test runs as many seeds in a round. */
const SEEDS_A_ROUND = 1_000_000

const USAGE = `Usage: npm run soak [-- OPTIONS] [PART OF A PATH …]

  PART OF A PATH       only files whose path has it, instead of lanes
  --only=LANE[,LANE]   these lanes: ${LANES_USUAL.join(', ')}; default: all
  --minutes=N          begin rounds for so long; default: one round
  --effort=N           seeds and repetitions, as a multiple of those in npm test; default 10
  --seeds=N            so many seeds of each test instead
  --seed=N             the first seed; default 1
  --engine=ENGINE      browser tests in this engine only (repeatable)
  --help               print this`

type Settings = Readonly<Record<string, string>>

interface Ran {
  readonly name: string
  readonly replay: string
  readonly outcome: Outcome
  readonly seconds: number
}

// A case that timed out may have left a server open: it must not keep the run from ending.
process.exit(await main())

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string', default: LANES_USUAL.join(',') },
      minutes: { type: 'string', default: '0' },
      effort: { type: 'string', default: '10' },
      seeds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      engine: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    },
  })
  const lanes = values.only.split(',')
  const unknown = lanes.filter((lane) => lane !== 'browser' && !Object.hasOwn(LANES, lane))
  if (values.help === true || unknown.length > 0) {
    console.log(unknown.length > 0 ? `There is no lane ${unknown.join(', ')}.\n\n${USAGE}` : USAGE)
    return unknown.length > 0 ? 2 : 0
  }
  const end = performance.now() + Number(values.minutes) * 60_000
  const seeded = lanes.filter((lane) => lane !== 'slow' && lane !== 'browser')
  const rounds = positionals.length > 0 ? [['chosen', positionals] as const] : seeded.map(filesOf)
  const hasLane = (lane: string): boolean => lanes.includes(lane) && positionals.length === 0
  const ran: Ran[] = []
  let seed = Number(values.seed)
  const settings = (): Settings => ({
    SEED: String(seed),
    EFFORT: values.effort,
    EVERYWHERE: '1',
    ...(values.seeds !== undefined && { SEEDS: values.seeds }),
  })
  do {
    for (const [name, parameters] of rounds) ran.push(await runUnits(name, parameters, settings()))
    seed += SEEDS_A_ROUND
  } while (rounds.length > 0 && performance.now() < end)
  if (hasLane('slow')) ran.push(await runUnits(...filesOf('slow'), settings()))
  if (hasLane('browser')) ran.push(await runBrowsers(values.engine, settings()))
  return report(ran)
}

function filesOf(lane: string): readonly [name: string, parameters: readonly string[]] {
  return [lane, [`.${lane}.test.ts`]]
}

function runUnits(name: string, parameters: readonly string[], env: Settings): Promise<Ran> {
  const what = LANES[name as Lane] ?? parameters.join(' ')
  const run = (): Promise<Outcome> => runUnitTests({ parameters, env, timeoutMs: ROUND_MS_MAX })
  return timed(name, what, `${textOf(env)} npx vitest run ${parameters.join(' ')}`, run)
}

function runBrowsers(engines: readonly string[] | undefined, env: Settings): Promise<Ran> {
  // Suites are loaded after this.
  Object.assign(process.env, env)
  const run = (): Promise<Outcome> => runBrowserTests({ engines, filter: undefined, times: false })
  return timed('browser', 'every suite on every storage', `${textOf(env)} npm test -- --only=browser`, run)
}

async function timed(name: string, what: string, replay: string, run: () => Promise<Outcome>): Promise<Ran> {
  console.log(styleText('bold', `\n▸ ${name}: ${what}\n  ${replay}`))
  const start = performance.now()
  const outcome = await run()
  return { name, replay, outcome, seconds: (performance.now() - start) / 1000 }
}

function textOf(env: Settings): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

function report(ran: readonly Ran[]): number {
  console.log(styleText('bold', '\nWhat ran'))
  for (const { name, replay, outcome, seconds } of ran) {
    const counts = `${outcome.passed} passed, ${outcome.failed} failed`
    console.log(
      `${outcome.failed > 0 ? '✗' : '✓'} ${name.padEnd(8)} ${seconds.toFixed(0).padStart(6)} s  ${counts}  ${replay}`,
    )
    for (const note of outcome.notes ?? []) console.log(`    ${note}`)
  }
  const failures = ran.flatMap(({ outcome }) => outcome.failures ?? [])
  for (const failure of failures) console.log(`\n${failure}`)
  return ran.some(({ outcome }) => outcome.failed > 0) ? 1 : 0
}
