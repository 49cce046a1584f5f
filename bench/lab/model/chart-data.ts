/** The data of charts, computed from a result file; drawing is elsewhere. Missing figures stay, with their reason. */
import { CONTENDERS } from '../../contenders/catalog.ts'
import type { ContenderFacts } from '../../contenders/catalog.ts'
import type { ResultFile, Row } from '../../harness/results.ts'
import type { Cell } from '../../suites/suite.ts'

export type Kind = 'pannier' | ContenderFacts['kind']

/** Parameters that may vary from cell to cell, and can be an axis. */
export type Parameter = 'documents' | 'keyChars' | 'valueBytes'

export const PARAMETER_TITLES: Readonly<Record<Parameter, string>> = {
  documents: 'records',
  valueBytes: 'bytes of a value',
  keyChars: 'characters of a key',
}
const FIXED: Readonly<Record<Parameter, (value: string) => string>> = {
  documents: (value) => `${value} records`,
  valueBytes: (value) => `values of ${value} bytes`,
  keyChars: (value) => `keys of ${value} characters`,
}
const PARAMETERS = Object.keys(PARAMETER_TITLES) as Parameter[]

export interface Bar {
  readonly contender: string
  readonly label: string
  readonly kind: Kind
  readonly median: number
  readonly least: number
  readonly most: number
  readonly ratio?: number
}

export interface Missing {
  readonly label: string
  readonly reason: string
}

export interface Bars {
  readonly unit: Row['unit']
  /** The bars, least first. */
  readonly bars: readonly Bar[]
  readonly missing: readonly Missing[]
}

export interface Line {
  readonly contender: string
  readonly label: string
  readonly kind: Kind
  readonly points: readonly {
    readonly x: number
    readonly median: number
    readonly least: number
    readonly most: number
  }[]
}

/** Rows of `values` are of `yLabels`. */
export interface Grid {
  readonly xTitle: string
  readonly yTitle: string
  readonly xLabels: readonly string[]
  readonly yLabels: readonly string[]
  readonly values: readonly (readonly (number | undefined)[])[]
  /** Why a figure is undefined. */
  readonly reasons: readonly (readonly (string | undefined)[])[]
}

export function titleOf(contender: string): string {
  return CONTENDERS.find((facts) => facts.name === contender)?.title ?? contender
}

export function kindOf(contender: string): Kind {
  if (contender === 'pannier') return 'pannier'
  return CONTENDERS.find((facts) => facts.name === contender)?.kind ?? 'persistent'
}

export function suitesIn({ rows }: ResultFile): string[] {
  return [...new Set(rows.map((row) => row.suite))]
}

export function cellsIn({ rows }: ResultFile, suite: string): string[] {
  return [...new Set(rows.filter((row) => row.suite === suite).map((row) => row.cell))]
}

/** Metrics with at least one figure. */
export function metricsIn({ rows }: ResultFile, suite: string): Pick<Row, 'metric' | 'title' | 'unit'>[] {
  const measured = rows.filter((row) => row.suite === suite && row.median !== undefined)
  return [...new Map(measured.map((row) => [row.metric, row])).values()]
}

export function contendersIn({ rows }: ResultFile, suite: string): string[] {
  return [...new Set(rows.filter((row) => row.suite === suite).map((row) => row.contender))]
}

/** Parameters with at least two values in a suite. */
export function parametersIn(file: ResultFile, suite: string): Parameter[] {
  const cells = [...cellsByLabel(file, suite).values()]
  return PARAMETERS.filter((name) => new Set(cells.map((cell) => cell[name])).size > 1)
}

export function barsOf({ rows }: ResultFile, suite: string, cell: string, metric: string): Bars {
  const chosen = rows.filter((row) => row.suite === suite && row.cell === cell && row.metric === metric)
  const bars = chosen.flatMap((row): Bar[] => {
    if (row.median === undefined) return []
    const { contender, median, ratio } = row
    const [least, most] = [Math.min(...row.samples), Math.max(...row.samples)]
    const head = { contender, label: titleOf(contender), kind: kindOf(contender), median, least, most }
    return [ratio === undefined ? head : { ...head, ratio: ratio.median }]
  })
  const missing = chosen.flatMap(({ contender, median, missing: reason = 'not measured' }) =>
    median === undefined ? [{ label: titleOf(contender), reason }] : [],
  )
  return { unit: chosen[0]?.unit ?? 'ms', bars: bars.sort((a, b) => a.median - b.median), missing }
}

