/** The clock of rules: macros such as `@now`, and SQLite's `strftime`. Everything is UTC. */
import { numberIn, type SqlValue } from './values.ts'

const MINUTE = 60_000
const DAY = 86_400_000
/** The Julian day number of 1970-01-01. */
const EPOCH_JULIAN = 2_440_587.5
/** Julian day 0, and the end of the year 9999: outside of them `strftime` is NULL. */
const MOMENT_MIN = -EPOCH_JULIAN * DAY
const MOMENT_MAX = 253_402_300_800_000
/** The greatest Julian day number that SQLite takes: the end of 9999. */
const JULIAN_MAX = 5_373_484.5

const pad = (value: number, size = 2, fill = '0'): string => String(value).padStart(size, fill)

/** As PocketBase writes dates: `2026-11-23 10:00:00.000Z`. */
function stamp(year: number, month = 0, day = 1, ...time: number[]): string {
  return new Date(Date.UTC(year, month, day, ...time)).toISOString().replace('T', ' ')
}

const END_OF_DAY = [23, 59, 59, 999]

/** Macros by name. Those of a moment are texts, those of a part of it are numbers. */
const MACROS: Readonly<Record<string, (now: Date, y: number, m: number, d: number) => string | number>> = {
  '@now': (now) => now.toISOString().replace('T', ' '),
  '@yesterday': (now) => new Date(+now - DAY).toISOString().replace('T', ' '),
  '@tomorrow': (now) => new Date(+now + DAY).toISOString().replace('T', ' '),
  '@second': (now) => now.getUTCSeconds(),
  '@minute': (now) => now.getUTCMinutes(),
  '@hour': (now) => now.getUTCHours(),
  '@day': (_, _y, _m, d) => d,
  '@month': (_, _y, m) => m + 1,
  '@weekday': (now) => now.getUTCDay(),
  '@year': (_, y) => y,
  '@todayStart': (_, y, m, d) => stamp(y, m, d),
  '@todayEnd': (_, y, m, d) => stamp(y, m, d, ...END_OF_DAY),
  '@monthStart': (_, y, m) => stamp(y, m),
  '@monthEnd': (_, y, m) => stamp(y, m + 1, 0, ...END_OF_DAY),
  '@yearStart': (_, y) => stamp(y),
  '@yearEnd': (_, y) => stamp(y, 11, 31, ...END_OF_DAY),
}

export const MACRO_NAMES: readonly string[] = Object.keys(MACROS)

export function macro(name: string, now: Date): string | number | undefined {
  if (!Object.hasOwn(MACROS, name)) return undefined
  return MACROS[name]!(now, ...dayOf(now))
}

/** `strftime(format, time, ...modifiers)`, NULL if SQLite says NULL. `localtime` and `utc` change nothing. */
export function strftime([format, time = 'now', ...modifiers]: readonly SqlValue[], now: Date): SqlValue {
  if (typeof format !== 'string' || time === null) return null
  const moment = modifiers.reduce<Moment | undefined>(modify, momentOf(time, now))
  const isInRange = moment?.ms !== undefined && moment.ms >= MOMENT_MIN && moment.ms < MOMENT_MAX
  return isInRange ? formatted(format, moment) : null
}

/** A moment, in milliseconds since 1970. */
interface Moment {
  readonly ms: number | undefined
  /** A number, not yet read as seconds or days. */
  readonly raw?: number
  /** The days that `floor` goes back by, after months were added to a day that the month does not have. */
  readonly over?: number
  /** Whether it is midnight: `24:00` stays hour 24. */
  readonly isMidnight?: boolean
}

const TIME = String.raw`(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?\s*(?:[zZ]|([+-])(\d\d):(\d\d))?\s*`
const DATE_TIME = new RegExp(String.raw`^(-?\d{4})-(\d\d)-(\d\d)(?:[\sT]*${TIME}|\s*)$`)
const TIME_ONLY = new RegExp(`^${TIME}$`)

function momentOf(value: string | number, now: Date): Moment | undefined {
  const number = typeof value === 'number' ? value : numberIn(value)
  if (number !== undefined) {
    const inRange = number >= 0 && number < JULIAN_MAX
    return { raw: number, ms: inRange ? Math.round((number - EPOCH_JULIAN) * DAY) : undefined }
  }
  const text = value as string
  if (/^(now|subsec|subsecond)$/i.test(text)) return { ms: +now }
  const date = DATE_TIME.exec(text)
  const clock = date === null ? TIME_ONLY.exec(text)?.slice(1) : date.slice(4)
  if (clock === undefined) return undefined
  const [year, month, day] = date === null ? [2000, 1, 1] : [Number(date[1]), Number(date[2]), Number(date[3])]
  const [hour, minute, second, , , zoneHour, zoneMinute] = clock.map((part) => Number(part ?? 0))
  const isValid =
    month! >= 1 && month! <= 12 && day! >= 1 && day! <= 31 && hour! <= 24 && minute! <= 59 && second! <= 59
  if (!isValid || zoneHour! > 14 || zoneMinute! > 59) return undefined
  const fraction = Math.min(Math.floor(Number(`0.${clock[3] ?? 0}`) * 1000 + 0.5), 999)
  const zone = (zoneHour! * 60 + zoneMinute!) * (clock[4] === '-' ? -MINUTE : MINUTE)
  const ms = midnight(year!, month! - 1, day!) + (hour! * 60 + minute!) * MINUTE + second! * 1000 + fraction - zone
  return { ms, isMidnight: hour === 24 && zone === 0 }
}

