/** `npm run bench -- relations`: queries over relations, beside SQLite with proper tables in Node. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import { alignColumns, formatNumber } from '../bars/table.ts'
import type { Place } from '../contenders/catalog.ts'
import { choose, list, optionsOrUsage, readCount } from '../options.ts'
import { databaseIn, obstacleIn, PLACES, runProgram, type Program } from '../places.ts'
import type { RelationsReport, RelationsRequest } from './measure.ts'
import { WORKLOADS } from './workloads.ts'

const USAGE = `Usage: npm run bench -- relations [OPTIONS] [PLACE …]

A page of 30 and the total for questions over relations: warm, milliseconds. Bars hold for 100,000 posts.
Places: ${PLACES.join(', ')} (default: node, chromium). In Node SQLite answers the same.

  --posts N[,N]        sizes (default 10000,100000)
  --only NAME[,NAME]   ${WORKLOADS.map(({ name }) => name.replaceAll(',', '')).join('; ')}
  --seed N             of the blog (default 1)
  --writes N           posts written a second while all is asked once more (default 0: not at all)
  --help               print this`

const PROGRAM: Program = {
  page: join(import.meta.dirname, 'page.ts'),
  node: join(import.meta.dirname, 'node-process.ts'),
  waitMsMax: 600_000,
}
const BAR_POSTS = 100_000

export async function main(parameters: readonly string[]): Promise<void> {
  const options = optionsOrUsage(USAGE, () => readOptions(parameters))
  if (options === undefined) return
  for (const place of options.places) {
    const obstacle = obstacleIn(place)
    if (obstacle !== undefined) console.log(`${place}: left out (${obstacle})`)
    else for (const posts of options.posts) await measure(place, posts, options)
  }
}

interface Options {
  readonly places: readonly Place[]
  readonly posts: readonly number[]
  readonly only: readonly string[]
  readonly seed: number
  readonly writes: number
}

/** Undefined: help was asked for. Throws a TypeError that says what is wrong. */
function readOptions(parameters: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: {
      posts: { type: 'string', default: '10000,100000' },
      only: { type: 'string', default: '' },
      seed: { type: 'string', default: '1' },
      writes: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const names = new Map(WORKLOADS.map(({ name }) => [name.replaceAll(',', ''), name]))
  return {
    places: choose(positionals, PLACES, 'place', ['node', 'chromium']),
    posts: list(values.posts).map(readCount),
    only: choose(list(values.only), [...names.keys()], 'workload', []).map((name) => names.get(name)!),
    seed: readCount(values.seed),
    writes: values.writes === '0' ? 0 : readCount(values.writes),
  }
}

async function measure(place: Place, posts: number, { only, seed, writes }: Options): Promise<void> {
  const reports: RelationsReport[] = []
  const contenders = place === 'node' ? ['pannier', 'node-sqlite'] : ['pannier']
  for (const contender of contenders) {
    const folder = makeFolder('relations')
    const request: RelationsRequest = {
      contender,
      place: databaseIn(place, folder),
      size: { posts, seed },
      only,
      writes,
    }
    reports.push((await runProgram(place, PROGRAM, folder, request)) as RelationsReport)
    removeFolder(folder)
  }
  const [own, rival] = reports as [RelationsReport, RelationsReport | undefined]
  const lines = WORKLOADS.filter(({ name }) => name in own.outcomes).map(({ name, barMs }) => {
    const outcome = own.outcomes[name]!
    const other = rival?.outcomes[name]
    const bothTimes = typeof outcome === 'number' && typeof other === 'number'
    const bar = posts === BAR_POSTS ? `<= ${barMs}` : ''
    const missed = bar !== '' && !(typeof outcome === 'number' && outcome <= barMs)
    return [
      name,
      format(outcome),
      bar,
      missed ? 'MISSED' : '',
      format(other),
      bothTimes ? `${formatNumber(other / outcome)}x` : '',
      format(own.whileWriting[name]),
    ]
  })
  console.log(`\n${place}, ${posts.toLocaleString('en-US')} posts; milliseconds, warm\n`)
  console.log(
    alignColumns(
      [
        [
          '',
          'pannier',
          'bar',
          '',
          rival === undefined ? '' : 'node-sqlite',
          'ratio',
          writes > 0 ? `${writes} writes/s` : '',
        ],
        ...lines,
      ],
      [0, 3],
    ),
  )
}

function format(outcome: number | string | undefined): string {
  return typeof outcome === 'number' ? formatNumber(outcome) : (outcome ?? '')
}