/** Over one parameter; the others stay as they are in most cells. */
export function linesOf(file: ResultFile, suite: string, metric: string, parameter: Parameter): Line[] {
  const cells = largestGroup([...cellsByLabel(file, suite).values()], [parameter])
  return contendersIn(file, suite).flatMap((contender) => {
    const points = cells.flatMap((cell) => {
      const row = rowOf(file, suite, cell.label, metric, contender)
      const x = cell[parameter]
      if (row?.median === undefined || x === undefined) return []
      return [{ x, median: row.median, least: Math.min(...row.samples), most: Math.max(...row.samples) }]
    })
    if (points.length === 0) return []
    return [{ contender, label: titleOf(contender), kind: kindOf(contender), points: points.sort((a, b) => a.x - b.x) }]
  })
}

/** Over two parameters, for one contender. */
export function gridOf(
  file: ResultFile,
  suite: string,
  metric: string,
  contender: string,
  [x, y]: readonly [Parameter, Parameter],
): Grid {
  const cells = largestGroup([...cellsByLabel(file, suite).values()], [x, y])
  const xs = valuesOf(cells, x)
  const ys = valuesOf(cells, y)
  const rows = ys.map((yValue) =>
    xs.map((xValue) => {
      const cell = cells.find((one) => one[x] === xValue && one[y] === yValue)
      return cell === undefined ? undefined : rowOf(file, suite, cell.label, metric, contender)
    }),
  )
  return {
    xTitle: PARAMETER_TITLES[x],
    yTitle: PARAMETER_TITLES[y],
    xLabels: xs.map((value) => value.toLocaleString('en-US')),
    yLabels: ys.map((value) => value.toLocaleString('en-US')),
    values: rows.map((row) => row.map((one) => one?.median)),
    reasons: rows.map((row) => row.map((one) => (one === undefined ? 'not run' : one.missing))),
  }
}

/** Everything at a glance: how many times Pannier's value each contender takes in each workload. */
export function overviewOf(file: ResultFile, suite: string, cell: string): Grid {
  const contenders = contendersIn(file, suite).filter((name) => name !== 'pannier')
  const metrics = metricsIn(file, suite)
  const rows = metrics.map(({ metric }) => contenders.map((name) => rowOf(file, suite, cell, metric, name)))
  return {
    xTitle: 'contender',
    yTitle: 'workload',
    xLabels: contenders.map(titleOf),
    yLabels: metrics.map(({ title }) => title),
    values: rows.map((row) => row.map((one) => one?.ratio?.median)),
    reasons: rows.map((row) => row.map((one) => one?.missing ?? (one?.ratio ? undefined : 'Pannier has no figure'))),
  }
}

/** The parameters that are fixed along the axes, if there are others. */
export function fixedOf(file: ResultFile, suite: string, varied: readonly Parameter[]): string {
  const [cell] = largestGroup([...cellsByLabel(file, suite).values()], varied)
  const names = parametersIn(file, suite).filter((name) => !varied.includes(name) && cell?.[name] !== undefined)
  return names.map((name) => FIXED[name](cell![name]!.toLocaleString('en-US'))).join(', ')
}

function cellsByLabel({ runs }: ResultFile, suite: string): Map<string, Cell> {
  return new Map(runs.filter((run) => run.suite === suite).map(({ cell }) => [cell.label, cell]))
}

/** The largest group of cells that differ only in these parameters. */
function largestGroup(cells: readonly Cell[], varied: readonly Parameter[]): readonly Cell[] {
  const fixed = PARAMETERS.filter((name) => !varied.includes(name))
  const groups = Map.groupBy(cells, (cell) => JSON.stringify([cell.encoding, ...fixed.map((name) => cell[name])]))
  return [...groups.values()].sort((a, b) => b.length - a.length)[0] ?? []
}

function valuesOf(cells: readonly Cell[], parameter: Parameter): number[] {
  return [...new Set(cells.flatMap((cell) => cell[parameter] ?? []))].sort((a, b) => a - b)
}

function rowOf({ rows }: ResultFile, suite: string, cell: string, metric: string, contender: string): Row | undefined {
  return rows.find(
    (row) => row.suite === suite && row.cell === cell && row.metric === metric && row.contender === contender,
  )
}
