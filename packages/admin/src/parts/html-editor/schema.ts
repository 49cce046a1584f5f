/** The HTML that the editor of text knows, and how it reads and writes it. */
import { DOMParser, DOMSerializer, Schema } from 'prosemirror-model'
import type { DOMOutputSpec, MarkSpec, Node, NodeSpec, TagParseRule } from 'prosemirror-model'

/** The known elements, each with the attributes that are kept. What is not here is lost: `losses.ts` finds it. */
export const KNOWN: Readonly<Record<string, readonly string[]>> = {
  p: [],
  h1: [],
  h2: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  blockquote: [],
  hr: [],
  pre: [],
  ul: [],
  ol: ['start'],
  li: [],
  br: [],
  img: ['src', 'alt', 'title', 'width', 'height'],
  strong: [],
  b: [],
  em: [],
  i: [],
  u: [],
  s: [],
  del: [],
  code: [],
  a: ['href', 'target', 'rel', 'title'],
}

/** Marks an item whose first paragraph has no element of its own. It is never stored. */
const TIGHT = 'data-tight'

/** Whether a link may lead to this address. A script is no place. */
export function isSafeLink(href: string): boolean {
  const base = 'https://here.example/'
  return URL.canParse(href, base) && ['http:', 'https:', 'mailto:', 'tel:'].includes(new URL(href, base).protocol)
}

const nodes: Readonly<Record<string, NodeSpec>> = {
  doc: { content: 'block+' },
  paragraph: { group: 'block', content: 'inline*', parseDOM: [{ tag: 'p' }], toDOM: () => ['p', 0] },
  heading: {
    group: 'block',
    content: 'inline*',
    attrs: { level: { default: 2 } },
    defining: true,
    parseDOM: [1, 2, 3, 4, 5, 6].map((level) => ({ tag: `h${level}`, attrs: { level } })),
    toDOM: ({ attrs }) => [`h${attrs['level'] as number}`, 0],
  },
  blockquote: {
    group: 'block',
    content: 'block+',
    defining: true,
    parseDOM: [{ tag: 'blockquote' }],
    toDOM: () => ['blockquote', 0],
  },
  rule: { group: 'block', parseDOM: [{ tag: 'hr' }], toDOM: () => ['hr'] },
  codeBlock: {
    group: 'block',
    content: 'text*',
    marks: '',
    code: true,
    defining: true,
    parseDOM: [{ tag: 'pre', preserveWhitespace: 'full' }],
    toDOM: () => ['pre', ['code', 0]],
  },
  bullets: { group: 'block', content: 'item+', parseDOM: [{ tag: 'ul' }], toDOM: () => ['ul', 0] },
  numbers: {
    group: 'block',
    content: 'item+',
    attrs: { start: { default: null } },
    parseDOM: [{ tag: 'ol', getAttrs: attributesOf('start') }],
    toDOM: ({ attrs }) => ['ol', attrs, 0],
  },
  item: {
    content: 'paragraph block*',
    attrs: { isTight: { default: true } },
    defining: true,
    parseDOM: [
      {
        tag: 'li',
        getAttrs: (element) => ({
          isTight: element.hasAttribute(TIGHT) || element.firstElementChild?.localName !== 'p',
        }),
      },
    ],
    toDOM: ({ attrs }) => ['li', attrs['isTight'] === true ? { [TIGHT]: '' } : {}, 0],
  },
  text: { group: 'inline' },
  break: {
    group: 'inline',
    inline: true,
    selectable: false,
    parseDOM: [{ tag: 'br' }],
    toDOM: () => ['br'],
    leafText: () => '\n',
  },
  image: {
    group: 'inline',
    inline: true,
    draggable: true,
    attrs: none(KNOWN['img']!),
    parseDOM: [{ tag: 'img[src]', getAttrs: attributesOf(...KNOWN['img']!) }],
    toDOM: ({ attrs }) => ['img', attrs],
  },
}

const marks: Readonly<Record<string, MarkSpec>> = {
  link: {
    attrs: none(KNOWN['a']!),
    inclusive: false,
    parseDOM: [
      {
        tag: 'a[href]',
        getAttrs: (element) => isSafeLink(element.getAttribute('href')!) && attributesOf(...KNOWN['a']!)(element),
      },
    ],
    toDOM: ({ attrs }) => ['a', attrs, 0],
  },
  bold: eitherOf('strong', 'b'),
  italic: eitherOf('em', 'i'),
  underline: eitherOf('u'),
  strike: eitherOf('s', 'del'),
  code: eitherOf('code'),
}

export const schema: Schema = new Schema({ nodes, marks })

/** A mark that is written by the element that it was read from. */
function eitherOf(...names: readonly string[]): MarkSpec {
  const parseDOM: TagParseRule[] = names.map((element) => ({ tag: element, attrs: { element } }))
  return {
    attrs: { element: { default: names[0] } },
    parseDOM,
    toDOM: ({ attrs }): DOMOutputSpec => [attrs['element'] as string, 0],
  }
}

function none(names: readonly string[]): Record<string, { readonly default: null }> {
  return Object.fromEntries(names.map((name) => [name, { default: null }]))
}

/** Null: it has none. */
function attributesOf(...names: readonly string[]): (element: HTMLElement) => Record<string, string | null> {
  return (element) => Object.fromEntries(names.map((name) => [name, element.getAttribute(name)]))
}

const TAG = /<[a-z][^>]*>/gi
const INLINE = /(?<=[\s"'/])(on[a-z]+|style)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi
const STYLE = /<style\b.*?(?:<\/style\s*>|$)/gis

/**
 * Without styles and handlers, and their names. No document that is only read runs them, but some browsers say in the console that the
 * policy of the page forbids them. What is missed here is only said there.
 */
export function withoutInline(html: string): { readonly html: string; readonly names: readonly string[] } {
  const names = new Set<string>()
  const rest = html
    .replaceAll(TAG, (tag) =>
      tag.replaceAll(INLINE, (_attribute, name: string) => {
        names.add(name.toLowerCase())
        return ''
      }),
    )
    .replaceAll(STYLE, () => {
      names.add('<style>')
      return ''
    })
  return { html: rest, names: [...names] }
}

/** In a document that runs no script and loads nothing. */
export function inertBody(html = ''): HTMLElement {
  const { body } = document.implementation.createHTMLDocument('')
  body.innerHTML = withoutInline(html).html
  return body
}

export function parseHtml(html: string): Node {
  return DOMParser.fromSchema(schema).parse(inertBody(html))
}

/** An empty text is ''. */
export function htmlOf(doc: Node): string {
  if (doc.childCount === 1 && doc.firstChild!.type.name === 'paragraph' && doc.firstChild!.content.size === 0) return ''
  const body = inertBody()
  body.append(DOMSerializer.fromSchema(schema).serializeFragment(doc.content, { document: body.ownerDocument }))
  for (const item of body.querySelectorAll(`[${TIGHT}]`)) {
    item.removeAttribute(TIGHT)
    item.firstElementChild!.replaceWith(...item.firstElementChild!.childNodes)
  }
  return body.innerHTML
}
