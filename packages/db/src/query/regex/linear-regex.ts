/**
 * Regular expressions without backtracking. A test mostly takes one step a character. It never takes more than a fixed
 * number of steps, after which it fails with PANNIER_LIMIT_EXCEEDED.
 *
 * The expression becomes a nondeterministic automaton (parse-regex.ts). Sets of its states are the states of a
 * deterministic one, which are made on first use and kept up to a bound. Only "found or not" matters, so greedy and
 * lazy repetition are the same. The platform's own RegExp decides what one character or class matches. So case, Unicode
 * properties and classes work as users know.
 */
import { assert, PannierError } from '../../base/errors.ts'
import { compileProgram, type AssertionKind, type Instruction, type Program } from './parse-regex.ts'

/**
 * Limits of instructions: in one text, in all texts together, and for each of their characters. About a second for all
 * of a megabyte.
 */
const TEXT_WORK_MAX = 4_000_000
const WORK_MAX = 1_000_000
const CHAR_WORK_MAX = 64
/** Numbers kept in known states, and characters whose class is kept; beyond that all are forgotten. */
const STATE_NUMBERS_MAX = 100_000
const CLASSIFIED_CHARS_MAX = 20_000
const LOW_CHARS = 256

/** The kind of a neighbouring character, as far as assertions need it. */
type Side = 'edge' | 'word' | 'newline' | 'other'

/** Characters that no part of the expression distinguishes. */
interface CharClass {
  readonly number: number
  readonly side: Side
  /** For each atom of the program: it matches them. */
  readonly atoms: readonly boolean[]
}

/** The instructions that may come next; what comes before them. */
interface State {
  readonly pending: Uint16Array
  readonly before: Side
  /** By the number of the class of the next character; null: found. */
  readonly next: (State | null)[]
}

type AtomInstruction = Extract<Instruction, { kind: 'atom' }>

/** A linear regular expression (regex), whose tests do not backtrack. */
export class LinearRegex {
  /** The chars that were looked at so far. */
  chars = 0
  /** Instructions looked at so far. */
  instructions = 0
  private readonly source: string
  private readonly program: Program
  private readonly isUnicode: boolean
  private readonly isMultiline: boolean
  private readonly atoms: readonly RegExp[]
  private readonly wordChar: RegExp
  private readonly classes = new Map<string, CharClass>()
  private readonly classOfChar = new Map<number, CharClass>()
  /** The classes of the first characters, which most texts are made of. */
  private readonly classOfLowChar: (CharClass | undefined)[] = []
  private readonly states = new Map<string, State>()
  private stateNumbers = 0
  /** The state before the first character. */
  private begin: State | undefined
  /**
   * Buffers of `reachable` and `consumed`, made once: waiting positions, seen ones (with the number of the round), and
   * results.
   */
  private readonly stack: Uint16Array
  private readonly seen: Uint32Array
  private round = 0
  private readonly found: Uint16Array
  private textWorkMax = 0

  constructor(source: string, flags: string) {
    this.source = source
    this.program = compileProgram(source, flags)
    this.isUnicode = flags.includes('u')
    this.isMultiline = flags.includes('m')
    const charFlags = flags.replace('m', '')
    this.atoms = this.program.atoms.map((atom) => new RegExp(`^(?:${atom})$`, charFlags))
    this.wordChar = new RegExp('^\\w$', charFlags)
    this.stack = new Uint16Array(this.size)
    this.seen = new Uint32Array(this.size)
    this.found = new Uint16Array(this.size)
  }

  /** Characters and instructions looked at so far. */
  get work(): number {
    return this.chars + this.instructions
  }

  /** The size: how large it is. */
  get size(): number {
    return this.program.instructions.length
  }

  /** @throws PANNIER_LIMIT_EXCEEDED if that takes more work than an expression may */
  test(text: string): boolean {
    let state = (this.begin ??= this.state(new Uint16Array(0), 'edge'))
    this.chars += text.length
    this.textWorkMax = this.instructions + TEXT_WORK_MAX
    for (let at = 0; at < text.length; at++) {
      const char = this.isUnicode ? text.codePointAt(at)! : text.charCodeAt(at)
      if (char > 0xffff) at++
      const known = char < LOW_CHARS ? this.classOfLowChar[char] : this.classOfChar.get(char)
      const charClass = known ?? this.classify(char)
      const next = state.next[charClass.number] ?? this.step(state, charClass)
      if (next === null) return true
      state = next
    }
    return this.reachable(state, 'edge') === undefined
  }

