/** Prints the figures of one engine as a table, one line a figure. */
import { barOf, describeBar, encryptedBarOf, judge, rows } from './bars.ts'
import type { Bar, Row } from './bars.ts'
import { rivalIn } from './engines.ts'
import type { Place } from '../contenders/catalog.ts'
import { median } from '../measure.ts'
import type { ContenderName } from './phase.ts'

/** Milliseconds of each repeat, by contender and metric. */
export type Samples = Partial<Record<ContenderName, Readonly<Record<string, readonly number[]>>>>

/** Which contender's times are compared with which other's, and how. */
export interface Comparison {
  readonly subject: ContenderName
  readonly rival: ContenderName
  readonly barOf: (row: Row) => Bar | undefined
}

/** `opfs`: of Pannier there. */
export function comparisonIn(place: Place, isEncrypted: boolean, opfs: boolean): Comparison {
  if (isEncrypted) return { subject: 'pannier-encrypted', rival: 'pannier', barOf: encryptedBarOf }
  return { subject: 'pannier', rival: rivalIn(place), barOf: (row) => barOf(row, place, opfs) }
}

/** `wrong`: metrics of workloads whose answers were not the same; no time of theirs counts. */
export function formatTable(comparison: Comparison, samples: Samples, wrong: ReadonlySet<string>): string {
  const { subject, rival } = comparison
  const lines = [['milliseconds', rival, '', subject, '', 'ratio', 'bar', '']]
  for (const row of rows) {
    const { metric, against } = row
    const compared = against === undefined ? samples[rival]?.[metric] : samples[subject]?.[against]
    if (against !== undefined && (compared === undefined || rival === 'pannier')) continue
    const line = lineOf(row, comparison.barOf(row), compared, samples[subject]?.[metric])
    if (line === undefined) continue
    lines.push(wrong.has(row.metric) ? [row.title, '', '', '', '', '', '', 'ANSWERS DIFFER'] : line)
  }
  return alignColumns(lines, [0, 6, 7])
}

function lineOf(
  row: Row,
  bar: Bar | undefined,
  rival: readonly number[] | undefined,
  pannier: readonly number[] | undefined,
): string[] | undefined {
  if (rival === undefined && pannier === undefined) return undefined
  const rivalTime = rival && median(rival)
  const time = pannier && median(pannier)
  return [
    row.title,
    formatTime(rivalTime),
    formatSpread(rival),
    formatTime(time),
    formatSpread(pannier),
    rivalTime === undefined || time === undefined ? '' : `${formatNumber(rivalTime / time)}x`,
    bar === undefined ? '' : describeBar(bar),
    bar === undefined || time === undefined ? '' : (judge(bar, time, rivalTime) ?? ''),
  ]
}

function formatTime(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '' : formatNumber(milliseconds)
}

/** How far the repeats are from their median, at most. */
function formatSpread(values: readonly number[] | undefined): string {
  if (values === undefined || values.length < 2) return ''
  const middle = median(values)
  const farthest = Math.max(...values.map((value) => Math.abs(value - middle)))
  return `±${Math.round((farthest / middle) * 100)}%`
}

export function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}

/** Texts to the left, numbers to the right. */
export function alignColumns(lines: readonly (readonly string[])[], leftColumns: readonly number[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const align = (text: string, column: number): string =>
    leftColumns.includes(column) ? text.padEnd(widths[column]!) : text.padStart(widths[column]!)
  return lines.map((line) => line.map(align).join('  ').trimEnd()).join('\n')
}
