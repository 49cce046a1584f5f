/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util'
import { CONTENDERS } from './contenders/catalog.ts'
import type { Place } from './contenders/catalog.ts'
import { DISK_METRIC } from './harness/results.ts'
import { PLACES } from './places.ts'
import { SUITES } from './suites/suites.ts'

const WORKLOADS: readonly string[] = [
  ...new Set(SUITES.flatMap((suite) => suite.phases.flatMap((phase) => phase.workloads.map(({ name }) => name)))),
  DISK_METRIC.name,
]
const CORE = CONTENDERS.filter((facts) => facts.core).map((facts) => facts.name)
const DOCUMENTS_DEFAULT = '10000'
const DOCUMENTS_FULL = '1000,10000,100000'
const MINUTES_DEFAULT = 5
const REPEATS_FULL = 5
/** The most repeats: the time limit ends a run that has none. */
const REPEATS_MAX = 1_000

export const USAGE: string = `Usage: npm run bench -- [OPTIONS] [PLACE …]

Places: ${PLACES.join(', ')} (default: all that are installed). Without options it takes about ${MINUTES_DEFAULT} minutes: as many repeats of
the main contenders as fit. Writes bench/results/history/*.json and bench/results/report.html. Ctrl-C keeps what was measured.

  --full               all contenders and presets, ${DOCUMENTS_FULL} documents, ${REPEATS_FULL} repeats: hours
  --documents N[,N]    sizes (default ${DOCUMENTS_DEFAULT}), up to 1000000
  --repeat N           so many repeats, however long they take
  --minutes N          so many minutes for all places together (default ${MINUTES_DEFAULT} unless --full or --repeat)
  --only NAME[,NAME]   these workloads only
  --contenders N[,N]   these contenders only, or 'all' (default: the main ones)
  --suite NAME[,NAME]  ${SUITES.map((suite) => suite.name).join(', ')} (default: standard)
  --features NAME      of Chromium, e.g. IdbSqliteBackingStore: IndexedDB as it will be
  --seed N             of the documents (default 1)
  --keep               also replace what bench/results/current/ holds of these places (committed)
  --name NAME          of the results, so that --keep puts them beside the others of their place: million, presets
  --report             make the report and the figures of the docs again from bench/results/current/
  --bars               the table of bars instead: npm run bench -- --bars --help
  first-rows           what a person waits for when an app starts, instead: npm run bench -- first-rows --help
  relations            queries over relations, instead: npm run bench -- relations --help
  pocketbase           PocketBase's REST beside PocketBase, instead: npm run bench -- pocketbase --help
  sync                 sync by rules beside what others have, instead: npm run bench -- sync --help
  postgres             databases on PostgreSQL beside SQLite and a jsonb table, instead: npm run bench -- postgres --help
  admin                the processor time of each action on the admin page, instead: npm run bench -- admin --help
  --help               print this

Contenders: ${CONTENDERS.map(({ name, core }) => (core ? `${name}*` : name)).join(', ')} (*: main)
Workloads: ${WORKLOADS.join(', ')}`

export interface BenchOptions {
  readonly places: readonly Place[]
  readonly full: boolean
  readonly documents: readonly number[]
  readonly repeats: number
  /** For all places together. */
  readonly minutes: number | undefined
  readonly only: readonly string[]
  readonly contenders: readonly string[]
  readonly suites: readonly string[]
  readonly seed: number
  readonly features: readonly string[]
  readonly keep: boolean
  readonly name: string | undefined
  readonly reportOnly: boolean
}

/** Undefined: help was asked for. Throws a TypeError that says what is wrong. */
export function readOptions(parameters: readonly string[]): BenchOptions | undefined {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      full: { type: 'boolean', default: false },
      documents: { type: 'string' },
      repeat: { type: 'string' },
      minutes: { type: 'string' },
      only: { type: 'string', default: '' },
      contenders: { type: 'string' },
      suite: { type: 'string' },
      features: { type: 'string', default: '' },
      seed: { type: 'string', default: '1' },
      keep: { type: 'boolean', default: false },
      name: { type: 'string' },
      report: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { full } = values
  const suites = SUITES.map((suite) => suite.name)
  const contenders = CONTENDERS.map((facts) => facts.name)
  const minutes = full || values.repeat !== undefined ? undefined : MINUTES_DEFAULT
  const repeats = full ? REPEATS_FULL : REPEATS_MAX
  return {
    places: choose(positionals, PLACES, 'place', PLACES),
    full,
    documents: list(values.documents ?? (full ? DOCUMENTS_FULL : DOCUMENTS_DEFAULT)).map(readCount),
    repeats: values.repeat === undefined ? repeats : readCount(values.repeat),
    minutes: values.minutes === undefined ? minutes : readCount(values.minutes),
    only: choose(list(values.only), WORKLOADS, 'workload', []),
    contenders:
      values.contenders === 'all' || (full && values.contenders === undefined)
        ? contenders
        : choose(list(values.contenders ?? ''), contenders, 'contender', CORE),
    suites: choose(list(values.suite ?? ''), suites, 'suite', full ? suites : ['standard']),
    seed: readCount(values.seed),
    features: list(values.features),
    keep: values.keep,
    name: readName(values.name),
    reportOnly: values.report,
  }
}

/**
 * The options that `read` makes of the command line. Undefined: help was asked for, or a mistake was said, and there is nothing more to
 * do.
 */
export function optionsOrUsage<T>(usage: string, read: () => T | undefined): T | undefined {
  try {
    const options = read()
    if (options === undefined) console.log(usage)
    return options
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exitCode = 2
    return undefined
  }
}

/** Returns the chosen ones in the order of `all`. */
export function choose<T extends string>(
  names: readonly string[],
  all: readonly T[],
  kind: string,
  fallback: readonly T[],
): readonly T[] {
  const unknown = names.find((name) => !(all as readonly string[]).includes(name))
  if (unknown !== undefined) throw new TypeError(`there is no ${kind} ${unknown}`)
  return names.length === 0 ? fallback : all.filter((name) => names.includes(name))
}

export function list(text: string): string[] {
  return text.split(',').filter((part) => part !== '')
}

function readName(name: string | undefined): string | undefined {
  if (name !== undefined && !/^[a-z][a-z0-9-]*$/.test(name)) throw new TypeError(`${name} is no name of a file`)
  return name
}

export function readCount(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new TypeError(`${text} is not a number of anything`)
  return number
}
