/** Charts of the report as data: a chart for each workload of each cell, a bar for each contender. */
import { factsOf } from '../contenders/catalog.ts'
import type { ResultFile, Row } from '../harness/results.ts'

export interface Chart {
  /** Id of the canvas. */
  readonly id: string
  readonly title: string
  readonly unit: Row['unit']
  readonly bars: readonly Bar[]
}

export interface Bar {
  readonly label: string
  readonly kind: 'pannier' | 'persistent' | 'memory' | 'floor'
  readonly median: number
  readonly least: number
  readonly most: number
}

export function chartsOf(files: readonly ResultFile[]): Chart[] {
  return files.flatMap((file) =>
    groupRows(file.rows).flatMap((group, at) => {
      const bars = barsOf(group)
      return bars.length === 0
        ? []
        : [{ id: `${keyOf(file)}-${at}`, title: group[0]!.title, unit: group[0]!.unit, bars }]
    }),
  )
}

/** One place may be there twice, with other features or another name. */
export function keyOf({ place, name, environment }: ResultFile): string {
  return [place, ...environment.features, ...(name === undefined ? [] : [name])].join('-')
}

/** The rows of one metric in one cell. */
export function groupRows(rows: readonly Row[]): Row[][] {
  return [...Map.groupBy(rows, ({ suite, cell, metric }) => `${suite} ${cell} ${metric}`).values()]
}

function barsOf(rows: readonly Row[]): Bar[] {
  return rows
    .flatMap(({ contender, median, samples }) => {
      if (median === undefined) return []
      const { title, kind } = factsOf(contender)
      const own = contender === 'pannier' ? 'pannier' : kind
      return [
        { label: title, kind: own, median, least: Math.min(...samples), most: Math.max(...samples) } satisfies Bar,
      ]
    })
    .sort((a, b) => a.median - b.median)
}
