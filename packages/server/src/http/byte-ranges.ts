/** Which bytes of some content a request is answered with, as Go's server decides it. */
import type { IncomingHttpHeaders } from 'node:http'

/** Bytes from `start` up to `end`, which is not among them. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The answer to a request for a part of a file. */
type RangeAnswer =
  | { readonly status: 200 | 304 | 412 }
  | { readonly status: 206; readonly ranges: readonly ByteRange[] }
  | { readonly status: 416; readonly isOutside: boolean }

/**
 * The greatest number of ranges that are answered one by one, as each may be a request to a bucket. More get
 * everything, as a server may always answer.
 */
const RANGES_MAX = 100
const INTEGER_MAX = 2n ** 63n - 1n

/** The answer to a range. Content has a time, but no tag. */
export function rangeAnswer(headers: IncomingHttpHeaders, size: number, modifiedMs: number): RangeAnswer {
  const modified = Math.floor(modifiedMs / 1000) * 1000
  const refused = preconditionStatus(headers, modified)
  if (refused !== undefined) return { status: refused }
  const { range = '', 'if-range': condition } = headers
  if (range === '' || (condition !== undefined && dateOf(String(condition)) !== modified)) return { status: 200 }
  const ranges = rangesIn(range, size)
  if (ranges === undefined) return { status: 416, isOutside: false }
  if (ranges === 'outside') return size === 0 ? { status: 200 } : { status: 416, isOutside: true }
  const bytes = ranges.reduce((sum, { start, end }) => sum + end - start, 0)
  const isWhole = ranges.length === 0 || ranges.length > RANGES_MAX || bytes > size
  return isWhole ? { status: 200 } : { status: 206, ranges }
}

function preconditionStatus(headers: IncomingHttpHeaders, modified: number): 304 | 412 | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  const unmodifiedSince = dateOf(headers['if-unmodified-since'])
  if (match === undefined ? unmodifiedSince !== undefined && modified > unmodifiedSince : !hasStar(match)) return 412
  if (noneMatch !== undefined) return hasStar(noneMatch) ? 304 : undefined
  const modifiedSince = dateOf(headers['if-modified-since'])
  return modifiedSince !== undefined && modified <= modifiedSince ? 304 : undefined
}

/** Before or between tags. */
function hasStar(tags: string): boolean {
  return /^[\s,]*(?:(?:W\/)?"[^"]*"[\s,]*)*\*/.test(tags)
}

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const TIME = String.raw`\d\d:\d\d:\d\d`
const ZONED = new RegExp(
  String.raw`^(?:${DAY}, \d\d ${MONTH} \d{4} ${TIME} GMT|${LONG_DAY}, \d\d-${MONTH}-\d\d ${TIME} [A-Z]{3})$`,
)
const UNZONED = new RegExp(String.raw`^${DAY} ${MONTH} [ \d]\d ${TIME} \d{4}$`)

/** The three forms of HTTP. Undefined for another text. */
function dateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = ZONED.test(text) ? Date.parse(text) : UNZONED.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Undefined: malformed; 'outside': none has a byte of the content. */
function rangesIn(header: string, size: number): readonly ByteRange[] | 'outside' | undefined {
  if (!header.startsWith('bytes=')) return undefined
  const ranges: ByteRange[] = []
  let isOutside = false
  for (const part of header.slice('bytes='.length).split(',')) {
    if (part.trim() === '') continue
    const range = rangeIn(part, size)
    if (range === undefined) return undefined
    if (range === 'outside') isOutside = true
    else ranges.push(range)
  }
  return isOutside && ranges.length === 0 ? 'outside' : ranges
}

function rangeIn(part: string, size: number): ByteRange | 'outside' | undefined {
  const at = part.indexOf('-')
  if (at < 0) return undefined
  const [first, last] = [part.slice(0, at).trim(), part.slice(at + 1).trim()]
  if (first === '') {
    const count = last.startsWith('-') ? undefined : integerIn(last)
    return count === undefined ? undefined : { start: Math.max(0, size - count), end: size }
  }
  const start = integerIn(first)
  if (start === undefined) return undefined
  if (start >= size) return 'outside'
  const end = last === '' ? size - 1 : integerIn(last)
  return end === undefined || start > end ? undefined : { start, end: Math.min(size, end + 1) }
}

/** The integer in a text: not negative, and within 64 bits. */
function integerIn(text: string): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const integer = BigInt(text.replace('+', ''))
  return integer < 0n || integer > INTEGER_MAX ? undefined : Number(integer)
}
