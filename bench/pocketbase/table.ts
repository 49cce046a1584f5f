/** The table of the measured figures, with the bars. */
import { alignColumns, formatNumber } from '../bars/table.ts'
import { median } from '../measure.ts'
import type { Conditions, Round } from './race.ts'
import type { Server, ServerName } from './servers.ts'
import { WORKLOADS, type Workload } from './workloads.ts'

/** All rounds of one workload on one server. */
export interface Figures {
  readonly workload: string
  readonly server: ServerName
  readonly rounds: readonly Round[]
  /** The servers did not give the same records. */
  readonly differs: boolean
}

const BAR_POSTS = 100_000
const MEBIBYTE = 1024 * 1024

export function formatTable(
  conditions: Conditions,
  servers: readonly ServerName[],
  figures: readonly Figures[],
): string {
  const { posts, keepAlive, indexes, writes } = conditions
  const heads = servers.flatMap((server) => [`${server}/s`, 'p50 ms', 'CPU ms'])
  const rivals = servers.slice(1)
  const head = ['', ...heads, ...rivals.map((server) => `by ${server}`), 'bar', '']
  const lines = WORKLOADS.flatMap((workload) => {
    const own = figures.filter((each) => each.workload === workload.name)
    return own.length === 0 ? [] : [lineOf(workload, own, conditions)]
  })
  const title = [
    `${posts.toLocaleString('en-US')} posts`,
    keepAlive ? 'connections kept' : 'new connections',
    ...(indexes ? ['with indexes'] : []),
    ...(writes === 0 ? [] : [`${writes} writes a second beside`]),
  ]
  return `\n${title.join(', ')}; medians of rounds\n\n${alignColumns([head, ...lines], [0, head.length - 1])}\n`
}

function lineOf(workload: Workload, figures: readonly Figures[], conditions: Conditions): string[] {
  const middle = ({ rounds }: Figures, of: (round: Round) => number): number => median(rounds.map(of))
  const rate = (one: Figures): number => middle(one, ({ perSecond }) => perSecond)
  const [own, ...rivals] = figures as [Figures, ...Figures[]]
  const ratios = rivals.map((rival) => rate(own) / rate(rival))
  const bar = barOf(workload, conditions)
  const isMissed = bar !== undefined && figures.at(-1)!.server === 'pocketbase' && ratios.at(-1)! < bar
  return [
    workload.name,
    ...figures.flatMap((one) => [
      formatNumber(rate(one)),
      formatNumber(middle(one, ({ p50Ms }) => p50Ms)),
      formatNumber(middle(one, ({ processorMsPerRequest }) => processorMsPerRequest)),
    ]),
    ...ratios.map((ratio) => `${formatNumber(ratio)}x`),
    bar === undefined ? '' : `>= ${bar}x`,
    remarksOn(figures, isMissed).join('; '),
  ]
}

function remarksOn(figures: readonly Figures[], isMissed: boolean): string[] {
  const rounds = figures.flatMap((each) => each.rounds)
  const failure = rounds.find(({ failed }) => failed > 0)
  const remarks = isMissed ? ['MISSED'] : []
  if (failure !== undefined) remarks.push(`FAILED: ${failure.firstFailure}`)
  if (figures.some(({ differs }) => differs)) remarks.push('ANSWERS DIFFER')
  if (rounds.some(({ longestMs }) => longestMs !== undefined)) {
    const longest = figures.map((each) => median(each.rounds.map(({ longestMs = 0 }) => longestMs)))
    remarks.push(`others waited ${longest.map(formatNumber).join(', ')} ms at most`)
  }
  return remarks
}

function barOf({ bar, barIndexed = bar, barSmall }: Workload, { posts, indexes }: Conditions): number | undefined {
  return posts === BAR_POSTS ? (indexes ? barIndexed : bar) : barSmall
}

export function formatMemory(servers: readonly Server[]): string {
  return servers
    .map(({ name, memory }) => {
      const { now, peak } = memory()
      return `${name}: ${Math.round(now / MEBIBYTE)} MiB of memory, ${Math.round(peak / MEBIBYTE)} at the most`
    })
    .join('\n')
}
