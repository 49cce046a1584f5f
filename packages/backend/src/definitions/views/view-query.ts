/**
 * The columns of a SELECT for a view, as PocketBase reads them: by words, not by a grammar. It tells types of fields. Whether the query
 * is right, and what its columns are called, SQLite tells.
 */

/** A column or a table: `posts.title AS name` has the parts `posts.title` and `name`. */
interface NamedPart {
  readonly original: string
  readonly alias: string
}

export interface ViewQuery {
  readonly columns: readonly NamedPart[]
  /** The tables of FROM and of joins. */
  readonly tables: readonly NamedPart[]
}

const BLANKS = '\t\n\v\f\r \u0085\u00a0'
const QUOTES = `'"\``
/** A backslash keeps the next sign from opening or closing anything. */
const ESCAPE = '\\'

/** Cuts a text at separators that are in no quotes and no parentheses. Undefined: some of these stay open. */
function cutText(text: string, separators: string, isKept = false): readonly string[] | undefined {
  const trimmed = BLANKS.split('')
    .filter((blank) => !separators.includes(blank))
    .join('')
  const parts: string[] = []
  let [part, before, quote, depth] = ['', '', '', 0]
  const end = (): void => {
    const token = trim(part, trimmed)
    if (token !== '') parts.push(token)
    part = before = ''
  }
  for (const sign of text) {
    if (before !== ESCAPE) {
      if (quote === '' && sign === '(') depth++
      else if (quote === '' && sign === ')') depth = Math.max(0, depth - 1)
      else if (QUOTES.includes(sign)) quote = quote === '' ? sign : quote === sign ? '' : quote
    }
    const isCut = separators.includes(sign) && depth === 0 && quote === ''
    if (!isCut || isKept) part += sign
    before = sign
    if (isCut) end()
  }
  end()
  return depth > 0 || quote !== '' ? undefined : parts
}

function trim(text: string, signs: string): string {
  let [from, to] = [0, text.length]
  while (from < to && signs.includes(text[from]!)) from++
  while (to > from && signs.includes(text[to - 1]!)) to--
  return text.slice(from, to)
}

/** Without what may stand around it: blanks and `;`. */
export function trimmedQuery(query: string): string {
  return trim(trim(query, BLANKS), ';')
}

const DBX_NAME = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--.*|\/\*[\s\S]*?\*\/|\[\[([\w\-. ]+)\]\]|\{\{([\w\-. ]+)\}\}/g

/** As SQLite takes it: PocketBase writes names as `[[name]]` and `{{name}}`, too. */
export function plainQuery(query: string): string {
  return trimmedQuery(query).replaceAll(DBX_NAME, (whole: string, column?: string, table?: string) => {
    const name = column ?? table
    return name === undefined ? whole : name.replaceAll(/[^.]+/g, '`$&`')
  })
}

/** Whether there is a `;` between two parts. */
export function isOneStatement(query: string): boolean {
  return (cutText(query, ';') ?? []).length <= 1
}

const COMMENTS = /(\/\*[\s\S]*?\*\/)|(--.+$)/gm
const JOINS =
  /\s+(full\s+outer\s+join|left\s+outer\s+join|right\s+outer\s+join|full\s+join|cross\s+join|inner\s+join|outer\s+join|left\s+join|right\s+join|join)\s+?/gim
const SKIPPED = /\s+(where|group\s+by|having|order|limit|with)\s+?/gim
/** No words of a query. */
const [JOIN, SKIP] = ['__join__', '__skip__']

/** Reads a query. A query that can't be read has no columns: they are JSON then. */
export function readViewQuery(query: string): ViewQuery {
  const text = trimmedQuery(query).replace(COMMENTS, ' ').replace(JOINS, ` ${JOIN} `).replace(SKIPPED, ` ${SKIP} `)
  const parts = { select: '', from: '', join: '' }
  let kind: keyof typeof parts | undefined
  let isSkipping = false
  for (const token of cutText(text, ', \n\t', true) ?? []) {
    const word = token.trim().toLowerCase()
    if (word === 'select' || word === 'from' || word === JOIN) {
      if (word === JOIN && kind === 'join') parts.join += ','
      kind = word === 'select' || word === 'from' ? word : 'join'
      isSkipping = false
    } else if (word === SKIP) isSkipping = true
    else if (word !== 'distinct') {
      if (kind === 'join' && word === 'on') isSkipping = true
      if (!isSkipping && kind !== undefined) parts[kind] += ` ${token}`
    }
  }
  return { columns: namedParts(parts.select), tables: [...namedParts(parts.from), ...namedParts(parts.join)] }
}

function namedParts(list: string): readonly NamedPart[] {
  return (cutText(list, ',') ?? []).map((text) => {
    const words = (cutText(text, ' \n\t') ?? []).map((word) => word.trim()).filter((word) => word !== '')
    // PocketBase takes no blanks in an expression: those of more words are expressions here, with the name at their end.
    const isNamed = words.length > 2 && words.at(-2)!.toLowerCase() === 'as'
    if (isNamed) return partOf(words.slice(0, -2).join(' '), words.at(-1)!)
    if (words.length === 2) return partOf(words[0]!, words[1]!)
    const whole = words.join(' ')
    return partOf(whole, words.length === 1 ? whole.split('.').at(-1)! : whole)
  })
}

function partOf(original: string, alias: string): NamedPart {
  const signs = '`"[];'
  const unquoted = (text: string, more = ''): string =>
    text
      .split('.')
      .map((name) => trim(name, signs + more))
      .join('.')
  return { original: unquoted(original), alias: unquoted(alias, "'") }
}

/** The type of a column by the beginning of its text. Undefined: it may be a copy of a field. */
export function typeOfText(text: string): Readonly<Record<string, unknown>> | undefined {
  const lower = text.toLowerCase()
  if (lower.startsWith('count(')) return INTEGER
  if (lower.startsWith('total(')) return NUMBER
  const [, cast] = /^cast\s*\(.*\s+as\s+(\w+)\s*\)$/s.exec(lower) ?? []
  return cast === undefined ? undefined : CASTS.get(cast)
}

const NUMBER = { type: 'number' }
const INTEGER = { type: 'number', onlyInt: true }
const BOOL = { type: 'bool' }
const CASTS: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map<string, object>([
  ...['real', 'decimal', 'numeric'].map((name) => [name, NUMBER] as const),
  ...['int', 'integer'].map((name) => [name, INTEGER] as const),
  ...['boolean', 'bool'].map((name) => [name, BOOL] as const),
  ['text', { type: 'text' }],
]) as ReadonlyMap<string, Readonly<Record<string, unknown>>>
