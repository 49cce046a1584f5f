/** `npm run bench -- postgres`: several servers on one PostgreSQL, beside SQLite and a jsonb table with indexes. */
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import { findPostgres, POSTGRES_NEEDED, PostgresServer } from '../../tools/test/postgres.ts'
import { alignColumns } from '../bars/table.ts'
import { choose, list, optionsOrUsage, readCount } from '../options.ts'
import { coldGets, costs, couch, questions, servers, valueOf, writes, type Figure, type World } from './figures.ts'

const FIGURES: Readonly<Record<string, (world: World) => Promise<Figure[]>>> = {
  costs,
  writes,
  servers,
  cold: coldGets,
  questions,
  couch,
}
const NAMES = ['pannier, postgres', 'pannier, sqlite', 'jsonb table', 'PouchDB Server']
const USAGE = `Usage: npm run bench -- postgres [OPTIONS]

Databases on a PostgreSQL of its own that syncs to disk: costs, durable writes, servers among themselves, and questions. Beside them the
same library on SQLite, a jsonb table with GIN and expression indexes, and PouchDB Server for what goes over CouchDB's protocol.

  --only NAME[,NAME]   ${Object.keys(FIGURES).join(', ')} (default: all)
  --documents N        for cold, questions and couch (default 50000)
  --repeats N          of writes, questions and couch; the median counts (default 3)
  --json FILE          write all figures there
  --help               print this`

interface Options {
  readonly only: readonly string[]
  readonly documents: number
  readonly repeats: number
  readonly json: string | undefined
}

export async function main(parameters: readonly string[]): Promise<void> {
  const options = optionsOrUsage(USAGE, () => readOptions(parameters))
  if (options === undefined) return
  if (findPostgres() === undefined) return console.error(`${POSTGRES_NEEDED} is missing.`)
  const { only, documents, repeats, json } = options
  await using server = await PostgresServer.start(['fsync = on', 'shared_buffers = 256MB', 'max_wal_size = 2GB'])
  const folder = makeFolder('bench-postgres')
  const set = { documents, seed: 1, ids: 'random' } as const
  const world = { url: server.make('bench'), folder, set, repeats }
  const figures: Figure[] = []
  for (const name of only) figures.push(...(await FIGURES[name]!(world)))
  removeFolder(folder)
  const rows = figures.map((figure) => [figure.what, ...NAMES.map((name) => valueOf(figure, name)), figure.bar])
  console.log(alignColumns([['figure', ...NAMES, 'bar'], ...rows], [0, 5]))
  console.log(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, ${documents} documents`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(figures, undefined, 2)}\n`)
}

/** Undefined: help was asked for. Throws a TypeError that says what is wrong. */
function readOptions(parameters: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      only: { type: 'string', default: '' },
      documents: { type: 'string', default: '50000' },
      repeats: { type: 'string', default: '3' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const names = Object.keys(FIGURES)
  return {
    only: choose(list(values.only), names, 'figure', names),
    documents: readCount(values.documents),
    repeats: readCount(values.repeats),
    json: values.json,
  }
}
