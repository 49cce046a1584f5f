/**
 * Compares Pannier with what a careful programmer would build on the same storage: plain IndexedDB in three browser
 * engines, node:sqlite in Node. Both do the same work on the same documents in turns, so that ratios hold on a noisy
 * machine.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import type { DataSet, IdOrder } from '../documents.ts'
import type { Place } from '../contenders/catalog.ts'
import { obstacleIn, PLACES } from '../places.ts'
import { rivalIn, runPhaseIn } from './engines.ts'
import { makePerson } from '../documents.ts'
import type { ContenderName, Outcomes } from './phase.ts'
import { comparisonIn, formatTable } from './table.ts'
import { phases } from './workloads.ts'

const CONTENDERS: readonly string[] = [...new Set(['pannier', 'pannier-encrypted', ...PLACES.map(rivalIn)])]

const USAGE = `Usage: npm run bench -- --bars [OPTIONS] [ENGINE …]

Engines: ${PLACES.join(', ')} (default: all). Prints a table per engine and writes the figures to bench/results/bars/.

  --documents N   how many documents are stored (default 100000)
  --repeat N      how often each contender runs, in turn with the other (default 2)
  --ids ORDER     'random' (default) or 'ascending' with insertion
  --seed N        of the documents (default 1)
  --encrypted     an encrypted database against a plain one
  --only NAME     one contender alone: ${CONTENDERS.join(', ')}
  --opfs          Pannier in the private file system of the browser
  --until PHASE   stop after this phase: ${phases.map((phase) => phase.name).join(', ')}
  --help          print this

In the table, a ratio above 1 means that Pannier is faster, ± is the distance of the farthest repeat from the median,
"near" is a bar missed by less than 10%. WebKit is reported and not held to the bars.`

interface Options {
  readonly set: DataSet
  readonly places: readonly Place[]
  readonly repeats: number
  readonly isEncrypted: boolean
  readonly only: string | undefined
  readonly until: string | undefined
  readonly opfs: boolean
}

/** Everything that one contender did in one repeat, by workload. */
interface Run {
  readonly contender: ContenderName
  readonly agent: string
  readonly outcomes: Outcomes
}

await main()

async function main(): Promise<void> {
  let options: Options | undefined
  try {
    options = readOptions()
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
  if (options === undefined) return console.log(USAGE)
  for (const place of options.places) {
    const obstacle = obstacleIn(place)
    if (obstacle === undefined) await measure(place, options)
    else console.log(`\n${place}: left out (${obstacle})`)
  }
}

function readOptions(): Options | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      documents: { type: 'string', default: '100000' },
      repeat: { type: 'string', default: '2' },
      ids: { type: 'string', default: 'random' },
      seed: { type: 'string', default: '1' },
      encrypted: { type: 'boolean', default: false },
      only: { type: 'string' },
      until: { type: 'string' },
      opfs: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const places = positionals.length === 0 ? PLACES : PLACES.filter((place) => positionals.includes(place))
  const unknown = positionals.find((name) => !(PLACES as readonly string[]).includes(name))
  if (unknown !== undefined) throw new TypeError(`there is no engine ${unknown}`)
  if (values.ids !== 'random' && values.ids !== 'ascending') throw new TypeError(`there is no order ${values.ids}`)
  if (values.only !== undefined && !CONTENDERS.includes(values.only)) throw new TypeError(`there is no ${values.only}`)
  if (values.until !== undefined && !phases.some((phase) => phase.name === values.until)) {
    throw new TypeError(`there is no phase ${values.until}`)
  }
  return {
    set: { documents: readCount(values.documents), seed: readCount(values.seed), ids: values.ids satisfies IdOrder },
    places,
    repeats: readCount(values.repeat),
    isEncrypted: values.encrypted,
    only: values.only,
    until: values.until,
    opfs: values.opfs,
  }
}

function readCount(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new TypeError(`${text} is not a number of anything`)
  return number
}

async function measure(place: Place, options: Options): Promise<void> {
  const comparison = comparisonIn(place, options.isEncrypted, options.opfs)
  const contenders = [comparison.rival, comparison.subject].filter((name) => (options.only ?? name) === name)
  const runs: Run[] = []
  for (let repeat = 1; repeat <= options.repeats; repeat++) {
    for (const contender of contenders) {
      say(`${place} ${repeat}/${options.repeats} ${contender}`)
      runs.push(await runContender(place, contender, options))
    }
  }
  const title = describe(place, runs, options)
  const { samples, wrong } = summarise(runs)
  say('')
  console.log(`\n${title}\n\n${formatTable(comparison, samples, wrong)}`)
  if (wrong.size > 0) process.exitCode = 1
  writeResults(place, { title, options, samples, wrong: [...wrong], runs })
}

async function runContender(place: Place, contender: ContenderName, { set, until, opfs }: Options): Promise<Run> {
  const folder = makeFolder('bench')
  let agent = ''
  let outcomes: Outcomes = {}
  for (const phase of phases) {
    const report = await runPhaseIn(place, folder, {
      contender,
      phase: phase.name,
      set,
      ...(opfs && { storage: 'opfs' as const }),
    })
    agent = report.agent
    outcomes = { ...outcomes, ...report.outcomes }
    if (phase.name === until) break
  }
  removeFolder(folder)
  return { contender, agent, outcomes }
}

function describe(place: Place, runs: readonly Run[], { set, repeats, opfs }: Options): string {
  const version = /(?:Node\.js|Chrome|Firefox|Version)\/([\d.]+)/.exec(runs[0]?.agent ?? '')?.[1] ?? ''
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim() ?? 'unknown'}`
  const bytes = JSON.stringify(makePerson(set, 0)).length
  const documents = `${set.documents.toLocaleString('en-US')} documents of some ${bytes} bytes, ${set.ids} ids`
  return `${place} ${version}${opfs ? ', OPFS' : ''}; ${machine}\n${documents}; median of ${repeats}`
}

/** Times by contender and metric, and the metrics of workloads that were not answered alike by all. */
function summarise(runs: readonly Run[]): {
  samples: Partial<Record<ContenderName, Record<string, number[]>>>
  wrong: Set<string>
} {
  const samples: Partial<Record<ContenderName, Record<string, number[]>>> = {}
  const wrong = new Set<string>()
  for (const { contender, outcomes } of runs) {
    const own = (samples[contender] ??= {})
    for (const [workload, { times, answer }] of Object.entries(outcomes)) {
      const alike = runs.every((run) => run.outcomes[workload]?.answer === answer)
      for (const [metric, milliseconds] of Object.entries(times)) {
        ;(own[metric] ??= []).push(milliseconds)
        if (!alike) wrong.add(metric)
      }
    }
  }
  return { samples, wrong }
}

function writeResults(place: Place, results: object): void {
  const folder = join(import.meta.dirname, '../results/bars')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}-${place}.json`)
  writeFileSync(file, JSON.stringify(results, undefined, 1))
}

/** Says a line that the next one replaces. */
function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
