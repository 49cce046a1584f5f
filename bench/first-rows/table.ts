/** The table of a place: a line for each variant, in milliseconds, by way and number of documents. */
import { median, quantile } from '../measure.ts'
import { alignColumns, formatNumber } from '../bars/table.ts'
import type { Start } from './starter.ts'

/** One start, and what it was of. */
export interface Measured extends Pick<Start, 'values'> {
  readonly variant: string
  readonly way: string
  readonly documents: number
  /** The number of the start, from 1. */
  readonly start: number
}

export interface Row {
  readonly variant: string
  readonly way: string
  readonly documents: number
  readonly starts: number
  /** The medians by column. */
  readonly medians: Readonly<Record<string, number>>
  readonly p90: number
  /** The ratio to Pannier's total, start by start: the median. */
  readonly ratio?: number
}

const REFERENCE = 'pannier'

export function rowsOf(measured: readonly Measured[]): Row[] {
  const groups = Map.groupBy(measured, ({ way, documents }) => `${way} ${documents}`)
  return [...groups.values()].flatMap((group) =>
    [...Map.groupBy(group, ({ variant }) => variant).values()].map((own) => rowOf(own, group)),
  )
}

function rowOf(own: readonly Measured[], group: readonly Measured[]): Row {
  const { variant, way, documents, values } = own[0]!
  const totals = own.map((one) => one.values['total']!)
  const columns = Object.keys(values).map((column) => [column, median(own.map((one) => one.values[column]!))])
  const ratios = own.flatMap(({ start, values: { total } }) => {
    const reference = group.find((one) => one.variant === REFERENCE && one.start === start)?.values['total']
    return reference === undefined ? [] : [total! / reference]
  })
  return {
    variant,
    way,
    documents,
    starts: own.length,
    medians: Object.fromEntries(columns) as Record<string, number>,
    p90: quantile(totals, 0.9),
    ...(ratios.length > 0 && { ratio: median(ratios) }),
  }
}

export function formatTables(rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, ({ way, documents }) => `${way}, ${documents.toLocaleString('en-US')} documents`)
  return [...groups].map(([title, group]) => `${title}\n\n${formatTable(group)}`).join('\n\n')
}

function formatTable(rows: readonly Row[]): string {
  const [total = '', ...steps] = Object.keys(rows[0]!.medians)
  const head = ['', total, 'p90', 'ratio', ...steps.map((step) => (step === 'bytes' ? 'KiB' : step))]
  const lines = rows.map(({ variant, medians, p90, ratio }) => [
    variant,
    formatNumber(medians[total]!),
    formatNumber(p90),
    ratio === undefined ? '' : `${formatNumber(ratio)}x`,
    ...steps.map((step) => formatNumber(step === 'bytes' ? medians[step]! / 1024 : medians[step]!)),
  ])
  return alignColumns([head, ...lines], [0])
}
