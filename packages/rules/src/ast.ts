/**
 * A rule as plain frozen data. Positions are offsets in the text. Comments, layout and needless parentheses are not kept, so a printed
 * rule has other positions.
 */

/** A rule or a filter. */
export type Expression = Comparison | Junction

/** Expressions that all have to hold (`&&`), or one of them (`||`). */
export interface Junction {
  /** `and` is `&&`, `or` is `||`. */
  readonly kind: 'and' | 'or'
  /** The expressions of it: at least two. */
  readonly of: readonly Expression[]
}

/** Two operands and the operator between them. */
export interface Comparison {
  /** The kind tells a comparison from a junction. */
  readonly kind: 'comparison'
  /** The operator without its `?`. */
  readonly operator: Operator
  /** Whether any value is enough: with `?`. Without it, every value of a multi-valued path must match. */
  readonly any: boolean
  /** The left operand. */
  readonly left: Operand
  /** The right operand. */
  readonly right: Operand
}

/** The operator by which two operands are compared. `~` is "contains". */
export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~' | '!~'

/** One side of a comparison. */
export type Operand = Argument | Call

/** An operand that may stand in a call. */
export type Argument = Name | Text | Numeral

/** A path of fields, a macro, a value of the request, or `null`, `true` and `false`. */
export interface Name {
  /** The kind tells a name from other operands. */
  readonly kind: 'name'
  /** As written: `author.name`, `@request.auth.id`, `tags:each`. */
  readonly name: string
  /** The position at which it begins in the text. */
  readonly at: number
}

/** A text in quotes. */
export interface Text {
  /** The kind tells a text from other operands. */
  readonly kind: 'text'
  /** The value without quotes, its escapes resolved. */
  readonly value: string
  /** The position at which its quote begins. */
  readonly at: number
}

/** A number. */
export interface Numeral {
  /** The kind tells a number from other operands. */
  readonly kind: 'number'
  /** The value: never infinite, never -0. */
  readonly value: number
  /** The position at which it begins in the text. */
  readonly at: number
}

/** A function with its arguments. */
export interface Call {
  /** The kind tells a call from other operands. */
  readonly kind: 'call'
  /** The name of the function: `geoDistance`, `strftime` or `search`. */
  readonly name: string
  /** The arguments between the parentheses. */
  readonly of: readonly Argument[]
  /** The position at which its name begins. */
  readonly at: number
}
