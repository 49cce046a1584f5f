/**
 * Turns the source of a regular expression, which RegExp has accepted, into the instructions of a nondeterministic
 * automaton.
 *
 * Parts without an automaton (backreferences, lookahead, lookbehind) are PANNIER_REGEX_UNSAFE. So are parts that are
 * not worth one (inline modifiers, octal and half escapes). Bounded repetition is written out, up to REGEX_STATES_MAX
 * instructions.
 */
import { PannierError } from '../../base/errors.ts'

/** Instructions of one expression: `(?:abc){50}` has 150. */
export const REGEX_STATES_MAX = 1000

export type AssertionKind = '^' | '$' | 'b' | 'B'

/** Numbers are positions of instructions. */
export type Instruction =
  | { readonly kind: 'found' }
  | { readonly kind: 'atom'; readonly atom: number; readonly next: number }
  | { readonly kind: 'assertion'; readonly assertion: AssertionKind; readonly next: number }
  | { readonly kind: 'either'; readonly next: readonly number[] }

export interface Program {
  readonly instructions: readonly Instruction[]
  readonly start: number
  /** Sources of expressions that match one character each. */
  readonly atoms: readonly string[]
}

export function compileProgram(source: string, flags: string): Program {
  const parser = new RegexParser(source, flags)
  const writer = new ProgramWriter(source)
  const start = writer.write(parser.alternatives(), writer.add({ kind: 'found' }))
  return { instructions: writer.instructions, start, atoms: [...writer.atoms.keys()] }
}

type Node =
  | { readonly kind: 'atom'; readonly source: string }
  | { readonly kind: 'assertion'; readonly assertion: AssertionKind }
  | { readonly kind: 'sequence' | 'either'; readonly of: readonly Node[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly min: number; readonly max: number }

/** Descends recursively: the source is short (REGEX_CHARS_MAX). */
class RegexParser {
  private readonly source: string
  private readonly escape: RegExp
  private readonly char: RegExp
  private at = 0

  constructor(source: string, flags: string) {
    this.source = source
    this.escape = flags.includes('u') ? UNICODE_ESCAPE : ESCAPE
    this.char = flags.includes('u') ? /[^]/uy : /[^]/y
  }

  /** Up to the end of the group or of the source. */
  alternatives(): Node {
    const of: Node[] = []
    let sequence: Node[] = []
    for (;;) {
      const char = this.source[this.at]
      if (char === undefined || char === ')' || char === '|') {
        of.push({ kind: 'sequence', of: sequence })
        if (char !== '|') return of.length === 1 ? of[0]! : { kind: 'either', of }
        sequence = []
        this.at++
      } else sequence.push(this.repeated(this.term(char)))
    }
  }

  private term(char: string): Node {
    if (char === '^' || char === '$') return this.assertion(char, 1)
    if (char === '(') return this.group()
    if (char === '[') return { kind: 'atom', source: this.take(CHAR_CLASS)! }
    if (char !== '\\') return { kind: 'atom', source: this.take(this.char)! }
    const escaped = this.source[this.at + 1]
    if (escaped === 'b' || escaped === 'B') return this.assertion(escaped, 2)
    const source = this.take(this.escape)
    if (source === undefined) return unsafe(this.source, 'a reference to a group, or an escape of an old kind')
    return { kind: 'atom', source }
  }

  private group(): Node {
    if (this.take(GROUP_START) === undefined) unsafe(this.source, 'a group that looks around or changes flags')
    const inner = this.alternatives()
    this.at++
    return inner
  }

  private repeated(of: Node): Node {
    const quantifier = this.take(QUANTIFIER)
    if (quantifier === undefined) return of
    switch (quantifier[0]) {
      case '*':
        return { kind: 'repeat', of, min: 0, max: Infinity }
      case '+':
        return { kind: 'repeat', of, min: 1, max: Infinity }
      case '?':
        return { kind: 'repeat', of, min: 0, max: 1 }
      default: {
        const [min, max] = quantifier.replace(/[{}?]/g, '').split(',')
        return { kind: 'repeat', of, min: Number(min), max: max === undefined ? Number(min) : Number(max || Infinity) }
      }
    }
  }

  private assertion(assertion: AssertionKind, chars: number): Node {
    this.at += chars
    return { kind: 'assertion', assertion }
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)?.[0]
    this.at += found?.length ?? 0
    return found
  }
}

const CHAR_CLASS = /\[(?:[^\]\\]|\\[^])*\]/y
const GROUP_START = /\((?:\?:|\?<[^=!>]+>|(?!\?))/y
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y
/** An escape of one character. No digit but a lone 0, no `\k`, no `\c` without a letter. */
const ESCAPE = /\\(?:u[\da-f]{4}|x[\da-f]{2}|c[a-z]|0(?!\d)|[^ck\d])/iy
const UNICODE_ESCAPE =
  /\\(?:u\{[\da-f]+\}|u[dD][89abAB][\da-f]{2}\\u[dD][c-fC-F][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|p\{[^}]*\}|0(?!\d)|[^ckpux\d])/iuy

/** Writes from the end to the start: each part gets its successor. */
class ProgramWriter {
  readonly instructions: Instruction[] = []
  readonly atoms = new Map<string, number>()
  private readonly source: string
  private nodes = 0

  constructor(source: string) {
    this.source = source
  }

  /** The position of its first instruction. */
  write(node: Node, next: number): number {
    if (++this.nodes > REGEX_STATES_MAX * 2) this.exceed()
    switch (node.kind) {
      case 'atom': {
        const atom = this.atoms.get(node.source) ?? this.atoms.size
        this.atoms.set(node.source, atom)
        return this.add({ kind: 'atom', atom, next })
      }
      case 'assertion':
        return this.add({ ...node, next })
      case 'sequence':
        return node.of.reduceRight((after, part) => this.write(part, after), next)
      case 'either':
        return this.add({ kind: 'either', next: node.of.map((part) => this.write(part, next)) })
      default:
        return this.repeat(node.of, node.min, node.max, next)
    }
  }

  add(instruction: Instruction): number {
    if (this.instructions.length >= REGEX_STATES_MAX) this.exceed()
    return this.instructions.push(instruction) - 1
  }

  private repeat(of: Node, min: number, max: number, next: number): number {
    let start = next
    if (max === Infinity) {
      const branches = [next]
      start = this.add({ kind: 'either', next: branches })
      branches.push(this.write(of, start))
    } else {
      for (let count = min; count < max; count++) {
        start = this.add({ kind: 'either', next: [this.write(of, start), next] })
      }
    }
    for (let count = 0; count < min; count++) start = this.write(of, start)
    return start
  }

  private exceed(): never {
    throw new PannierError(
      'PANNIER_LIMIT_EXCEEDED',
      `The regular expression ${this.source} has more than ${REGEX_STATES_MAX} states when its repetitions are written out.`,
    )
  }
}

function unsafe(source: string, what: string): never {
  throw new PannierError('PANNIER_REGEX_UNSAFE', `The regular expression ${source} has ${what}: its cost has no limit.`)
}
