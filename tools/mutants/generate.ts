/**
 * Prints candidates for the list of mutants: `npm run node -- tools/mutants/generate.ts [GROUP[,GROUP]] [--factor=N]`. The seed gives the
 * same candidates for the same sources. A person reads them, and takes into mutants.json those that break something.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom, type Random } from '../../packages/db/testing/random.ts'
import { root } from '../checks/packages.ts'
import type { Mutation } from '../test/mutants.ts'
import { filesOf, GROUPS } from './groups.ts'
import { visit, type Node } from './syntax.ts'

const SEED = 40
/** The number for all groups together, without a factor. */
const MUTANTS = 165
const TEXT_LENGTH_MAX = 160
/** A shorter text is soon there twice. */
const TEXT_LENGTH_MIN = 12
const LINES_AROUND = 4

interface Candidate extends Mutation {
  readonly kind: string
  readonly line: number
}

type Kind = (node: Node, text: (node: Node) => string, around: readonly Node[]) => readonly [Node, string] | undefined

const part = (node: Node, name: string): Node => node[name] as Node

const BOUNDS: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const CONNECTIVES: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' }

/** Each gives the node that is replaced, and by what. */
const KINDS: Readonly<Record<string, Kind>> = {
  negated: (node, text) => {
    if (!['IfStatement', 'ConditionalExpression', 'WhileStatement'].includes(node.type)) return undefined
    const test = part(node, 'test')
    return [test, `!(${text(test)})`]
  },
  bound: (node, text) => operatorOf(node, text, 'BinaryExpression', BOUNDS),
  connective: (node, text) => operatorOf(node, text, 'LogicalExpression', CONNECTIVES),
  'off by one': (node, text) => {
    if (node.type !== 'BinaryExpression' || part(node, 'right')['value'] !== 1) return undefined
    return ['+', '-'].includes(String(node['operator'])) ? [node, text(part(node, 'left'))] : undefined
  },
  'early return': (node, text, around) => {
    const maker = around.at(-2)
    const isFirst = around.at(-1)?.['body'] instanceof Array && (around.at(-1)!['body'] as Node[])[0] === node
    if (!isFirst || maker === undefined || !/Function/.test(maker.type)) return undefined
    const returns = maker['returnType'] as Node | null
    return returns !== null && /^: (?:Promise<)?void>?$/.test(text(returns))
      ? [node, `return\n${text(node)}`]
      : undefined
  },
  'dropped statement': (node, _text, around) => {
    if (node.type !== 'ExpressionStatement') return undefined
    const expression = part(node, 'expression')
    if (!['CallExpression', 'AssignmentExpression', 'AwaitExpression', 'UpdateExpression'].includes(expression.type))
      return undefined
    return [node, around.at(-1)!.type === 'BlockStatement' ? '' : '{}']
  },
  'dropped guard': (node, text) => {
    if (node.type !== 'IfStatement' || node['alternate'] !== null) return undefined
    return /^\{?\s*(?:return|continue|break|throw)\b/.test(text(part(node, 'consequent'))) ? [node, ''] : undefined
  },
  halved: (node) => {
    const value = node['value']
    if (node.type !== 'Literal' || typeof value !== 'number' || value < 2 || !Number.isInteger(value)) return undefined
    return [node, String(Math.floor(value / 2))]
  },
  flipped: (node, _text, around) => {
    if (node.type !== 'Literal' || typeof node['value'] !== 'boolean') return undefined
    return around.at(-1)!.type === 'ReturnStatement' ? [node, String(!node['value'])] : undefined
  },
}

function operatorOf(
  node: Node,
  text: (node: Node) => string,
  type: string,
  replacements: Readonly<Record<string, string>>,
): readonly [Node, string] | undefined {
  const operator = replacements[String(node['operator'])]
  if (node.type !== type || operator === undefined) return undefined
  return [node, `${text(part(node, 'left'))} ${operator} ${text(part(node, 'right'))}`]
}

/** Messages of errors and logs are for people. */
function isForPeople({ type, ...node }: Node, text: (node: Node) => string): boolean {
  if (type === 'ThrowStatement' || type === 'ImportDeclaration') return true
  if (type !== 'NewExpression' && type !== 'CallExpression') return false
  return /Error$|^badArgument$|\blog\b|\bwarn\b|console/.test(text(node['callee'] as Node))
}

function candidatesOf(file: string): readonly Candidate[] {
  const source = readFileSync(join(root, file), 'utf8')
  const text = ({ start, end }: Node): string => source.slice(start, end)
  const candidates: Candidate[] = []
  visit(file, source, (node, around) => {
    if (around.some((one) => isForPeople(one, text))) return
    for (const [kind, mutate] of Object.entries(KINDS)) {
      const change = mutate(node, text, around)
      const mutation = change && unique(source, change[0], change[1])
      if (mutation !== undefined) candidates.push({ file, kind, line: lineAt(source, change![0].start), ...mutation })
    }
  })
  return candidates
}

/** With as much of the lines around it as makes the text the only one. */
function unique(source: string, { start, end }: Node, replacement: string): Omit<Mutation, 'file'> | undefined {
  const lineStart = source.lastIndexOf('\n', start) + 1
  const indented = lineStart + /^ */.exec(source.slice(lineStart))![0].length
  const above = source.lastIndexOf('\n', lineStart - 2) + 1
  const ends = [end, source.indexOf('\n', end), source.indexOf('\n', source.indexOf('\n', end) + 1)]
  for (const from of [start, indented, above])
    for (const to of ends) {
      const text = source.slice(from, to)
      if (text.length < TEXT_LENGTH_MIN || text.length > TEXT_LENGTH_MAX) continue
      if (source.split(text).length === 2)
        return { text, replacement: source.slice(from, start) + replacement + source.slice(end, to) }
    }
  return undefined
}

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}

