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
  /** At least two. */
  readonly of: readonly Expression[]
}

/** Two operands and the operator between them. */
export interface Comparison {
  /** Tells it from a junction. */
  readonly kind: 'comparison'
  /** The operator without its `?`. */
  readonly operator: Operator
  /** With `?`: one value is enough. Without it, every value of a multi-valued path must match. */
  readonly any: boolean
  /** The left operand. */
  readonly left: Operand
  /** The right operand. */
  readonly right: Operand
}

/** How two operands are compared. `~` is "contains". */
export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~' | '!~'

/** One side of a comparison. */
export type Operand = Argument | Call

/** An operand that may stand in a call. */
export type Argument = Name | Text | Numeral

/** A path of fields, a macro, a value of the request, or `null`, `true` and `false`. */
export interface Name {
  /** Tells it from other operands. */
  readonly kind: 'name'
  /** As written: `author.name`, `@request.auth.id`, `tags:each`. */
  readonly name: string
  /** Where it begins in the text. */
  readonly at: number
}

/** A text in quotes. */
export interface Text {
  /** Tells it from other operands. */
  readonly kind: 'text'
  /** Without quotes, its escapes resolved. */
  readonly value: string
  /** Where its quote begins. */
  readonly at: number
}

/** A number. */
export interface Numeral {
  /** Tells it from other operands. */
  readonly kind: 'number'
  /** Never infinite, never -0. */
  readonly value: number
  /** Where it begins in the text. */
  readonly at: number
}

/** A function with its arguments. */
export interface Call {
  /** Tells it from other operands. */
  readonly kind: 'call'
  /** The function: `geoDistance`, `strftime` or `search`. */
  readonly name: string
  /** The arguments between the parentheses. */
  readonly of: readonly Argument[]
  /** Where its name begins. */
  readonly at: number
}
