/** `npm run bench -- pocketbase`: PocketBase's REST on Pannier beside the real PocketBase, in turns. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from '../../tools/checks/build.ts'
import { root } from '../../tools/checks/packages.ts'
import { makeFolder } from '../../tools/processes.ts'
import { findPocketBase, VERSION } from '../../tools/test/pocketbase.ts'
import { choose, list, optionsOrUsage, readCount } from '../options.ts'
import { makeBlog, makePosts } from './blog.ts'
import { ApiClient } from './client.ts'
import { runConnections } from './connections.ts'
import { answersDiffer, end, race, raceAfresh, start } from './race.ts'
import type { Conditions, Entrant, Round } from './race.ts'
import { filledFolder, pannierIn, pocketBaseAt, SUPERUSER, SUPERUSER_PASSWORD } from './servers.ts'
import type { Program, Server } from './servers.ts'
import { runStorms } from './storm.ts'
import { formatMemory, formatTable, type Figures } from './table.ts'
import { WARM_UP_OF_LAST, WORKLOADS } from './workloads.ts'

const NAMES = new Map(WORKLOADS.map(({ name }) => [name.replaceAll(',', ''), name]))
const USAGE = `Usage: npm run bench -- pocketbase [OPTIONS]

Requests a second of Pannier and PocketBase, with the data of PocketBase's benchmark. Bars hold for 100000 posts. Linux only.

  --pocketbase FILE    PocketBase's program (default: the environment's POCKETBASE, or what Go makes)
  --before FOLDER      another checkout of Pannier that is built, as a third server
  --alone              without PocketBase
  --posts N[,N]        sizes (default 10000,100000)
  --rounds N           of each workload, in turns, after one that does not count; medians count (default 3)
  --seconds N          of a round, or 2000 requests (default 1)
  --indexes            make the indexes that a user of PocketBase would make, on all
  --new-connections    a connection for each request
  --writes N           creates and updates a second beside each workload (default 0)
  --only NAME[,NAME]   ${[...NAMES.keys()].join('; ')}
  --storms             instead: lists during 200 logins at once, a cold storm and N rounds
  --connections N      instead: memory and messages of N connections of realtime
  --data FOLDER        keep the filled databases there, and use those that are there
  --fill               only fill them
  --built              measure what is built
  --json FILE          write all rounds there, beside those of other workloads; of one size
  --help               print this`

const ENVIRONMENT = { node: process.version, processor: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length }

interface Report {
  readonly at: string
  readonly environment: typeof ENVIRONMENT
  readonly conditions: object
  readonly figures: readonly Figures[]
}

interface Options extends Omit<Conditions, 'posts'> {
  readonly programs: readonly Program[]
  readonly sizes: readonly number[]
  readonly only: readonly string[]
  readonly storms: boolean
  readonly connections: number | undefined
  readonly data: string
  readonly fillOnly: boolean
  readonly isBuilt: boolean
  readonly json: string | undefined
}

export async function main(parameters: readonly string[]): Promise<void> {
  const options = optionsOrUsage(USAGE, () => readOptions(parameters))
  if (options === undefined) return
  if (!options.isBuilt) await build()
  for (const posts of options.sizes) {
    const entrants: Entrant[] = []
    for (const program of options.programs) entrants.push(await fill(program, posts, options.data))
    if (options.fillOnly) continue
    if (options.storms) await runStorms(entrants, { ...options, posts })
    if (options.connections !== undefined) await runConnections(entrants, { ...options, posts }, options.connections)
    if (options.storms || options.connections !== undefined) continue
    const figures = await measure(entrants, { ...options, posts }, options.only)
    if (options.json !== undefined) write(options.json, { ...options, posts }, figures)
  }
}

/** Beside the figures of other workloads, under the same conditions, that are in the file. */
function write(
  file: string,
  { posts, indexes, keepAlive, writes, seconds }: Conditions,
  figures: readonly Figures[],
): void {
  const conditions = { posts, indexes, keepAlive, writes, seconds, pocketbase: VERSION }
  const old = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined
  const isSame = JSON.stringify(old?.conditions) === JSON.stringify(conditions)
  const others = isSame ? old!.figures.filter(({ workload }) => figures.every((one) => one.workload !== workload)) : []
  const report: Report = {
    at: new Date().toISOString(),
    environment: ENVIRONMENT,
    conditions,
    figures: [...others, ...figures],
  }
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(report, null, 1)}\n`)
}

/** Undefined: help was asked for. Throws an error that says what is wrong. */
function readOptions(parameters: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      pocketbase: { type: 'string', default: '' },
      before: { type: 'string' },
      alone: { type: 'boolean', default: false },
      posts: { type: 'string', default: '10000,100000' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '1' },
      indexes: { type: 'boolean', default: false },
      'new-connections': { type: 'boolean', default: false },
      writes: { type: 'string', default: '0' },
      only: { type: 'string', default: '' },
      storms: { type: 'boolean', default: false },
      connections: { type: 'string' },
      data: { type: 'string' },
      fill: { type: 'boolean', default: false },
      built: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const programs = [pannierIn(root, 'pannier')]
  if (values.before !== undefined) programs.push(pannierIn(values.before, 'before'))
  if (!values.alone) programs.push(readPocketBase(values.pocketbase))
  if (values.json !== undefined && list(values.posts).length !== 1)
    throw new TypeError(`--json must come with one size, got --posts ${values.posts}.`)
  return {
    programs,
    sizes: list(values.posts).map(readCount),
    rounds: readCount(values.rounds),
    seconds: readCount(values.seconds),
    indexes: values.indexes,
    keepAlive: !values['new-connections'],
    writes: values.writes === '0' ? 0 : readCount(values.writes),
    only: choose(list(values.only), [...NAMES.keys()], 'workload', []).map((name) => NAMES.get(name)!),
    storms: values.storms,
    connections: values.connections === undefined ? undefined : readCount(values.connections),
    data: values.data ?? makeFolder('pocketbase-data'),
    fillOnly: values.fill,
    isBuilt: values.built,
    json: values.json,
  }
}

function readPocketBase(file: string): Program {
  const program = file === '' ? findPocketBase() : file
  if (program === undefined) throw new TypeError('--pocketbase must be given: there is no Go to make PocketBase.')
  if (!existsSync(program))
    throw new TypeError(`--pocketbase must be the path of PocketBase's program, got '${program}'.`)
  return pocketBaseAt(program)
}

