/** `$template`: templates of Go's `html/template`, as far as pages and mails use them: values, conditions, loops, layouts. */
import { readFileSync } from 'node:fs'

type Values = Readonly<Record<string, unknown>>
type Blocks = Map<string, readonly Node[]>
type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly pipe: string }
  | { readonly kind: 'call'; readonly name: string; readonly pipe: string }
  | {
      readonly kind: 'if' | 'range' | 'with'
      readonly pipe: string
      readonly body: readonly Node[]
      readonly other: readonly Node[]
    }

/** Shown as it is: of the filter `raw`. */
class Raw {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const TOKEN = /\{\{(-?)\s*([^]*?)\s*(-?)\}\}/g

class Parser {
  readonly #tokens: (string | { readonly action: string })[] = []
  readonly #blocks: Blocks
  #at = 0

  constructor(text: string, blocks: Blocks) {
    this.#blocks = blocks
    let last = 0
    let trims = false
    for (const { 0: whole, 1: before, 2: action = '', 3: after, index } of text.matchAll(TOKEN)) {
      let piece = text.slice(last, index)
      if (trims) piece = piece.trimStart()
      if (before === '-') piece = piece.trimEnd()
      this.#tokens.push(piece)
      if (!action.startsWith('/*')) this.#tokens.push({ action })
      trims = after === '-'
      last = index + whole.length
    }
    this.#tokens.push(trims ? text.slice(last).trimStart() : text.slice(last))
  }

  /** Until `end` or `else`. */
  nodes(): Node[] {
    const made: Node[] = []
    while (this.#at < this.#tokens.length) {
      const token = this.#tokens[this.#at]!
      if (typeof token === 'object' && /^(?:end|else)\b/.test(token.action)) return made
      this.#at++
      made.push(...(typeof token === 'string' ? [{ kind: 'text' as const, text: token }] : this.#action(token.action)))
    }
    return made
  }

  #action(action: string): Node[] {
    const [word = ''] = action.split(/\s/, 1)
    const pipe = action.slice(word.length).trim()
    if (word === 'if' || word === 'range' || word === 'with') return [this.#conditional(word, pipe)]
    const [, name = '', given = ''] = /^"([^"]*)"\s*(.*)$/.exec(pipe) ?? []
    if (word === 'template') return [{ kind: 'call', name, pipe: given }]
    if (word !== 'define' && word !== 'block') return [{ kind: 'value', pipe: action }]
    const body = this.nodes()
    this.#at++
    // What was defined first stays: the layout's block is what there is without another.
    if (word === 'define' || !this.#blocks.has(name)) this.#blocks.set(name, body)
    return word === 'define' ? [] : [{ kind: 'call', name, pipe: given }]
  }

  #conditional(kind: 'if' | 'range' | 'with', pipe: string): Node {
    const body = this.nodes()
    const { action } = this.#tokens[this.#at++] as { readonly action: string }
    if (action === 'end') return { kind, pipe, body, other: [] }
    const [, word, inner = ''] = /^else\s*(if|with)?\s*(.*)$/.exec(action) ?? []
    if (word !== undefined) return { kind, pipe, body, other: [this.#conditional(word as 'if' | 'with', inner)] }
    const other = this.nodes()
    this.#at++
    return { kind, pipe, body, other }
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }),
)

interface Scope {
  readonly root: unknown
  readonly dot: unknown
  readonly blocks: Blocks
}

function render(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => shown(node, scope)).join('')
}

function shown(node: Node, scope: Scope): string {
  if (node.kind === 'text') return node.text
  const value = valueOf(node.pipe, scope)
  if (node.kind === 'call') return render(scope.blocks.get(node.name) ?? [], { ...scope, dot: value })
  if (node.kind === 'value') {
    if (value instanceof Raw) return value.text
    return textOf(value).replace(/[&<>"']/g, (sign) => ESCAPES.get(sign)!)
  }
  if (!isTrue(value)) return render(node.other, scope)
  if (node.kind === 'if') return render(node.body, scope)
  const all = node.kind === 'range' ? Object.values(value as object) : [value]
  return all.map((dot: unknown) => render(node.body, { ...scope, dot })).join('')
}

function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}

type TemplateFunction = (...parameters: unknown[]) => unknown

const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries<TemplateFunction>({
    eq: (one, ...others) => others.includes(one),
    ne: (one, other) => one !== other,
    lt: (one, other) => (one as number) < (other as number),
    le: (one, other) => (one as number) <= (other as number),
    gt: (one, other) => (one as number) > (other as number),
    ge: (one, other) => (one as number) >= (other as number),
    not: (one) => !isTrue(one),
    and: (...all) => all.find((one) => !isTrue(one)) ?? all.at(-1),
    or: (...all) => all.find(isTrue) ?? all.at(-1),
    len: (one) => (typeof one === 'string' ? one.length : Object.keys(one as object).length),
    index: (one, key) => (one as Values)[String(key)],
    raw: (one) => new Raw(textOf(one)),
    html: (one) => textOf(one),
  }),
)

function valueOf(pipe: string, scope: Scope): unknown {
  let value: unknown
  for (const [at, part] of pipe.split('|').entries()) {
    const words = part.match(/"[^"]*"|\([^)]*\)|\S+/g) ?? []
    const [name = '', ...others] = words
    const call = FUNCTIONS.get(name)
    if (call === undefined && name !== '' && !/^["(.$\d]|^(?:true|false|nil)$/.test(name))
      throw new Error(`$template: "${name}" of {{${pipe}}} is no function that is known here.`)
    const given = others.map((word) => wordOf(word, scope))
    value = call === undefined ? wordOf(name, scope) : call(...given, ...(at > 0 ? [value] : []))
  }
  return value
}

function wordOf(word: string, scope: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word) as unknown
  if (word.startsWith('(')) return valueOf(word.slice(1, -1), scope)
  if (/^-?\d/.test(word)) return Number(word)
  if (word === 'true' || word === 'false') return word === 'true'
  if (word === '' || word === 'nil') return undefined
  const start = word.startsWith('$') ? scope.root : scope.dot
  const names = word
    .replace(/^\$/, '')
    .split('.')
    .filter((name) => name !== '')
  return names.reduce<unknown>((from, name) => {
    const found = (from as Values | null | undefined)?.[name]
    return typeof found === 'function' ? (found as () => unknown).call(from) : found
  }, start)
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' && !('toJSON' in value) ? JSON.stringify(value) : String(value as string)
}

/** `$template`. */
export class Template {
  loadFiles(...files: readonly string[]): { render(values?: unknown): string } {
    return compiled(files.map((file) => readFileSync(file, 'utf8')))
  }

  loadString(text: string): { render(values?: unknown): string } {
    return compiled([text])
  }
}

/** The first one is the page; others define its blocks. */
function compiled(texts: readonly string[]): { render(values?: unknown): string } {
  const blocks: Blocks = new Map()
  const [page = []] = texts
    .toReversed()
    .map((text) => new Parser(text, blocks).nodes())
    .toReversed()
  return { render: (values) => render(page, { root: values, dot: values, blocks }) }
}
