/** `npm run bench -- sync`: ruled sync with its clients, beside what others have in its place. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from '../../tools/checks/build.ts'
import { root } from '../../tools/checks/packages.ts'
import { makeFolder } from '../../tools/processes.ts'
import { findPocketBase, VERSION } from '../../tools/test/pocketbase.ts'
import { choose, list, optionsOrUsage, readCount } from '../options.ts'
import { pannierIn, pocketBaseAt, type Program } from '../pocketbase/servers.ts'
import { fill } from './fill.ts'
import { firstSync } from './first-sync.ts'
import { live, openSessions } from './live.ts'
import { listAll } from './pages.ts'
import { pouchSyncs } from './pouchdb.ts'
import { restart } from './restart.ts'
import { revoked } from './revoked.ts'
import {
  formatLines,
  linesOfFirstSync,
  linesOfLive,
  linesOfOpen,
  linesOfPages,
  linesOfPouch,
  linesOfRestart,
  linesOfRevoked,
  type Line,
} from './table.ts'
import { MEMBERS, SMALL_PROJECTS, USERS, World } from './world.ts'

const FIGURES = ['first', 'pages', 'pouchdb', 'revoked', 'open', 'live', 'restart']
const USAGE = `Usage: npm run bench -- sync [OPTIONS]

What an account of a rule over relations sees, synced: the first time, while it is live, when it is revoked, and after a restart.
Bars hold for 1000000 documents, of which Anna sees 100000, and for 10000 sessions. Linux only.

  --only NAME[,NAME]    ${FIGURES.join(', ')} (default: all)
  --documents N         for first, pages and revoked, in thousands (default 100000)
  --sessions N[,N]      for open and live (default 100,1000,10000), at most ${USERS}
  --clients N           for restart (default 10000)
  --live-documents N    for open, live and restart, in thousands (default 20000)
  --pouchdb-documents N for pouchdb, in thousands (default 10000)
  --rates N[,N]         commits a second with the most sessions (default 200,1000)
  --seconds N           of each rate (default 5)
  --pocketbase FILE     PocketBase's program (default: the environment's POCKETBASE, or what Go makes)
  --alone               without PocketBase
  --data FOLDER         keep the filled databases there, and use those that are there
  --built               measure what is built
  --json FILE           write all figures there
  --help                print this`

interface Options {
  readonly only: readonly string[]
  readonly world: World
  readonly liveWorld: World
  readonly pouchWorld: World
  readonly sessions: readonly number[]
  readonly clients: number
  readonly rates: readonly number[]
  readonly seconds: number
  readonly pannier: Program
  readonly pocketbase: Program | undefined
  readonly data: string
  readonly isBuilt: boolean
  readonly json: string | undefined
}

export async function main(parameters: readonly string[]): Promise<void> {
  const options = optionsOrUsage(USAGE, () => readOptions(parameters))
  if (options === undefined) return
  if (!options.isBuilt) await build()
  const lines: Line[] = []
  for (const name of FIGURES) {
    if (!options.only.includes(name)) continue
    const load = loadavg()[0]!.toFixed(1)
    const measured = await measure(name, options)
    console.log(`\n${formatLines(measured)}\n(load of the machine before: ${load})`)
    lines.push(...measured)
  }
  if (options.json !== undefined) write(options, lines)
}

async function measure(name: string, options: Options): Promise<Line[]> {
  const { world, liveWorld, pouchWorld, pannier, pocketbase, data, sessions: sizes, rates, seconds, clients } = options
  const each = async (of: World, run: (program: Program, folder: string) => Promise<Line[]>): Promise<Line[]> => {
    const lines: Line[] = []
    for (const program of [pannier, ...(pocketbase === undefined ? [] : [pocketbase])])
      lines.push(...(await run(program, await fill(program, of, data))))
    return lines
  }
  switch (name) {
    case 'first':
      return linesOfFirstSync(world.visibleToAnna, await firstSync(pannier, await fill(pannier, world, data), world))
    case 'pages':
      return each(world, async (program, folder) => linesOfPages(program.name, await listAll(program, folder, world)))
    case 'pouchdb':
      return linesOfPouch(await pouchSyncs(pouchWorld))
    case 'revoked':
      return linesOfRevoked(world.bigTasks, await revoked(pannier, await fill(pannier, world, data), world))
    case 'open':
      return each(liveWorld, async (program, folder) =>
        linesOfOpen(program.name, await openSessions(program, folder, Math.max(...sizes))),
      )
    case 'live':
      return each(liveWorld, async (program, folder) =>
        linesOfLive(program.name, await live(program, folder, liveWorld, { sizes, rates, seconds })),
      )
    default: {
      const folder = await fill(pannier, liveWorld, data)
      return linesOfRestart('pannier', await restart(pannier, folder, liveWorld, clients))
    }
  }
}

function write({ json }: Options, lines: readonly Line[]): void {
  mkdirSync(dirname(json!), { recursive: true })
  const environment = { node: process.version, processor: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length }
  const report = { at: new Date().toISOString(), environment, pocketbase: VERSION, lines }
  writeFileSync(json!, `${JSON.stringify(report, null, 1)}\n`)
}

/** Undefined: help was asked for. Throws an error that says what is wrong. */
function readOptions(parameters: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      only: { type: 'string', default: '' },
      documents: { type: 'string', default: '100000' },
      sessions: { type: 'string', default: '100,1000,10000' },
      clients: { type: 'string', default: '10000' },
      'live-documents': { type: 'string', default: '20000' },
      'pouchdb-documents': { type: 'string', default: '10000' },
      rates: { type: 'string', default: '200,1000' },
      seconds: { type: 'string', default: '5' },
      pocketbase: { type: 'string', default: '' },
      alone: { type: 'boolean', default: false },
      data: { type: 'string' },
      built: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const found = values.alone ? undefined : values.pocketbase || findPocketBase()
  return {
    only: choose(list(values.only), FIGURES, 'figure', FIGURES),
    world: worldOf(values.documents),
    liveWorld: worldOf(values['live-documents']),
    pouchWorld: worldOf(values['pouchdb-documents']),
    sessions: list(values.sessions).map(readSessions),
    clients: readSessions(values.clients),
    rates: list(values.rates).map(readCount),
    seconds: readCount(values.seconds),
    pannier: pannierIn(root, 'pannier'),
    pocketbase: found === undefined ? undefined : pocketBaseAt(found),
    data: values.data ?? makeFolder('sync-data'),
    isBuilt: values.built,
    json: values.json,
  }
}

function worldOf(text: string): World {
  const documents = readCount(text)
  if (documents % SMALL_PROJECTS !== 0) throw new TypeError(`Documents must be in thousands, got ${text}.`)
  return new World(documents)
}

function readSessions(text: string): number {
  const count = readCount(text)
  if (count > USERS || count % MEMBERS !== 0)
    throw new TypeError(`Sessions must be in tens, at most ${USERS}, got ${text}.`)
  return count
}
