/** Two results side by side: the same figure of the same contender in both, and whether the difference is more than noise. */
import type { Environment } from '../../harness/environment.ts'
import type { ResultFile, Row } from '../../harness/results.ts'
import { median } from '../../measure.ts'

/**
 * 'unclear': one side has fewer than two samples, so no spread. 'same': the samples overlap, or differ by less than the
 * noise of any machine.
 */
export type Verdict = 'faster' | 'slower' | 'same' | 'unclear'

export interface Comparison {
  readonly suite: string
  readonly cell: string
  readonly metric: string
  readonly title: string
  readonly unit: Row['unit']
  readonly contender: string
  readonly base: number
  readonly other: number
  /** The figure of the other by the base's: below 1, the other takes less. */
  readonly ratio: number
  readonly verdict: Verdict
}

export interface Summary {
  readonly counts: Readonly<Record<Verdict, number>>
  /** The geometric mean of all ratios. */
  readonly meanRatio: number
  /** Figures that only one of the two has. */
  readonly unpaired: number
}

const NOISE_RATIO = 1.05

export function compareResults(base: ResultFile, other: ResultFile): Comparison[] {
  const others = new Map(other.rows.map((row) => [keyOf(row), row]))
  return base.rows.flatMap((row) => {
    const match = others.get(keyOf(row))
    return match === undefined ? [] : compareRows(row, match)
  })
}

function compareRows(base: Row, other: Row): Comparison[] {
  if (base.median === undefined || other.median === undefined || base.median <= 0) return []
  const { suite, cell, metric, title, unit, contender } = base
  const ratio = other.median / base.median
  const verdict = verdictOf(base.samples, other.samples)
  return [{ suite, cell, metric, title, unit, contender, base: base.median, other: other.median, ratio, verdict }]
}

/** The verdict on `other` compared with `base`. */
export function verdictOf(base: readonly number[], other: readonly number[]): Verdict {
  if (base.length < 2 || other.length < 2) return 'unclear'
  const ratio = median(other) / median(base)
  if (ratio < 1 / NOISE_RATIO && Math.max(...other) < Math.min(...base)) return 'faster'
  if (ratio > NOISE_RATIO && Math.min(...other) > Math.max(...base)) return 'slower'
  return 'same'
}

export function summarize(comparisons: readonly Comparison[], base: ResultFile, other: ResultFile): Summary {
  const counts = { faster: 0, slower: 0, same: 0, unclear: 0 }
  for (const { verdict } of comparisons) counts[verdict]++
  const logarithms = comparisons.map(({ ratio }) => Math.log(ratio)).filter(Number.isFinite)
  const sum = logarithms.reduce((total, one) => total + one, 0)
  const figures = (file: ResultFile): number => file.rows.filter((row) => row.median !== undefined).length
  return {
    counts,
    meanRatio: logarithms.length === 0 ? 1 : Math.exp(sum / logarithms.length),
    unpaired: figures(base) + figures(other) - 2 * comparisons.length,
  }
}

/** The differences of devices and versions that a reader must know: times of two devices say nothing about code. */
export function differencesOf(base: Environment, other: Environment): string[] {
  const facts: readonly (readonly [string, string, string])[] = [
    ['engine', `${base.place} ${base.engineVersion}`, `${other.place} ${other.engineVersion}`],
    ['processor', base.processor, other.processor],
    ['cores', String(base.cores), String(other.cores)],
    ['system', base.system, other.system],
    ['features', base.features.join(', ') || 'none', other.features.join(', ') || 'none'],
    ['seed', String(base.seed), String(other.seed)],
    ['cold phases', phasesOf(base), phasesOf(other)],
    ...Object.keys(base.versions)
      .filter((name) => name in other.versions)
      .map((name) => [name, base.versions[name]!, other.versions[name]!] as const),
  ]
  return facts.flatMap(([what, left, right]) => (left === right ? [] : [`${what}: ${left} → ${right}`]))
}

function phasesOf({ reopened }: Environment): string {
  return reopened === true ? 'reopened in the same browser' : 'a fresh browser or process'
}

function keyOf({ suite, cell, metric, contender }: Row): string {
  return JSON.stringify([suite, cell, metric, contender])
}
