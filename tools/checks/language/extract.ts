/** Finds the prose of the project: texts of errors, comments, names of tests, and the paragraphs of Markdown files. */
import { parseSync } from 'rolldown/utils'

export interface Piece {
  readonly line: number
  readonly text: string
}

/** A docstring, as the rules about nouns read it. */
export interface Docstring extends Piece {
  /** The code that it describes: the declaration below; for the head of a file, the exports. */
  readonly code: string
}

export interface SourceProse {
  readonly errors: readonly Piece[]
  /** `new TypeError` with a text that is not of the form `function(): what must be …, got …`. */
  readonly badForms: readonly Piece[]
  readonly docstrings: readonly Piece[]
  readonly head: readonly Piece[]
  readonly comments: readonly Piece[]
  readonly tests: readonly Piece[]
  /** Each comment that begins with two asterisks, wherever it stands. */
  readonly blocks: readonly Docstring[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [name: string]: unknown
}

interface Comment {
  readonly type: 'Block' | 'Line'
  readonly value: string
  readonly start: number
  readonly end: number
}

/** Functions that make an error of the text that they are given, beside `new …Error(…)`. */
const ERROR_MAKERS = /^(?:badArgument|\w*[eE]rror|refuse[ds]?|invalid|corrupt|damaged|fail)$/

/** `X` stands for `${…}`. */
const ARGUMENT_ERROR = /^(?:[\w.]+\(\)|X): .*\bmust\b.*, got |^X: X(?:, got X)?$/

const TEST_FUNCTIONS = new Set(['test', 'it', 'describe'])

/** The lines below a docstring in which its declaration has its names. */
const DECLARATION_LINES = 8

export function proseOfSource(path: string, source: string): SourceProse {
  const { program, comments } = parseSync(path, source)
  const lineOf = lineFinder(source)
  const errors: Piece[] = []
  const badForms: Piece[] = []
  const tests: Piece[] = []
  walk(program as unknown as Node, (node) => {
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return
    const name = nameOf(node['callee'] as Node)
    const given = node['arguments'] as readonly Node[]
    const isError = node.type === 'NewExpression' ? name.endsWith('Error') : ERROR_MAKERS.test(name)
    if (isError) for (const text of given.flatMap(textsIn)) errors.push({ line: lineOf(text.start), text: text.text })
    if (node.type === 'NewExpression' && name === 'TypeError')
      for (const text of given.flatMap(textsIn))
        if (!ARGUMENT_ERROR.test(text.text)) badForms.push({ line: lineOf(text.start), text: text.text })
    if (TEST_FUNCTIONS.has(name) && given[0] !== undefined)
      for (const text of textsIn(given[0])) tests.push({ line: lineOf(text.start), text: text.text })
  })
  const exported = exportedStarts(program as unknown as Node)
  const [docstrings, head, others]: Piece[][] = [[], [], []]
  const blocks: Docstring[] = []
  for (const comment of joined(comments as readonly Comment[], source)) {
    if (/^\s*(?:oxlint|eslint|@ts-|@__PURE__|#__PURE__|@vite)/.test(comment.value)) continue
    const piece = { line: lineOf(comment.start), text: proseOfComment(comment.value) }
    const next = comment.end + source.slice(comment.end).search(/\S|$/)
    const isHead = source.slice(0, comment.start).replace(/^#!.*/, '').trim() === '' && !exported.has(next)
    const isDocstring = comment.value.startsWith('*')
    if (isDocstring && piece.text !== '')
      blocks.push({ ...piece, code: isHead ? exportsIn(path, source) : declarationAt(source.slice(next)) })
    if (isHead) head!.push(piece)
    else if (isDocstring && exported.has(next)) docstrings!.push(piece)
    else others!.push(piece)
  }
  return { errors, badForms, tests, docstrings: docstrings!, head: head!, comments: others!, blocks }
}

function exportsIn(path: string, source: string): string {
  return [path, ...(source.match(/^export .*/gm) ?? [])].join('\n')
}

function declarationAt(source: string): string {
  const lines = source.split('\n').slice(0, DECLARATION_LINES)
  return lines
    .join('\n')
    .replace(/\n\s*\n[^]*/, '')
    .replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '')
}

/** Where exported declarations and the members of exported classes and interfaces begin. */
function exportedStarts(program: Node): ReadonlySet<number> {
  const starts = new Set<number>()
  for (const statement of program['body'] as readonly Node[]) {
    if (!statement.type.startsWith('Export')) continue
    starts.add(statement.start)
    walk(statement, (node) => {
      if (/^(?:MethodDefinition|PropertyDefinition|TSPropertySignature|TSMethodSignature)$/.test(node.type))
        starts.add(node.start)
    })
  }
  return starts
}

/** Line comments on lines that follow one another are one text. */
function joined(comments: readonly Comment[], source: string): readonly Comment[] {
  const result: Comment[] = []
  for (const comment of comments) {
    const last = result.at(-1)
    const isNext =
      last?.type === 'Line' && comment.type === 'Line' && /^\n[ \t]*$/.test(source.slice(last.end, comment.start))
    if (isNext) result[result.length - 1] = { ...last, value: `${last.value}\n${comment.value}`, end: comment.end }
    else result.push(comment)
  }
  return result
}

function proseOfComment(value: string): string {
  const lines = value.split('\n').map((line) => line.replace(/^\s*\*+ ?/, ''))
  return proseOfMarkdown(
    lines
      .join('\n')
      .replace(/@example[\s\S]*?(?=\n@\w|$)/g, '')
      .replace(/\{@link ([^}]*)\}/g, '`$1`')
      .replace(/@(\w+)/g, '\n\n'),
  )
    .map(({ text }) => text)
    .join('\n\n')
}

/** Paragraphs, list items and cells, without blocks of code. */
export function proseOfMarkdown(source: string): Piece[] {
  const pieces: { line: number; text: string }[] = []
  let isCode = false
  let isOpen = false
  for (const [index, line] of source.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    const isProse = !isCode && /[\p{L}]/u.test(line) && !/^\s*(?:```|~~~)|^ {4,}\S/.test(line)
    if (!isProse && !(isOpen && /^ {4,}\S/.test(line) && !isCode)) isOpen = false
    else if (/^\s*\|/.test(line)) {
      isOpen = false
      for (const cell of line.split(/(?<!\\)\|/))
        if (/\p{L}/u.test(cell)) pieces.push({ line: index + 1, text: cell.trim() })
    } else {
      const text = line.replace(/^\s*(?:[-*+]|\d+\.|#+|>)\s+/, '').trim()
      if (!isOpen || text !== line.trim()) pieces.push({ line: index + 1, text })
      else pieces.at(-1)!.text += ` ${text}`
      isOpen = !/^\s*#+ /.test(line)
    }
  }
  return pieces
}

/** The strings in `node` that are sentences or parts of one; `${…}` counts as one word. */
function textsIn(node: Node): { readonly start: number; readonly text: string }[] {
  if (node.type === 'Literal') {
    const { value } = node as unknown as { value: unknown }
    return typeof value === 'string' && value.includes(' ') ? [{ start: node.start, text: value }] : []
  }
  if (node.type === 'TemplateLiteral') {
    const quasis = node['quasis'] as readonly { value: { cooked: string } }[]
    const inner = (node['expressions'] as readonly Node[]).flatMap(textsIn)
    const text = quasis.map(({ value }) => value.cooked).join('X')
    return text.includes(' ') ? [{ start: node.start, text }, ...inner] : inner
  }
  if (node.type === 'BinaryExpression') {
    const [left] = textsIn(node['left'] as Node)
    const [right] = textsIn(node['right'] as Node)
    if (left && right) return [{ start: left.start, text: left.text + right.text }]
    return [left, right].filter((one) => one !== undefined)
  }
  if (node.type === 'ConditionalExpression')
    return [node['consequent'], node['alternate']].flatMap((one) => textsIn(one as Node))
  return []
}

function nameOf(callee: Node): string {
  if (callee.type === 'Identifier') return callee['name'] as string
  if (callee.type === 'MemberExpression') return nameOf(callee['property'] as Node)
  return ''
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof child === 'object' && child !== null && typeof (child as Partial<Node>).type === 'string')
        walk(child as Node, visit)
    }
  }
}

function lineFinder(source: string): (offset: number) => number {
  const starts = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1
}
