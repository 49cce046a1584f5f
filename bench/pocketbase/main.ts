/** `npm run bench -- pocketbase`: PocketBase's REST on Pannier beside the real PocketBase, in turns. */
import { existsSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { build } from '../../tools/checks/build.ts'
import { findPocketBase } from '../../tools/test/pocketbase.ts'
import { alignColumns, formatNumber } from '../bars/table.ts'
import { median } from '../measure.ts'
import { choose, list, readCount } from '../options.ts'
import { makeBlog, makePosts, PASSWORD } from './blog.ts'
import { ApiClient } from './client.ts'
import type { LoadResult } from './client.ts'
import { startPannier, startPocketBase, SUPERUSER, SUPERUSER_PASSWORD } from './servers.ts'
import type { Server } from './servers.ts'
import { INDEXES, WORKLOADS } from './workloads.ts'
import type { Subject, Workload } from './workloads.ts'

const NAMES = new Map(WORKLOADS.map(({ name }) => [name.replaceAll(',', ''), name]))
const USAGE = `Usage: npm run bench -- pocketbase [OPTIONS]

Requests a second of Pannier and PocketBase, with the data of PocketBase's benchmark. Bars hold for 100000 posts.

  --pocketbase FILE    PocketBase's program (default: the environment's POCKETBASE, or what Go makes)
  --posts N[,N]        sizes (default 10000,100000)
  --rounds N           of each workload but the creates, in turns; medians count (default 3)
  --indexes            make the indexes that a user of PocketBase would make, on both
  --new-connections    a connection for each request
  --only NAME[,NAME]   ${[...NAMES.keys()].join('; ')}
  --json FILE          write all figures
  --help               print this`
const BAR_POSTS = 100_000
const MEBIBYTE = 1024 * 1024

interface Options {
  readonly program: string
  readonly posts: readonly number[]
  readonly rounds: number
  readonly indexes: boolean
  readonly keepAlive: boolean
  readonly only: readonly string[]
  readonly json: string | undefined
}

interface Contender {
  readonly server: Server
  readonly client: ApiClient
  readonly subject: Subject
}

interface Figures {
  readonly workload: string
  readonly posts: number
  readonly server: string
  readonly rounds: readonly LoadResult[]
}

export async function main(parameters: readonly string[]): Promise<void> {
  let options: Options | undefined
  try {
    options = readOptions(parameters)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = 2
    return
  }
  if (options === undefined) return console.log(USAGE)
  await build()
  const figures: Figures[] = []
  for (const posts of options.posts) figures.push(...(await measure(posts, options)))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ ...options, figures }, null, 1)}\n`)
}

/** Undefined: help was asked for. Throws an error that says what is wrong. */
function readOptions(parameters: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      pocketbase: { type: 'string', default: '' },
      posts: { type: 'string', default: '10000,100000' },
      rounds: { type: 'string', default: '3' },
      indexes: { type: 'boolean', default: false },
      'new-connections': { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const program = values.pocketbase === '' ? findPocketBase() : values.pocketbase
  if (program === undefined) throw new TypeError('--pocketbase must be given: there is no Go to make PocketBase.')
  if (!existsSync(program))
    throw new TypeError(`--pocketbase must be the path of PocketBase's program, got '${program}'.`)
  return {
    program,
    posts: list(values.posts).map(readCount),
    rounds: readCount(values.rounds),
    indexes: values.indexes,
    keepAlive: !values['new-connections'],
    only: choose(list(values.only), [...NAMES.keys()], 'workload', []).map((name) => NAMES.get(name)!),
    json: values.json,
  }
}

