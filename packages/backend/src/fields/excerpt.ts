/** The text of HTML, in short: `:excerpt(max, ellipsis)` in `fields`. It reads tags; it does not repair HTML as a browser does. */

import { decodeHTML } from 'entities'

/** Hidden elements: left out with all that they have. */
const HIDDEN = new Set(
  'head style script iframe embed applet object svg img picture dialog template button form textarea input select option'.split(
    ' ',
  ),
)

/** Inline elements: no blank before and after them. */
const INLINE = new Set(
  'a abbr acronym b bdo big br button cite code em i label q small span strong strike sub sup time'.split(' '),
)

/** Void elements, which have no end. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

/** Raw elements: nothing in them is a tag. */
const RAW = new Set('script style textarea title iframe noembed noframes noscript xmp'.split(' '))

/** Elements of the head, which has no text. Content before any other element is in the head. */
const IN_HEAD = new Set('html head base link meta noscript script style template title'.split(' '))

/** Texts with what stands between them. */
class Writer {
  readonly #max: number
  #bytes = 0
  #hasSpace = true
  text = ''

  constructor(max: number) {
    this.#max = max
  }

  /** As PocketBase decides whether to look into an element. */
  get isFull(): boolean {
    return this.#bytes > this.#max + 2
  }

  /** True if the text is long enough: the rest is cut off in any case. */
  get isEnough(): boolean {
    return this.text.length > 2 * this.#max + 4
  }

  write(html: string): void {
    const folded = decodeHTML(html).replaceAll(/[\t\n\f\r ]+/g, ' ')
    const text = this.#hasSpace ? folded.replace(/^ +/, '') : folded
    if (text === '') return
    this.text += text
    this.#bytes += Buffer.byteLength(text)
    this.#hasSpace = text.endsWith(' ')
  }

  space(): void {
    if (!this.#hasSpace) this.write(' ')
  }
}

/** At most `max` characters of the text of HTML. Anything but a text stays as it is. */
export function excerpt(value: unknown, max: number, withEllipsis: boolean): unknown {
  if (typeof value !== 'string') return value
  const text = textOf(value, max).trim()
  const characters = Array.from(text)
  if (characters.length <= max) return text
  return `${characters.slice(0, max).join('').trim()}${withEllipsis ? '...' : ''}`
}

function textOf(html: string, max: number): string {
  const writer = new Writer(max)
  const open = new OpenElements(writer)
  let at = 0
  while (at < html.length && !writer.isEnough) {
    const start = html.indexOf('<', at)
    const end = start < 0 ? html.length : start
    open.write(html.slice(at, end))
    if (start < 0) break
    at = afterTag(html, start, open)
    if (at > start) continue
    // No tag: the sign is text.
    open.write('<')
    at = start + 1
  }
  return writer.text
}

/** Reads a tag or a comment. Returns where it ends, or `start` if this is no tag. Without an end, all of the text belongs to it. */
function afterTag(html: string, start: number, open: OpenElements): number {
  if (html.startsWith('<!--', start)) return after(html, '-->', start + 4)
  if (/[!?]/.test(html[start + 1] ?? '')) return after(html, '>', start)
  TAG.lastIndex = start
  const [whole, slash, tag] = TAG.exec(html) ?? []
  if (whole === undefined) return start
  const name = tag!.toLowerCase()
  const end = endOfTag(html, start + whole.length)
  if (slash === '/') open.end(name)
  else open.begin(name)
  if (slash === '/' || !RAW.has(name)) return end
  const ending = new RegExp(`</${name}`, 'gi')
  ending.lastIndex = end
  const rawEnd = ending.exec(html)?.index ?? html.length
  open.write(html.slice(end, rawEnd))
  return rawEnd
}

const TAG = /<(\/?)([a-z][^\s/>]*)/giy

function after(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from)
  return found < 0 ? html.length : found + text.length
}

/** A `>` in the quotes of a value is no end. */
function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    if (html[at] === '>') return at + 1
    if (html[at] !== '=') continue
    while (/\s/.test(html[at + 1] ?? '')) at++
    const quote = html[at + 1]
    if (quote === '"' || quote === "'") at = after(html, quote, at + 2) - 1
  }
  return html.length
}

/** The elements around the place that is read. */
class OpenElements {
  readonly #writer: Writer
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()
  /** The elements before this one are shown; undefined: all are. */
  #hidden: number | undefined
  #isInHead = true

  constructor(writer: Writer) {
    this.#writer = writer
  }

  begin(name: string): void {
    if (this.#isShown && !IN_HEAD.has(name)) this.#isInHead = false
    const isShown = this.#isShown && !HIDDEN.has(name) && !(this.#isInHead && RAW.has(name))
    if (isShown && !INLINE.has(name)) this.#writer.space()
    if (VOID.has(name)) return
    if (this.#isShown && (!isShown || this.#writer.isFull)) this.#hidden = this.#names.length
    this.#names.push(name)
    this.#numbers.set(name, (this.#numbers.get(name) ?? 0) + 1)
  }

  write(html: string): void {
    if (!this.#isShown) return
    if (/\S/.test(html)) this.#isInHead = false
    this.#writer.write(html)
  }

  get #isShown(): boolean {
    return this.#hidden === undefined
  }

  /** Also ends what was begun in it. An end of what was not begun is ignored. */
  end(name: string): void {
    if ((this.#numbers.get(name) ?? 0) === 0) return
    for (;;) {
      const last = this.#names.pop()!
      this.#numbers.set(last, this.#numbers.get(last)! - 1)
      if (this.#hidden === this.#names.length) this.#hidden = undefined
      if (this.#isShown && !HIDDEN.has(last) && !INLINE.has(last)) this.#writer.space()
      if (last === name) return
    }
  }
}
