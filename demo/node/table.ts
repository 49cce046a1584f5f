/** A plain table for the terminal, cut to its width. */
import { stripVTControlCharacters, styleText } from 'node:util'

export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
  /** True for the column that shrinks when the terminal is narrow. At most one. */
  readonly shrinks?: boolean
}

const GAP = '   '

export function layOut(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const widths = columns.map((column, at) => Math.max(column.title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const total = widths.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1))
  const shrinking = columns.findIndex((column) => column.shrinks)
  if (shrinking >= 0 && total > width) widths[shrinking] = Math.max(12, (widths[shrinking] ?? 0) - (total - width))
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, at) => fit(cells[at] ?? '', widths[at] ?? 0, column.align))
      .join(GAP)
      .trimEnd()
  return [styleText('dim', line(columns.map((column) => column.title))), ...rows.map(line)].join('\n')
}

function fit(text: string, width: number, align: 'left' | 'right'): string {
  const plain = stripVTControlCharacters(text)
  const cut = plain.length > width ? `${plain.slice(0, width - 1)}…` : plain
  return align === 'left' ? cut.padEnd(width) : cut.padStart(width)
}