async function measure(posts: number, options: Options): Promise<Figures[]> {
  const servers = [await startPannier(), await startPocketBase(options.program)]
  try {
    const contenders: Contender[] = []
    for (const server of servers) contenders.push(await prepare(server, posts, options))
    const chosen = WORKLOADS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
    const figures: Figures[] = []
    const lines: string[][] = []
    for (const [turn, workload] of chosen.entries()) {
      const differs = await answersDiffer(workload, contenders)
      const results = await race(workload, contenders, turn, options)
      for (const [at, rounds] of results.entries())
        figures.push({ workload: workload.name, posts, server: servers[at]!.name, rounds })
      lines.push(lineOf(workload, results, posts, options, differs))
    }
    const kind = `${options.keepAlive ? 'connections kept' : 'new connections'}${options.indexes ? ', with indexes' : ''}`
    console.log(`\n${posts.toLocaleString('en-US')} posts, ${kind}; requests a second\n`)
    console.log(alignColumns([['', 'pannier', 'pocketbase', 'ratio', 'bar', ''], ...lines], [0, 5]))
    for (const { name, memory } of servers) {
      const { now, peak } = memory()
      console.log(`${name}: ${Math.round(now / MEBIBYTE)} MiB of memory, ${Math.round(peak / MEBIBYTE)} at the most`)
    }
    for (const { client } of contenders) client.close()
    return figures
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function prepare(server: Server, posts: number, { indexes }: Options): Promise<Contender> {
  const client = new ApiClient(server.url)
  client.token = await client.logIn(SUPERUSER, SUPERUSER_PASSWORD)
  const started = performance.now()
  await makeBlog(client)
  await makePosts(client, posts)
  console.log(`${server.name}: ${posts} posts made in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  if (indexes)
    for (const [collection, list] of INDEXES)
      await client.ask({ method: 'PATCH', path: `/api/collections/${collection}`, body: { indexes: list } })
  const userToken = await client.logIn('user0@example.com', PASSWORD, 'people')
  return { server, client, subject: { posts, token: client.token, userToken } }
}

/** Aligned with the contenders. They run one after the other, and who begins changes. */
async function race(
  workload: Workload,
  contenders: readonly Contender[],
  turn: number,
  { rounds, keepAlive }: Options,
): Promise<LoadResult[][]> {
  const { name, requests, concurrency, call, listRule, isLast = false } = workload
  const results: LoadResult[][] = contenders.map(() => [])
  for (const { client } of contenders) await setRule(client, listRule ?? '')
  const repeats = isLast || name.startsWith('create') ? 1 : rounds
  for (let round = 0; round < repeats; round++)
    for (let step = 0; step < contenders.length; step++) {
      const at = (turn + round + step) % contenders.length
      const { client, subject } = contenders[at]!
      const load = { requests, concurrency, keepAlive, call: (index: number) => call(subject, index) }
      results[at]!.push(await client.drive(load))
    }
  for (const { client } of contenders) await setRule(client, '')
  return results
}

async function setRule(client: ApiClient, listRule: string): Promise<void> {
  await client.ask({ method: 'PATCH', path: '/api/collections/posts', body: { listRule } })
}

/** Whether a reading workload gets other records, or another total, from one server than from the other. */
async function answersDiffer(workload: Workload, contenders: readonly Contender[]): Promise<boolean> {
  const first = workload.call(contenders[0]!.subject, 1)
  if (first.method !== undefined) return false
  const answers: string[] = []
  for (const { client, subject } of contenders) {
    await setRule(client, workload.listRule ?? '')
    const answer = await client.ask(workload.call(subject, 1))
    const items = (answer['items'] ?? [answer]) as readonly { readonly id: string }[]
    answers.push(JSON.stringify([answer['totalItems'], items.map(({ id }) => id)]))
    await setRule(client, '')
  }
  return answers[0] !== answers[1]
}

function lineOf(
  { name, bar, barIndexed }: Workload,
  results: readonly (readonly LoadResult[])[],
  posts: number,
  { indexes }: Options,
  differs: boolean,
): string[] {
  const [own, rival] = results.map((rounds) => median(rounds.map(({ perSecond }) => perSecond))) as [number, number]
  const failure = results.flat().find(({ failed }) => failed > 0)
  const ratio = own / rival
  const least = posts === BAR_POSTS ? (indexes ? barIndexed : bar) : undefined
  const remark = failure !== undefined ? `FAILED: ${failure.firstFailure}` : differs ? 'ANSWERS DIFFER' : ''
  return [
    name,
    formatNumber(own),
    formatNumber(rival),
    `${formatNumber(ratio)}x`,
    least === undefined ? '' : `>= ${least}x`,
    remark !== '' ? remark : least !== undefined && ratio < least ? 'MISSED' : '',
  ]
}
