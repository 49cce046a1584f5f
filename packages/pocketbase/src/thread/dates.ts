/** Values of fields that are more than JSON: dates, and the raw text of JSON fields. */

const DURATION = /(-?\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g
const UNITS: ReadonlyMap<string, number> = new Map(
  Object.entries({ ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }),
)

/** A duration in milliseconds: nanoseconds, or a text such as `1h30m`. */
function duration(value: number | string): number {
  if (typeof value === 'number') return value / 1e6
  return [...value.matchAll(DURATION)].reduce((sum, [, count, unit]) => sum + Number(count) * UNITS.get(unit!)!, 0)
}

/** A time in UTC: `2026-11-30 10:00:00.000Z`. The empty text is no time. */
export class DateTime {
  readonly #at: Date | undefined

  /** The time of a value: now when it is empty. `zone`: of a text without one. */
  constructor(value: string | number | Date = '', zone = '') {
    this.#at = value === '' ? new Date() : timeOf(value, zone)
  }

  /** The time of a value of a field. The empty text is no time. */
  static of(text: string): DateTime {
    return new DateTime(text === '' ? 'none' : text)
  }

  isZero(): boolean {
    return this.#at === undefined
  }

  /** The time, as Go's `time.Time` has its methods. */
  time(): DateTime {
    return this
  }

  unix(): number {
    return Math.floor(this.unixMilli() / 1000)
  }

  unixMilli(): number {
    return this.#at?.getTime() ?? -62_135_596_800_000
  }

  year(): number {
    return this.#at?.getUTCFullYear() ?? 1
  }

  month(): number {
    return (this.#at?.getUTCMonth() ?? 0) + 1
  }

  day(): number {
    return this.#at?.getUTCDate() ?? 1
  }

  hour(): number {
    return this.#at?.getUTCHours() ?? 0
  }

  minute(): number {
    return this.#at?.getUTCMinutes() ?? 0
  }

  second(): number {
    return this.#at?.getUTCSeconds() ?? 0
  }

  add(value: number | string): DateTime {
    return new DateTime(new Date(this.unixMilli() + duration(value)))
  }

  addDate(years: number, months: number, days: number): DateTime {
    const at = new Date(this.unixMilli())
    at.setUTCFullYear(at.getUTCFullYear() + years, at.getUTCMonth() + months, at.getUTCDate() + days)
    return new DateTime(at)
  }

  /** The time between, in nanoseconds, as Go has durations. */
  sub(other: DateTime): { hours(): number; minutes(): number; seconds(): number; milliseconds(): number } {
    const between = this.unixMilli() - other.unixMilli()
    return {
      hours: () => between / 3_600_000,
      minutes: () => between / 60_000,
      seconds: () => between / 1000,
      milliseconds: () => between,
    }
  }

  before(other: DateTime): boolean {
    return this.unixMilli() < other.unixMilli()
  }

  after(other: DateTime): boolean {
    return this.unixMilli() > other.unixMilli()
  }

  equal(other: DateTime): boolean {
    return this.unixMilli() === other.unixMilli()
  }

  compare(other: DateTime): number {
    return Math.sign(this.unixMilli() - other.unixMilli())
  }

  string(): string {
    return this.#at === undefined ? '' : this.#at.toISOString().replace('T', ' ')
  }

  toString(): string {
    return this.string()
  }

  toJSON(): string {
    return this.string()
  }
}

/** Undefined for a text that is no time. */
function timeOf(value: string | number | Date, zone: string): Date | undefined {
  if (typeof value === 'string' && zone !== '' && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(value.trim()))
    return inZone(value, zone)
  const text = typeof value === 'string' ? value.trim().replace(' ', 'T') : value
  // A text without a zone is UTC.
  const whole = typeof text === 'string' && /T\d/.test(text) && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text
  const at = new Date(whole)
  return Number.isNaN(at.getTime()) ? undefined : at
}

/** A time of the clocks in a zone. */
function inZone(text: string, zone: string): Date | undefined {
  const utc = timeOf(text, '')
  if (utc === undefined) return undefined
  try {
    const shown = new Date(`${utc.toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T')}Z`)
    return new Date(utc.getTime() - (shown.getTime() - Math.floor(utc.getTime() / 1000) * 1000))
  } catch {
    return utc
  }
}

const ENCODER = new TextEncoder()

/** The value of a JSON field: the bytes of its text, as PocketBase gives them. As a text it is the text. */
export class JSONRaw extends Array<number> {
  // Lists that are made of it are plain.
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  readonly #text: string

  constructor(text: string) {
    super()
    this.#text = text
    for (const byte of ENCODER.encode(text)) this.push(byte)
  }

  string(): string {
    return this.#text
  }

  override toString(): string {
    return this.#text
  }

  /** The value that the text is of. */
  parsed(): unknown {
    return this.#text === '' ? null : JSON.parse(this.#text)
  }
}