/** Year, month from 0, and day. */
function dayOf(date: Date): [year: number, month: number, day: number] {
  return [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
}

/** `Date.UTC` takes years below 100 for 19xx. */
function midnight(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

const UNITS: Readonly<Record<string, number>> = { day: DAY, hour: 60 * MINUTE, minute: MINUTE, second: 1000 }

function modify(moment: Moment | undefined, modifier: SqlValue): Moment | undefined {
  if (moment === undefined || typeof modifier !== 'string') return undefined
  const word = modifier.toLowerCase()
  const { raw, ms, over = 0 } = moment
  if (raw !== undefined && word === 'unixepoch') return { ms: Math.round(raw * 1000) }
  if (raw !== undefined && word === 'julianday') return { ms }
  if (raw !== undefined && word === 'auto') return { ms: ms ?? Math.round(raw * 1000) }
  if (ms === undefined) return undefined
  if (word === 'floor') return { ms: ms - over * DAY }
  if (/^(localtime|utc|ceiling|subsec|subsecond)$/.test(word)) return { ms }
  const date = new Date(ms)
  const start = /^start of (day|month|year)$/.exec(word)?.[1]
  if (start !== undefined) {
    const [year, month, day] = dayOf(date)
    return { ms: midnight(year, start === 'year' ? 0 : month, start === 'day' ? day : 1) }
  }
  const weekday = /^weekday ([0-6])(?:\.0*)?$/.exec(word)?.[1]
  if (weekday !== undefined) return { ms: ms + ((Number(weekday) - date.getUTCDay() + 7) % 7) * DAY }
  return shift(ms, word)
}

/** `+1 month`, `-01:30`, `+0001-02-03 04:05`. */
function shift(ms: number, word: string): Moment | undefined {
  const [, amount, unit = ''] = /^([+-]?\d+(?:\.\d*)?)\s+(day|hour|minute|second|month|year)s?$/.exec(word) ?? []
  if (amount !== undefined) {
    const count = Number(amount)
    if (Object.hasOwn(UNITS, unit)) return { ms: ms + Math.round(count * UNITS[unit]!) }
    const whole = Math.trunc(count)
    const rest = Math.round((count - whole) * (unit === 'year' ? 365 : 30) * DAY)
    return addMonths(ms, unit === 'year' ? whole * 12 : whole, rest)
  }
  const match = /^([+-])(?:(\d{4})-(\d\d)-(\d\d)(?:\s+|$))?(?:(\d\d):(\d\d)(?::(\d\d(?:\.\d*)?))?)?$/.exec(word)
  if (match === null || match[0].length < 2) return undefined
  const sign = match[1] === '-' ? -1 : 1
  const [years, months, days, hours, minutes, seconds] = match.slice(2).map((part) => Number(part ?? 0))
  const rest = days! * DAY + (hours! * 60 + minutes!) * MINUTE + Math.round(seconds! * 1000)
  return addMonths(ms, sign * (years! * 12 + months!), sign * rest)
}

/** A day that the month does not have is one of the next month. */
function addMonths(ms: number, months: number, rest: number): Moment {
  const [year, from, day] = dayOf(new Date(ms))
  const month = from + months
  const [, , last] = dayOf(new Date(midnight(year, month + 1, 0)))
  const time = ((ms % DAY) + DAY) % DAY
  return { ms: midnight(year, month, day) + time + rest, over: Math.max(day - last, 0) }
}

function formatted(format: string, { ms = 0, isMidnight = false }: Moment): SqlValue {
  const date = new Date(isMidnight ? ms - DAY : ms)
  const iso = date.toISOString()
  const [year, month, day] = dayOf(date)
  const [hour, weekday] = [isMidnight ? 24 : date.getUTCHours(), date.getUTCDay()]
  const dayOfYear = Math.floor((+date - midnight(year, 0, 1)) / DAY)
  // The Thursday of the ISO week says which year the week belongs to.
  const thursday = new Date(+date + (4 - (weekday === 0 ? 7 : weekday)) * DAY)
  const isoYear = thursday.getUTCFullYear()
  const isoWeek = Math.floor((+thursday - midnight(isoYear, 0, 1)) / (7 * DAY)) + 1
  const y = year < 0 ? `-${pad(-year, 4)}` : pad(year, 4)
  const hour12 = hour % 12 === 0 ? 12 : hour % 12
  const half = hour >= 12 && hour < 24 ? 'PM' : 'AM'
  const [hm, seconds] = [`${pad(hour)}:${iso.slice(-10, -8)}`, iso.slice(-7, -5)]
  const parts: Readonly<Record<string, string | number>> = {
    d: pad(day),
    e: pad(day, 2, ' '),
    f: iso.slice(-7, -1),
    F: `${y}-${pad(month + 1)}-${pad(day)}`,
    G: pad(isoYear, 4),
    g: pad(isoYear % 100),
    H: pad(hour),
    I: pad(hour12),
    j: pad(dayOfYear + 1, 3),
    J: Number(`${(ms / DAY + EPOCH_JULIAN).toPrecision(16)}`),
    k: pad(hour, 2, ' '),
    l: pad(hour12, 2, ' '),
    m: pad(month + 1),
    M: iso.slice(-10, -8),
    p: half,
    P: half.toLowerCase(),
    R: hm,
    s: Math.floor(ms / 1000),
    S: seconds,
    T: `${hm}:${seconds}`,
    U: pad(Math.floor((dayOfYear + 7 - weekday) / 7)),
    u: weekday === 0 ? 7 : weekday,
    V: pad(isoWeek),
    w: weekday,
    W: pad(Math.floor((dayOfYear + 7 - ((weekday + 6) % 7)) / 7)),
    Y: y,
    '%': '%',
  }
  let isKnown = true
  const text = format.replaceAll(/%([^])?/g, (_, letter: string) => {
    if (letter === undefined || !Object.hasOwn(parts, letter)) isKnown = false
    return String(parts[letter])
  })
  return isKnown ? text : null
}