function linesOf(file: string): readonly string[] {
  return readFileSync(join(root, file), 'utf8').split('\n')
}

/** `count` of a group: a kind first, then a file by its lines, so that common kinds and files with many branches don't take all. */
function choose(group: string, count: number, random: Random): readonly Candidate[] {
  const byFile = new Map(filesOf(group, root).map((file) => [file, candidatesOf(file)]))
  const chosen = new Set<Candidate>()
  for (let tries = 0; chosen.size < count && tries < 100 * count; tries++) {
    const file = pickByLines([...byFile.keys()], random)
    const kind = random.pick(Object.keys(KINDS))
    const left = byFile.get(file)!.filter((one) => one.kind === kind && !chosen.has(one))
    if (left.length > 0) chosen.add(random.pick(left))
  }
  return [...chosen]
}

function pickByLines(files: readonly string[], random: Random): string {
  const sizes = files.map((file) => linesOf(file).length)
  let at = random.below(sizes.reduce((sum, size) => sum + size, 0))
  return files.find((_, index) => (at -= sizes[index]!) < 0)!
}

function print({ file, kind, line, text, replacement }: Candidate, at: number): void {
  const around = linesOf(file).slice(Math.max(0, line - 1 - LINES_AROUND), line + LINES_AROUND)
  console.log(`#${at} ${file}:${line} ${kind}\n${around.join('\n')}\n- ${text}\n+ ${replacement}\n`)
}

const { values, positionals } = parseArgs({
  options: { factor: { type: 'string', default: '2' } },
  allowPositionals: true,
})
const lines = Object.fromEntries(
  Object.keys(GROUPS).map((group) => [group, filesOf(group, root).flatMap((file) => linesOf(file)).length]),
)
const all = Object.values(lines).reduce((sum, count) => sum + count, 0)
for (const group of positionals[0]?.split(',') ?? Object.keys(GROUPS)) {
  const share = (MUTANTS * lines[group]!) / all
  console.log(`== ${group}: ${lines[group]} lines, ${share.toFixed(1)} mutants\n`)
  choose(group, Math.ceil(share * Number(values.factor)), seededRandom(SEED)).forEach(print)
}