/** Two checkouts of Pannier share what is filled. */
async function fill(program: Program, posts: number, data: string): Promise<Entrant> {
  const kind = program.name === 'pocketbase' ? 'pocketbase' : 'pannier'
  const folder = await filledFolder(program, join(data, `${kind}-${posts}`), async ({ url }: Server) => {
    const client = new ApiClient(url)
    client.token = await client.logIn(SUPERUSER, SUPERUSER_PASSWORD)
    const started = performance.now()
    await makeBlog(client)
    await makePosts(client, posts)
    console.log(`${program.name}: ${posts} posts made in ${((performance.now() - started) / 1000).toFixed(1)} s`)
    client.close()
  })
  return { program, folder }
}

async function measure(
  entrants: readonly Entrant[],
  conditions: Conditions,
  only: readonly string[],
): Promise<Figures[]> {
  const chosen = WORKLOADS.filter(({ name }) => only.length === 0 || only.includes(name))
  const servers = entrants.map(({ program }) => program.name)
  const figures: Figures[] = []
  const note = (workload: string, results: readonly (readonly Round[])[], differs: boolean): void => {
    for (const [at, rounds] of results.entries()) figures.push({ workload, server: servers[at]!, rounds, differs })
  }
  const contenders = await Promise.all(entrants.map((entrant) => start(entrant, conditions)))
  try {
    for (const workload of chosen.filter(({ isLast }) => isLast !== true)) {
      // Writes beside come at the same rate, not in the same number.
      const differs = conditions.writes === 0 && (await answersDiffer(workload, contenders))
      note(workload.name, await race(workload, contenders, conditions), differs)
    }
    console.log(formatMemory(contenders.map(({ server }) => server)))
  } finally {
    for (const contender of contenders) await end(contender)
  }
  for (const workload of chosen.filter(({ isLast }) => isLast === true))
    note(workload.name, await raceAfresh(workload, WARM_UP_OF_LAST, entrants, conditions), false)
  console.log(formatTable(conditions, servers, figures))
  return figures
}
