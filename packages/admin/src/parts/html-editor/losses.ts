/**
 * Losses of stored HTML in the editor of text. Both are compared as browsers read them: white space that is not shown, and the order in
 * which marks of a text are nested, mean nothing.
 */
import { htmlOf, inertBody, isSafeLink, KNOWN, parseHtml, withoutInline } from './schema.ts'

interface Losses {
  /** Unknown elements and attributes: `<table>`, `class`. */
  readonly unknown: readonly string[]
  /** Nothing is unknown, but it would be written otherwise. */
  readonly isOtherwise: boolean
}

const MARKS = new Set(['strong', 'b', 'em', 'i', 'u', 's', 'del', 'code', 'a'])
const LEAVES = new Set(['br', 'img'])
const SHOWN_MAX = 6

/** Undefined: it would stay as it is. */
export function lossesOf(html: string): Losses | undefined {
  const before = inertBody(html)
  const unknown = [...new Set([...unknownIn(before), ...withoutInline(html).names])]
  const isSame = isReadWhole(html, before) && shapeOf(before) === shapeOf(inertBody(htmlOf(parseHtml(html))))
  if (unknown.length === 0 && isSame) return undefined
  return { unknown: unknown.slice(0, SHOWN_MAX), isOtherwise: unknown.length === 0 }
}

function unknownIn(body: HTMLElement): string[] {
  const found = new Set<string>()
  for (const { localName, attributes } of body.querySelectorAll('*')) {
    const known = Object.hasOwn(KNOWN, localName) ? KNOWN[localName] : undefined
    if (known === undefined) found.add(`<${localName}>`)
    for (const { name, value } of known === undefined ? [] : attributes) {
      if (!known!.includes(name)) found.add(name)
      else if (name === 'href' && !isSafeLink(value)) found.add(`href="${value.slice(0, 20)}"`)
    }
  }
  return [...found]
}

/** Browsers leave out what is malformed: a cell without a table, `<body>`, a tag that does not end. */
function isReadWhole(html: string, body: HTMLElement): boolean {
  if (/<!(?!--)|\0/.test(html)) return false
  const written = [...html.replaceAll(/<!--.*?-->/gs, '').matchAll(/<([a-z][^\s/>]*)/gi)].map(([, name]) =>
    name!.toLowerCase(),
  )
  const read = [...body.querySelectorAll('*')].map(({ localName }) => localName)
  return written.toSorted().join() === read.toSorted().join()
}

/** A text that is the same for HTML that means the same. */
function shapeOf(body: HTMLElement): string {
  const shape = new Shape()
  shape.addChildren(body, [], false)
  return shape.text()
}

class Shape {
  /** Tags of blocks and leaves, and texts with the marks that they have. */
  private readonly parts: { tag?: string; marks: string; text: string }[] = []

  text(): string {
    this.endBlock()
    return JSON.stringify(this.parts)
  }

  addChildren(parent: Node, marks: readonly string[], isCode: boolean): void {
    for (const child of parent.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) this.addText(child.nodeValue!, marks, isCode)
      else if (child.nodeType === Node.ELEMENT_NODE) this.addElement(child as Element, marks, isCode)
      else this.addTag(`<!--${child.nodeValue}-->`, marks)
    }
  }

  private addElement(element: Element, marks: readonly string[], isCode: boolean): void {
    const { localName } = element
    const attributes = [...element.attributes].map(({ name, value }) => `${name}=${JSON.stringify(value)}`).toSorted()
    const tag = `<${[localName, ...attributes].join(' ')}>`
    if (LEAVES.has(localName)) return this.addTag(tag, marks)
    if (MARKS.has(localName) && !isCode) {
      if (!element.hasChildNodes()) this.addTag(tag, marks)
      return this.addChildren(element, [...marks, tag], false)
    }
    this.endBlock()
    this.addTag(tag, marks)
    this.addChildren(element, marks, isCode || localName === 'pre')
    this.endBlock()
    this.addTag(`</${localName}>`, marks)
  }

  private addTag(tag: string, marks: readonly string[]): void {
    this.parts.push({ tag, marks: marks.toSorted().join(''), text: '' })
  }

  private addText(given: string, marks: readonly string[], isCode: boolean): void {
    const last = this.parts.at(-1)
    let text = given
    if (!isCode) {
      text = text.replaceAll(/[ \t\r\n\f]+/g, ' ')
      const isAfterSpace = last === undefined || (last.tag === undefined ? last.text.endsWith(' ') : !isImage(last.tag))
      if (isAfterSpace) text = text.replace(/^ /, '')
    }
    if (text === '') return
    const key = marks.toSorted().join('')
    if (last?.tag === undefined && last?.marks === key) last.text += text
    else this.parts.push({ marks: key, text })
  }

  /** Space at the end of a block is not shown. */
  private endBlock(): void {
    const last = this.parts.at(-1)
    if (last === undefined || last.tag !== undefined || this.isInCode()) return
    last.text = last.text.replace(/ $/, '')
    if (last.text === '') this.parts.pop()
  }

  private isInCode(): boolean {
    return this.parts.findLast(({ tag }) => tag !== undefined)?.tag === '<code>'
  }
}

function isImage(tag: string): boolean {
  return tag.startsWith('<img ')
}
