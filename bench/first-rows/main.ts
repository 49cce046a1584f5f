/**
 * `npm run bench -- first-rows`: what a person waits for when an app starts, code, opening and recovery included. Contenders take turns,
 * start by start. What is measured is written when this process ends, however it ends.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../../tools/checks/build.ts'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import { factsOf } from '../contenders/catalog.ts'
import type { Place } from '../contenders/catalog.ts'
import type { DataSet } from '../documents.ts'
import { recordEnvironment, versionIn } from '../harness/environment.ts'
import { optionsOrUsage } from '../options.ts'
import { obstacleIn } from '../places.ts'
import { Browsers } from './browsers.ts'
import { makePages } from './build.ts'
import { readOptions, USAGE } from './options.ts'
import type { FirstRowsOptions } from './options.ts'
import { checkRows } from './expected.ts'
import { Processes, TASKS } from './processes.ts'
import { servePages } from './server.ts'
import type { Starter } from './starter.ts'
import { formatTables, rowsOf } from './table.ts'
import type { Measured } from './table.ts'
import { variantsIn } from './variants.ts'
import type { Variant } from './variants.ts'

/** The results of a place so far. */
interface Session {
  readonly place: Place
  readonly variants: readonly Variant[]
  readonly startedAt: Date
  readonly measured: Measured[]
  /** Failures, in words. */
  readonly failures: string[]
  agent: string
  complete: boolean
}

export async function main(parameters: readonly string[]): Promise<void> {
  const options = optionsOrUsage(USAGE, () => readOptions(parameters))
  if (options === undefined) return
  const sessions: Session[] = []
  const { contenders, states, seed } = options
  process.on('exit', () => {
    for (const session of sessions) report(session, seed)
  })
  for (const place of options.places) {
    const obstacle = obstacleIn(place)
    if (obstacle !== undefined) {
      console.log(`${place}: left out (${obstacle})`)
      continue
    }
    const variants = variantsIn(place, contenders, states)
    const session: Session = {
      place,
      variants,
      startedAt: new Date(),
      measured: [],
      failures: [],
      agent: '',
      complete: false,
    }
    sessions.push(session)
    await (place === 'node' ? measureNode(session, options) : measureBrowser(place, session, options))
    session.complete = true
  }
}

async function measureNode(session: Session, options: FirstRowsOptions): Promise<void> {
  const folder = makeFolder('first-rows')
  const processes = new Processes(folder)
  await processes.install(true)
  await measure(session, options, processes, TASKS)
  removeFolder(folder)
}

async function measureBrowser(
  engine: Exclude<Place, 'node'>,
  session: Session,
  options: FirstRowsOptions,
): Promise<void> {
  await build()
  const apps = [...new Set(session.variants.map(({ app }) => app))]
  await using server = await servePages(await makePages(apps, true))
  const folder = makeFolder('first-rows')
  await measure(session, options, new Browsers(engine, server, folder), options.deliveries)
  removeFolder(folder)
}

/** Measures the variants. A variant that fails once is left out from then on. */
async function measure(
  session: Session,
  { documents: sizes, starts, seed }: FirstRowsOptions,
  starter: Starter,
  ways: readonly string[],
): Promise<void> {
  for (const documents of sizes) {
    const set: DataSet = { documents, seed, ids: 'random' }
    const filled = new Set<Variant>()
    const attempt = async (variant: Variant, what: string, run: () => Promise<void>): Promise<void> => {
      const title = `${session.place}, ${documents} documents, ${variant.name}, ${what}`
      say(title)
      try {
        await run()
      } catch (error) {
        session.failures.push(`${title}: ${String(error)}`)
        console.error(session.failures.at(-1))
        filled.delete(variant)
      }
    }
    for (const variant of session.variants) {
      filled.add(variant)
      await attempt(variant, 'filling', () => starter.fill(variant, set))
    }
    for (let start = 1; start <= starts; start++) {
      for (const way of ways) {
        for (const variant of filled) {
          await attempt(variant, `${way}, start ${start}`, async () => {
            const { agent, rows, values } = await starter.start(variant, way, set)
            session.agent ||= agent
            checkRows(rows, set, way)
            session.measured.push({ variant: variant.name, way, documents, start, values })
          })
        }
      }
    }
    for (const variant of session.variants) starter.forget(variant)
  }
  say('')
}

function report(session: Session, seed: number): void {
  const { place, variants, agent, measured, failures, startedAt, complete } = session
  if (failures.length > 0) process.exitCode = 1
  if (measured.length === 0) return
  const rows = rowsOf(measured)
  console.log(`\n${place} ${versionIn(agent)}; medians of ${rows[0]!.starts} starts, milliseconds\n`)
  console.log(formatTables(rows))
  const contenders = [...new Set(variants.map(({ contender }) => contender))].map(factsOf)
  const file = {
    schema: 'pannier-first-rows',
    version: 1,
    place,
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    complete,
    environment: recordEnvironment(place, agent, contenders, { seed, features: [] }),
    measured,
    rows,
    failures,
  }
  const folder = join(import.meta.dirname, '../results/first-rows')
  mkdirSync(folder, { recursive: true })
  const name = `${file.startedAt.replaceAll(':', '-').slice(0, 19)}-${place}.json`
  writeFileSync(join(folder, name), `${JSON.stringify(file)}\n`)
}

/** Says a line that the next one replaces. */
function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
