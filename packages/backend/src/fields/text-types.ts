/** Which type a text has, by how it begins, and in what characters it is written. */

/** With the usual extension. The first one that fits counts. */
const TEXTS: readonly (readonly [type: string, extension: string, starts: RegExp])[] = [
  ['image/svg+xml', '.svg', /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>]*>\s*)?<svg/is],
  [
    'text/html',
    '.html',
    /^\s*<(?:!doctype html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|!--)[\s>]/i,
  ],
  ['application/rss+xml', '.rss', /^\s*<\?xml.*?<rss\b/is],
  ['application/atom+xml', '.atom', /^\s*<\?xml.*?<feed\b[^>]*xmlns="http:\/\/www\.w3\.org\/2005\/Atom"/is],
  ['application/vnd.google-earth.kml+xml', '.kml', /^\s*<\?xml.*?<kml\b[^>]*xmlns="http/is],
  ['application/gpx+xml', '.gpx', /^\s*<\?xml.*?<gpx\b[^>]*xmlns="http/is],
  ['application/xhtml+xml', '.html', /^\s*<\?xml.*?(?:<!doctype html|<html xmlns=)/is],
  ['text/xml', '.xml', /^\s*<\?xml/i],
  ['text/x-php', '.php', /^\s*<\?(?:php|[\s])/i],
  ['text/javascript', '.js', /^#!\s*\/(?:usr\/)?bin\/(?:env (?:-S )?)?node/],
  ['text/x-python', '.py', /^#!\s*\/\S*(?:env (?:-S )?)?\S*python/],
  ['text/x-ruby', '.rb', /^#!\s*\/\S*(?:env (?:-S )?)?\S*ruby/],
  ['text/x-perl', '.pl', /^#!\s*\/\S*(?:env (?:-S )?)?\S*perl/],
]
const TEXTS_AFTER_JSON: typeof TEXTS = [
  ['text/rtf', '.rtf', /^\{\\rtf/],
  ['application/x-subrip', '.srt', /^1\r?\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\r?\n[^\r\n]/],
]
const TEXTS_AFTER_TABLES: typeof TEXTS = [
  ['text/vcard', '.vcf', /^BEGIN:VCARD\r?\n/i],
  ['text/calendar', '.ics', /^BEGIN:VCALENDAR\r?\n/i],
  ['text/vtt', '.vtt', /^(?:\xef\xbb\xbf)?WEBVTT[\s]/],
  ['text/x-shellscript', '.sh', /^#!\s*\/\S*(?:env (?:-S )?)?\S*(?:ba|z|da)?sh\b/],
]
const JSONS: readonly (readonly [type: string, extension: string])[] = [
  ['application/json', '.json'],
  ['application/x-ndjson', '.ndjson'],
  ['text/csv', '.csv'],
  ['text/tab-separated-values', '.tsv'],
]
const PLAIN = 'text/plain'

export const TEXT_EXTENSIONS: readonly (readonly [type: string, extension: string])[] = [
  ...[...TEXTS, ...TEXTS_AFTER_JSON, ...TEXTS_AFTER_TABLES].map(([type, extension]) => [type, extension] as const),
  ...JSONS,
  [PLAIN, '.txt'],
]

/** Undefined for what is no text. `isWhole`: nothing follows. */
export function typeOfText(head: Uint8Array, isWhole: boolean): string | undefined {
  const mark = markedCharset(head)
  if (mark === undefined && head.some(isBinary)) return undefined
  const latin = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1')
  const type = kindOf(latin, isWhole)
  const charset = DECLARED.has(type) ? (mark ?? DECLARED.get(type)!(latin) ?? charsetOf(head, latin)) : undefined
  return charset === undefined ? type : `${type}; charset=${charset}`
}

/** Whether a byte is binary: control characters other than spaces and escape are in no text. */
function isBinary(byte: number): boolean {
  return byte < 0x20 && byte !== 0x1b && !(byte >= 0x09 && byte <= 0x0d && byte !== 0x0b)
}

function kindOf(text: string, isWhole: boolean): string {
  const among = (texts: typeof TEXTS): string | undefined => texts.find(([, , starts]) => starts.test(text))?.[0]
  const first = among(TEXTS)
  if (first !== undefined) return first
  if (/^\s*[[{]/.test(text) && isJson(text, isWhole)) return 'application/json'
  if (isJsonLines(text, isWhole)) return 'application/x-ndjson'
  const second = among(TEXTS_AFTER_JSON)
  if (second !== undefined) return second
  if (isTable(text, ',', isWhole)) return 'text/csv'
  if (isTable(text, '\t', isWhole)) return 'text/tab-separated-values'
  return among(TEXTS_AFTER_TABLES) ?? PLAIN
}

/** If it is cut off, its beginning has to be JSON. */
function isJson(text: string, isWhole: boolean): boolean {
  if (isWhole) return parses(text)
  const token = /\s*(?:[{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true|false|null)/y
  let end = 0
  while (token.test(text)) end = token.lastIndex
  return /^\s*(?:"(?:[^"\\]|\\.)*\\?|[-+.\w]*)$/s.test(text.slice(end))
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isJsonLines(text: string, isWhole: boolean): boolean {
  const lines = wholeLines(text, isWhole)
  return lines.length > 1 && lines.some((line) => /^\s*[[{]/.test(line)) && lines.every(parses)
}

function wholeLines(text: string, isWhole: boolean): readonly string[] {
  const lines = text.split(/\r?\n/)
  return isWhole && lines.at(-1) !== '' ? lines : lines.slice(0, -1)
}

/** The number of rows that are looked at. */
const ROWS = 10

/** Whether all rows have the same number of fields, two or more. A row may have quoted ends of lines. */
function isTable(text: string, separator: string, isWhole: boolean): boolean {
  const rows = wholeLines(text, isWhole)
    .join('\n')
    .match(/(?:"(?:[^"]|"")*"|[^"\n])+/g)
    ?.filter((row) => !row.startsWith('#'))
  if (rows === undefined || rows.length < 2) return false
  const counts = new Set(
    rows.slice(0, ROWS).map((row) => row.replaceAll(/"(?:[^"]|"")*"/g, '').split(separator).length),
  )
  return counts.size === 1 && !counts.has(1)
}

const MARKS: readonly (readonly [charset: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-16be', [0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
]

function markedCharset(head: Uint8Array): string | undefined {
  return MARKS.find(([, bytes]) => bytes.every((byte, at) => head[at] === byte))?.[0]
}

/** Types that name their characters, and how the text itself may name them. */
const DECLARED: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  [PLAIN, () => undefined],
  ['text/html', (text: string) => /<meta[^>]*?charset\s*=\s*["']?([\w.:+-]+)/i.exec(text)?.[1]?.toLowerCase()],
  ['text/xml', (text: string) => /<\?xml[^>]*?encoding\s*=\s*["']([\w.:+-]+)["']/i.exec(text)?.[1]],
])

/** Undefined if it is empty, or if it is unknown. */
function charsetOf(head: Uint8Array, latin: string): string | undefined {
  if (head.length === 0) return undefined
  if (isUtf8(head)) return 'utf-8'
  // Controls that are none of text are gone already.
  if (/[\x7f-\x84\x86-\x9f]/.test(latin)) return undefined
  return latin.includes('\x85') ? 'windows-1252' : 'iso-8859-1'
}

/** Whether bytes are UTF-8. The last character may be cut off. */
function isUtf8(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return !head.includes(0x7f)
  } catch {
    return false
  }
}
