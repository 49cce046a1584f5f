/**
 * The figures of the README (a few) and of docs/internals/performance.md (all), only from bench/results/current/. `npm
 * run bench -- --report` writes them between the two marks; a test compares.
 */
import { factsOf } from '../contenders/catalog.ts'
import type { Place } from '../contenders/catalog.ts'
import type { ResultFile, Row } from '../harness/results.ts'
import { keyOf } from './charts.ts'

const BEGIN = '<!-- figures: npm run bench -- --report -->'
const END = '<!-- end of figures -->'

const PLACES: readonly (readonly [Place, string])[] = [
  ['chromium', 'Chromium'],
  ['firefox', 'Firefox'],
  ['webkit', 'WebKit'],
]
const RIVALS = ['indexed-db', 'dexie', 'rxdb', 'pouchdb-indexeddb', 'sqlite-wasm'] as const
const FEW_METRICS = [
  'bulkInsert',
  'buildIndexes',
  'deepSkip',
  'findIndexedWarm',
  'findIndexedCold',
  'durableWrite',
] as const
const METRICS = [
  'bulkInsert',
  'buildIndexes',
  'count',
  'rangeCount',
  'findUnindexed',
  'deepSkip',
  'findIndexedWarm',
  'findIndexedCold',
  'getCold',
  'durableWrite',
  'coldOpen',
] as const

/** The text with the figures of these results: of one engine, or of all. */
export function withFigures(text: string, files: readonly ResultFile[], extent: 'few' | 'all'): string {
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`the page lacks ${BEGIN} or ${END}`)
  const metrics = extent === 'few' ? FEW_METRICS : METRICS
  const tables = PLACES.flatMap(([place, name]) => {
    const file = files.find((one) => keyOf(one) === place)
    return file === undefined ? [] : [tableOf(file, name, metrics)]
  })
  const shown = extent === 'few' ? tables.slice(0, 1) : tables
  return [before + BEGIN, ...shown, END + after].join('\n\n')
}

function tableOf(
  { environment, startedAt, rows }: ResultFile,
  name: string,
  metrics: readonly (typeof METRICS)[number][],
): string {
  const standard = rows.filter(({ suite }) => suite === 'standard')
  const cell = cellsOf(standard).at(-1)!
  const own = standard.filter((row) => row.cell === cell)
  const rivals = RIVALS.filter((rival) => own.some((row) => row.contender === rival && row.median !== undefined))
  const heads = [`${name} ${environment.engineVersion.split('.')[0]}, ${cell}`, 'Pannier']
  const head = [...heads, ...rivals.map((rival) => factsOf(rival).title)]
  const lines = metrics.flatMap((metric) => {
    const row = own.find((one) => one.metric === metric && one.contender === 'pannier')
    if (row?.median === undefined) return []
    const ratios = rivals.map((rival) => ratioOf(own.find((one) => one.metric === metric && one.contender === rival)))
    return [[row.title, `${numberOf(row.median)} ms`, ...ratios]]
  })
  const { cores, processor } = environment
  return `${markdownOf(head, lines)}\n\n${startedAt.slice(0, 10)}, ${cores} cores, ${processor}.`
}

/** A table in Markdown as the formatter leaves it: all but the first column to the right. */
function markdownOf(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = head.map((text, at) => Math.max(text.length, ...lines.map((cells) => cells[at]!.length)))
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join(' | ')} |`
  return [head, rule, ...lines].map(lineOf).join('\n')
}

/** Fewest documents first. */
function cellsOf(rows: readonly Row[]): string[] {
  const sizeOf = (cell: string): number => Number(cell.replace(/\D/g, ''))
  return [...new Set(rows.map(({ cell }) => cell))].sort((a, b) => sizeOf(a) - sizeOf(b))
}

function ratioOf(row: Row | undefined): string {
  return row?.ratio === undefined ? '–' : `${numberOf(row.ratio.median)}×`
}

function numberOf(value: number): string {
  const options = value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 }
  return value.toLocaleString('en-US', options)
}
