/** What a chart over time shows. */

export interface Series {
  readonly name: string
  /** A variable of the style sheet: `accent`. */
  readonly color: string
  /** Milliseconds since 1970, and the value then; null is a gap. */
  readonly points: readonly (readonly [number, number | null])[]
}

export interface ChartData {
  /** Bars stand on each other. */
  readonly kind: 'bars' | 'lines'
  readonly series: readonly Series[]
  /** The values are counts: the axis has no fractions. */
  readonly isCount?: boolean
  /** As `bytesText`. */
  readonly format: (value: number) => string
  /** Milliseconds since 1970; what the points have when it is left out. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}
