/** Dates as PocketBase writes them: `2026-11-22 15:04:49.813Z`. They sort as texts. */

const DATE = String.raw`(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)`
const TIME_TO_MINUTE = String.raw`(?<hour>\d{1,2}):(?<minute>\d\d)`
const TIME = String.raw`${TIME_TO_MINUTE}:(?<second>\d\d)(?:[.,](?<fraction>\d+))?`
const DAY = String.raw`(?<day>\d\d)`
const PADDED_DAY = String.raw` ?(?<day>\d\d?)`
const MONTH = '(?<monthName>[A-Za-z]{3})'
const WEEKDAY = '(?:[Mm]on|[Tt]ue|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un)'
const LONG_WEEKDAY = '(?:[Mm]on|[Tt]ues|[Ww]ednes|[Tt]hurs|[Ff]ri|[Ss]atur|[Ss]un)day'
const YEAR = String.raw`(?<year>\d{4})`
const SHORT_YEAR = String.raw`(?<shortYear>\d\d)`
const OFFSET = String.raw`(?<offset>[+-]\d\d:?\d\d)`
/** Go knows the names of zones, but not their offsets: UTC is meant. */
const ZONE = String.raw`(?:[A-Z]{3,5}|GMT[+-]\d\d?)`

const FORMS = [
  DATE,
  `${DATE}T${TIME}(?:Z|${OFFSET})?`,
  `${DATE} ${TIME}(?:Z| ?${OFFSET}(?: ${ZONE})?)?`,
  `${WEEKDAY}, ${DAY} ${MONTH} ${YEAR} ${TIME} (?:${OFFSET}|${ZONE})`,
  `${DAY} ${MONTH} ${SHORT_YEAR} ${TIME_TO_MINUTE} (?:${OFFSET}|${ZONE})`,
  `${LONG_WEEKDAY}, ${DAY}-${MONTH}-${SHORT_YEAR} ${TIME} ${ZONE}`,
  `${WEEKDAY} ${MONTH} ${PADDED_DAY} ${TIME}(?: ${OFFSET}| ${ZONE})? ${YEAR}`,
  `${DAY} ${MONTH} ${YEAR}`,
  `${TIME_TO_MINUTE}(?<half>AM|PM)`,
  `${MONTH} ${PADDED_DAY} ${TIME}`,
].map((form) => new RegExp(`^${form}$`))

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The first moment of the year 1, which is no date in Go. */
const ZERO = -62_135_596_800_000

/** `''` for what is no date. */
export function readDate(text: string): string {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups
    if (parts === undefined) continue
    const time = timeOf(parts)
    return time === undefined ? '' : dateText(time)
  }
  return ''
}

/** The text of a date: milliseconds since 1970 as PocketBase writes them, `2026-11-22 15:04:49.813Z`. */
export function dateText(time: number): string {
  return time === ZERO ? '' : new Date(time).toISOString().replace('T', ' ')
}

/** The opposite of `dateText`. */
export function timeOfDateText(text: string): number {
  return Date.parse(text.replace(' ', 'T'))
}

type Parts = Readonly<Record<string, string | undefined>>

/** Undefined if there is no such day or time. */
function timeOf(parts: Parts): number | undefined {
  const year = yearOf(parts)
  const month = parts['monthName'] === undefined ? number(parts['month'], 1) : monthOf(parts['monthName'])
  const day = number(parts['day'], 1)
  const hour = hourOf(parts)
  const minute = number(parts['minute'], 0)
  const second = number(parts['second'], 0)
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined
  const offset = offsetOf(parts['offset'])
  if (offset === undefined) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (day < 1 || date.getUTCMonth() !== month - 1) return undefined
  const milliseconds = Number((parts['fraction'] ?? '').slice(0, 3).padEnd(3, '0'))
  const time = date.setUTCHours(hour, minute, second, milliseconds) - offset
  const inRange = new Date(time).getUTCFullYear()
  return inRange < 0 || inRange > 9999 ? undefined : time
}

function number(text: string | undefined, otherwise: number): number {
  return text === undefined ? otherwise : Number(text)
}

function monthOf(name: string): number {
  return MONTHS.indexOf(name.toLowerCase()) + 1
}

function yearOf({ year, shortYear }: Parts): number {
  if (shortYear === undefined) return number(year, 0)
  const short = Number(shortYear)
  return short + (short >= 69 ? 1900 : 2000)
}

function hourOf({ hour, half }: Parts): number {
  const read = number(hour, 0)
  if (half === undefined) return read
  if (read > 12) return Infinity
  return (read % 12) + (half === 'PM' ? 12 : 0)
}

/** The offset in milliseconds. Undefined for one that Go refuses. */
function offsetOf(offset: string | undefined): number | undefined {
  if (offset === undefined) return 0
  const digits = offset.replace(':', '')
  const [hour, minute] = [Number(digits.slice(1, 3)), Number(digits.slice(3))]
  if (hour > 24 || minute > 60) return undefined
  const minutes = hour * 60 + minute
  return (digits.startsWith('-') ? -minutes : minutes) * 60_000
}
