/** The contract of a type of fields. */
import type { Chance } from '../gateway/chance.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import type { FieldDefinition } from './field-definition.ts'

/** The context of a value's check, beside its field. */
export interface ValueContext {
  /** The stored value. Undefined: the record is new. */
  readonly old: unknown
}

/** The context of the check of a field's options. */
export interface FieldContext {
  readonly definition: { readonly type: 'base' | 'auth' | 'view'; readonly fields: readonly FieldDefinition[] }
  /** The stored field of the same id. */
  readonly old: FieldDefinition | undefined
  /** Draws texts of patterns. */
  readonly chance: Chance
  /** The type of the collection with this id. */
  typeOf(collectionId: string): 'base' | 'auth' | 'view' | undefined
}

/** Reads an option as JSON has it. Undefined: it is of a wrong type. */
export type OptionReader = (value: unknown) => unknown

export type Modifier = 'add' | 'prepend' | 'remove' | 'generate'

export interface FieldType<F extends FieldDefinition> {
  /** The options of this type. `null` and options that are missing are read from `undefined`. */
  readonly options: Readonly<Record<string, OptionReader>>
  empty(field: F): unknown
  /** Reads any value. */
  cast(field: F, value: unknown): unknown
  /** The error of a value that `cast` has made. */
  check(field: F, value: unknown, context: ValueContext): FieldError | undefined
  /** By option. Undefined options are right. */
  checkOptions?(field: F, context: FieldContext): Readonly<Record<string, FieldError | ErrorData | undefined>>
  /** The modifiers that `modify` knows; none when left out. */
  readonly modifiers?: readonly Modifier[]
  /** The value after `f+`, `+f`, `f-` or `f:autogenerate`. */
  modify?(field: F, modifier: Modifier, value: unknown, input: unknown, chance: Chance): unknown
}
