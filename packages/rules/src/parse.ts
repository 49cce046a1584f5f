/** Makes an expression of a text. Without recursion, so that no depth of parentheses overflows the stack. */
import type { Argument, Call, Comparison, Expression, Operand, Operator } from './ast.ts'
import { RuleError } from './errors.ts'
import { Scanner, type Token } from './scan.ts'

/** A filter of PocketBase's list route has at most this number of bytes of UTF-8. Rules have no such limit. */
export const FILTER_BYTES_MAX = 3500

/** A rule or a filter has at most this number of comparisons. */
export const COMPARISONS_MAX = 200

/** The options of `parse`, beside the text. */
export interface ParseOptions {
  /** The greatest number of bytes, as UTF-8; no limit by default. `FILTER_BYTES_MAX` is PocketBase's for filters. */
  readonly bytesMax?: number
}

/** Alternatives, each of expressions that all have to hold; `at` is the parenthesis. */
interface Group {
  readonly at: number
  readonly of: Expression[][]
}

/**
 * Parses a rule or a filter. Throws a `RuleError` with the position of the mistake, and never another error.
 *
 * @example
 * const rule = parse('published = true || author = @request.auth.id')
 * print(rule) // 'published = true || author = @request.auth.id'
 */
export function parse(text: string, { bytesMax = Infinity }: ParseOptions = {}): Expression {
  if (text.length > bytesMax || new TextEncoder().encode(text).length > bytesMax)
    throw new RuleError('limit', `The filter is longer than ${bytesMax} bytes.`, bytesMax)
  const nul = text.indexOf('\0')
  // PocketBase ignores what follows it.
  if (nul >= 0) throw new RuleError('syntax', 'Unexpected character "\\0".', nul)
  const scanner = new Scanner(text)
  const groups: Group[] = [{ at: 0, of: [[]] }]
  let comparisons = 0
  for (;;) {
    const token = scanner.next(groups.length - 1)
    if (token.kind === '(') {
      groups.push({ at: token.at, of: [[]] })
      continue
    }
    if (++comparisons > COMPARISONS_MAX)
      throw new RuleError('limit', `More than ${COMPARISONS_MAX} comparisons.`, token.at)
    add(groups, comparison(scanner, token, groups.length - 1))
    const join = endGroups(scanner, groups)
    if (join === 'end') return expressionOf(groups[0]!)
    if (join === '||') groups.at(-1)!.of.push([])
  }
}

function add(groups: readonly Group[], expression: Expression): void {
  groups.at(-1)!.of.at(-1)!.push(expression)
}

/** Reads closing parentheses and what follows them. */
function endGroups(scanner: Scanner, groups: Group[]): string {
  for (;;) {
    const token = scanner.next(groups.length - 1)
    if (token.kind === 'join') return token.value
    if (token.kind === ')' && groups.length > 1) {
      const group = groups.pop()!
      add(groups, expressionOf(group))
      continue
    }
    if (token.kind !== 'end') throw unexpected(token, '"&&" or "||"')
    if (groups.length > 1) throw new RuleError('syntax', 'A parenthesis is not closed.', groups.at(-1)!.at)
    return 'end'
  }
}

function expressionOf({ of }: Group): Expression {
  return junction(
    'or',
    of.map((alternative) => junction('and', alternative)),
  )
}

function junction(kind: 'and' | 'or', of: readonly Expression[]): Expression {
  return of.length === 1 ? of[0]! : Object.freeze({ kind, of: Object.freeze(of) })
}

function comparison(scanner: Scanner, first: Token, depth: number): Comparison {
  const left = operand(scanner, first, depth)
  const sign = scanner.next(depth)
  if (sign.kind !== 'operator') {
    if (left.kind !== 'call' || left.name !== 'search') throw unexpected(sign, 'an operator, such as "="')
    scanner.back(sign)
    return comparing(left, '=', Object.freeze({ kind: 'name', name: 'true', at: left.at }))
  }
  return comparing(left, sign.value, operand(scanner, scanner.next(depth), depth))
}

function comparing(left: Operand, sign: string, right: Operand): Comparison {
  const any = sign.startsWith('?')
  const operator = (any ? sign.slice(1) : sign) as Operator
  return Object.freeze({ kind: 'comparison', operator, any, left, right })
}

function operand(scanner: Scanner, token: Token, depth: number): Operand {
  return token.kind === 'function' ? call(scanner, token, depth) : argument(token, 'a field, a text or a number')
}

function argument({ kind, at, value, ...rest }: Token, expected: string): Argument {
  if (kind === 'name') return Object.freeze({ kind, name: value, at })
  if (kind === 'text') return Object.freeze({ kind, value, at })
  if (kind !== 'number') throw unexpected({ kind, at, value, ...rest }, expected)
  const number = Number(value)
  // As PocketBase: a number out of range is 0.
  return Object.freeze({ kind, value: Number.isFinite(number) ? number + 0 : 0, at })
}

function call(scanner: Scanner, { value: name, at }: Token, depth: number): Call {
  const of: Argument[] = []
  for (;;) {
    const token = scanner.next(depth)
    // A comma may stand after the last argument.
    if (token.kind === ')') break
    of.push(argument(token, 'an argument: a field, a text or a number'))
    const comma = scanner.next(depth)
    if (comma.kind === ')') break
    if (comma.kind !== ',') throw unexpected(comma, '"," or ")"')
  }
  return Object.freeze({ kind: 'call', name, of: Object.freeze(of), at })
}

function unexpected({ kind, at, value }: Token, expected: string): RuleError {
  const word = value.toLowerCase()
  const hint = word === 'and' ? 'Write "&&".' : word === 'or' ? 'Write "||".' : ''
  return new RuleError('syntax', `Expected ${expected}, got ${kind === 'end' ? 'the end' : `"${value}"`}.`, at, hint)
}
