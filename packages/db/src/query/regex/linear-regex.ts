/**
 * Regular expressions without backtracking: whether one is found in a text takes at most (characters of the text) x (states of
 * the expression) steps, and mostly one step a character.
 *
 * The expression becomes a nondeterministic automaton (parse-regex.ts), the sets of whose states are the states of a deterministic
 * one, made when they are first met and kept up to a bound. Since only "found or not" is asked for, greedy and lazy repetition
 * are the same. What one character or class matches is asked of the platform's own RegExp, so that case, Unicode
 * properties and classes are exactly what users know.
 */
import { assert } from '../../base/assert.ts'
import { compileProgram, type AssertionKind, type Instruction, type Program } from './parse-regex.ts'

/** Numbers kept in known states, and characters whose class is kept; beyond that all are forgotten. */
const STATE_NUMBERS_MAX = 100_000
const CLASSIFIED_CHARS_MAX = 20_000
const LOW_CHARS = 256

/** What stands at one side of a place, as far as assertions ask. */
type Side = 'edge' | 'word' | 'newline' | 'other'

/** Characters that no part of the expression tells apart. */
interface CharClass {
  readonly number: number
  readonly side: Side
  /** For each atom of the program: it matches them. */
  readonly atoms: readonly boolean[]
}

/** The instructions that may come next; what comes before them. */
interface State {
  readonly pending: readonly number[]
  readonly before: Side
  /** By the number of the class of the next character; null: found. */
  readonly next: (State | null)[]
}

export class LinearRegex {
  /** Characters and instructions looked at so far: tests bound it. */
  work = 0
  private readonly program: Program
  private readonly isUnicode: boolean
  private readonly isMultiline: boolean
  private readonly atoms: readonly RegExp[]
  private readonly wordChar: RegExp
  private readonly classes = new Map<string, CharClass>()
  private readonly classOfChar = new Map<number, CharClass>()
  /** The same for the first characters, which most texts are made of. */
  private readonly classOfLowChar: (CharClass | undefined)[] = []
  private readonly states = new Map<string, State>()
  private stateNumbers = 0
  /** The state before the first character. */
  private begin: State | undefined

  constructor(source: string, flags: string) {
    this.program = compileProgram(source, flags)
    this.isUnicode = flags.includes('u')
    this.isMultiline = flags.includes('m')
    const charFlags = flags.replace('m', '')
    this.atoms = this.program.atoms.map((atom) => new RegExp(`^(?:${atom})$`, charFlags))
    this.wordChar = new RegExp('^\\w$', charFlags)
  }

  /** How large it is. */
  get size(): number {
    return this.program.instructions.length
  }

  test(text: string): boolean {
    let state = (this.begin ??= this.state([], 'edge'))
    this.work += text.length
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

  /** Where the character leads; null: found before it. */
  private step(state: State, charClass: CharClass): State | null {
    const now = this.reachable(state, charClass.side)
    const next = now === undefined ? null : this.state(this.consumed(now, charClass), charClass.side)
    if (state.next[charClass.number] === undefined) state.next[charClass.number] = next
    return next
  }

  private consumed(now: readonly Instruction[], { atoms }: CharClass): number[] {
    const pending = new Set<number>()
    for (const instruction of now)
      if (instruction.kind === 'atom' && atoms[instruction.atom]!) pending.add(instruction.next)
    return [...pending].sort((left, right) => left - right)
  }

  /** The instructions that can be got to without a character, given what comes after; undefined: the end is one of them. */
  private reachable({ pending, before }: State, after: Side): Instruction[] | undefined {
    const { instructions, start } = this.program
    const found: Instruction[] = []
    // The expression may begin at every place.
    const stack = [...pending, start]
    const seen = new Set(stack)
    const add = (to: number): void => {
      if (!seen.has(to)) stack.push(to)
      seen.add(to)
    }
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const instruction = instructions[at]!
      this.work++
      if (instruction.kind === 'found') return undefined
      if (instruction.kind === 'atom') found.push(instruction)
      else if (instruction.kind === 'either') instruction.next.forEach(add)
      else if (this.holds(instruction.assertion, before, after)) add(instruction.next)
    }
    return found
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

  private state(pending: readonly number[], before: Side): State {
    const key = `${before} ${pending.join(' ')}`
    const known = this.states.get(key)
    if (known !== undefined) return known
    if ((this.stateNumbers += pending.length + 16) > STATE_NUMBERS_MAX) {
      // Nobody but the loop in `test` holds one of them now, and it goes on with the new one.
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
    this.work += this.atoms.length
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
