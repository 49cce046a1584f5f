/** Figures of the server over time. They are counted from the start of the page: the server knows this moment only. */

/** One answer of the server: values by their names, those of all labels added up. */
export interface Sample {
  /** The time in milliseconds since 1970. */
  readonly time: number
  readonly values: ReadonlyMap<string, number>
}

type Points = readonly (readonly [number, number | null])[]

export const SAMPLE_MS = 2000
/** An hour. */
const SAMPLES_MAX = 1800
/** Statuses that are counted apart: `pannier_http_requests_total 5` is the sum of those of 500 and above. */
const FAILED = /[{,]status="5/

let samples: readonly Sample[] = []

/** Adds an answer to those of this page, and returns all. */
export function addSample(text: string, time: number): readonly Sample[] {
  samples = [...samples, { time, values: readFigures(text) }].slice(-SAMPLES_MAX)
  return samples
}

/** The format of Prometheus. Buckets keep their label: `…_bucket 0.1`. */
export function readFigures(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>()
  const add = (name: string, value: number): void => void values.set(name, (values.get(name) ?? 0) + value)
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^([a-z_]\w*)(\{.*\})? (\S+)$/i.exec(line) ?? []
    if (name === undefined) continue
    const number = Number(value)
    if (Number.isNaN(number)) continue
    const [, bucket] = /[{,]le="([^"]*)"/.exec(labels) ?? []
    add(bucket === undefined ? name : `${name} ${bucket}`, number)
    if (FAILED.test(labels)) add(`${name} 5`, number)
  }
  return values
}

/** The value at each time. */
export function level(all: readonly Sample[], name: string): Points {
  return all.map(({ time, values }) => [time, values.get(name) ?? 0])
}

/** How much it grows in a second. A server that has started again counts from 0: there is a gap. */
export function rate(all: readonly Sample[], name: string): Points {
  return between(all, (before, after, seconds) => {
    const grown = growth(before, after, name)
    return grown < 0 ? null : grown / seconds
  })
}

/** Seconds for each request, in the middle of the requests between two samples. */
export function meanOf(all: readonly Sample[], name: string): Points {
  return between(all, (before, after) => {
    const count = growth(before, after, `${name}_count`)
    return count > 0 ? growth(before, after, `${name}_sum`) / count : null
  })
}

/** The time that 95 of 100 requests stay below, as exactly as the buckets allow. */
export function p95Of(all: readonly Sample[], name: string): Points {
  return between(all, (before, after) => {
    const count = growth(before, after, `${name}_count`)
    if (count <= 0) return null
    const prefix = `${name}_bucket `
    const bounds = [...after.values.keys()].filter((key) => key.startsWith(prefix))
    const found = bounds.find((key) => growth(before, after, key) >= count * 0.95)
    const bound = Number(found?.slice(prefix.length))
    return Number.isFinite(bound) ? bound : null
  })
}

function between(
  all: readonly Sample[],
  value: (before: Sample, after: Sample, seconds: number) => number | null,
): Points {
  return all.slice(1).map((after, at) => {
    const before = all[at]!
    return [after.time, value(before, after, (after.time - before.time) / 1000)]
  })
}

function growth(before: Sample, after: Sample, name: string): number {
  return (after.values.get(name) ?? 0) - (before.values.get(name) ?? 0)
}
