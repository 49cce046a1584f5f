/** Which results can be drawn: those whose first column is a time or a text, and whose second is a number. */
import type { ChartData } from '../../parts/chart/draw.ts'

type Cell = string | number | null
type Drawn = Pick<ChartData, 'kind' | 'labels'> & { readonly points: readonly (readonly [number, number | null])[] }

const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i
const TIME = /^\d{4}-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?)?$/
const ROWS_MAX = 1000

/** Undefined: there is nothing to draw. */
export function chartOf(columns: readonly string[], rows: readonly (readonly Cell[])[]): Drawn | undefined {
  if (columns.length < 2 || rows.length < 2) return undefined
  const shown = rows.slice(0, ROWS_MAX)
  const values = shown.map(([, value = null]) => (value === null ? null : numberOf(value)))
  if (values.includes(undefined) || values.every((value) => value === null)) return undefined
  const firsts = shown.map(([first]) => String(first ?? ''))
  // A column of numbers is no text: years and amounts would be drawn without their distances.
  if (firsts.every((first) => first === '' || NUMBER.test(first))) return undefined
  const points = (at: (first: string, place: number) => number): Drawn['points'] =>
    firsts.map((first, place) => [at(first, place), values[place] ?? null] as const)
  if (!firsts.every((first) => TIME.test(first)))
    return { kind: 'bars', labels: firsts, points: points((_, place) => place) }
  return { kind: 'lines', points: points(timeOf).toSorted(([one], [other]) => one - other) }
}

function numberOf(value: string | number): number | undefined {
  return typeof value === 'number' ? value : NUMBER.test(value) ? Number(value) : undefined
}

function timeOf(text: string): number {
  const whole = text.replace(' ', 'T')
  return Date.parse(whole.length > 10 && !whole.endsWith('Z') ? `${whole}Z` : whole)
}