  /** The next state; null: found before this character. */
  private step(state: State, charClass: CharClass): State | null {
    const now = this.reachable(state, charClass.side)
    const next = now === undefined ? null : this.state(this.consumed(now, charClass), charClass.side)
    if (state.next[charClass.number] === undefined) state.next[charClass.number] = next
    return next
  }

  private consumed(now: Uint16Array, { atoms }: CharClass): Uint16Array {
    const { found, seen } = this
    const { instructions } = this.program
    const round = this.nextRound()
    let count = 0
    for (const at of now) {
      const { atom, next } = instructions[at] as AtomInstruction
      if (!atoms[atom]! || seen[next] === round) continue
      seen[next] = round
      // Safe if `now` is the same array: it is read at this position or after it.
      found[count++] = next
    }
    return found.slice(0, count).sort()
  }

  /** The atoms that can be got to without a character, given what comes after; undefined: the end is one of them. A view: not for keeping. */
  private reachable({ pending, before }: State, after: Side): Uint16Array | undefined {
    const { stack, seen, found } = this
    const { instructions, start } = this.program
    const round = this.nextRound()
    let waiting = 0
    let count = 0
    const add = (to: number): void => {
      if (seen[to] === round) return
      seen[to] = round
      stack[waiting++] = to
    }
    for (const at of pending) add(at)
    // The expression may begin at every place.
    add(start)
    while (waiting > 0) {
      const at = stack[--waiting]!
      const instruction = instructions[at]!
      this.instructions++
      if (instruction.kind === 'found') return undefined
      if (instruction.kind === 'atom') found[count++] = at
      else if (instruction.kind === 'either') for (const to of instruction.next) add(to)
      else if (this.holds(instruction.assertion, before, after)) add(instruction.next)
    }
    this.checkWork()
    return found.subarray(0, count)
  }

  private nextRound(): number {
    if (++this.round > 0xffff_ffff) {
      this.seen.fill(0)
      this.round = 1
    }
    return this.round
  }

  private checkWork(): void {
    if (this.instructions <= this.textWorkMax && this.instructions <= WORK_MAX + CHAR_WORK_MAX * this.chars) return
    throw new PannierError(
      'PANNIER_LIMIT_EXCEEDED',
      `The regular expression ${this.source} takes too much work on these texts. Make its repetitions shorter, or give it a literal start.`,
    )
  }

  private holds(assertion: AssertionKind, before: Side, after: Side): boolean {
    switch (assertion) {
      case '^':
        return before === 'edge' || (this.isMultiline && before === 'newline')
      case '$':
        return after === 'edge' || (this.isMultiline && after === 'newline')
      default:
        return ((before === 'word') !== (after === 'word')) === (assertion === 'b')
    }
  }

  private state(pending: Uint16Array, before: Side): State {
    const key = before + String.fromCharCode(...pending)
    const known = this.states.get(key)
    if (known !== undefined) return known
    if ((this.stateNumbers += pending.length + 16) > STATE_NUMBERS_MAX) {
      // Only the loop in `test` holds one of them now, and it continues with the new one.
      this.states.clear()
      this.begin = undefined
      this.stateNumbers = pending.length
    }
    const state: State = { pending, before, next: [] }
    this.states.set(key, state)
    return state
  }

  private classify(char: number): CharClass {
    const text = this.isUnicode ? String.fromCodePoint(char) : String.fromCharCode(char)
    this.instructions += this.atoms.length
    const atoms = this.atoms.map((atom) => atom.test(text))
    const side = this.wordChar.test(text) ? 'word' : /[\n\r\u2028\u2029]/.test(text) ? 'newline' : 'other'
    const key = side + atoms.map(Number).join('')
    let charClass = this.classes.get(key)
    if (charClass === undefined) this.classes.set(key, (charClass = { number: this.classes.size, side, atoms }))
    if (this.classOfChar.size >= CLASSIFIED_CHARS_MAX) this.classOfChar.clear()
    if (char < LOW_CHARS) this.classOfLowChar[char] = charClass
    else this.classOfChar.set(char, charClass)
    assert(this.classes.size <= 0x110000, 'more classes than characters')
    return charClass
  }
}
