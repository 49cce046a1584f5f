/** The contract of a type of fields: a file of `types/`, and a row of `field-definition.ts`. Nobody else asks a type by its name. */
import type { Chance } from '../gateway/chance.ts'
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import type { FieldBase } from './field-base.ts'
import type { Place } from './program-readers.ts'

/** The context of a value's check, beside its field. */
export interface ValueContext {
  /** The stored value. Undefined: the record is new. */
  readonly old: unknown
}

/** The context of the check of a field's options. */
export interface FieldContext<F extends FieldBase> {
  readonly definition: { readonly type: 'base' | 'auth' | 'view'; readonly fields: readonly FieldBase[] }
  /** The stored field of the same id. */
  readonly old: F | undefined
  /** Draws texts of patterns. */
  readonly chance: Chance
  /** The type of the collection with this id. */
  typeOf(collectionId: string): 'base' | 'auth' | 'view' | undefined
}

/** The parts of a value that comes by itself. */
export interface Filling {
  /** The time: now, as `2026-11-22 15:04:49.813Z`. */
  readonly now: string
  /** Whether the record is new. */
  readonly isNew: boolean
  /** Draws texts of patterns. */
  readonly chance: Chance
  /** Texts that are drawn already, by field. */
  readonly drawn?: Readonly<Record<string, string>>
}

/** Reads an option as JSON has it. Undefined: it is of a wrong type. */
export type OptionReader = (value: unknown) => unknown

export type Modifier = 'add' | 'prepend' | 'remove' | 'generate'

/** Types of TypeScript for inputs that are read otherwise: of one file, and of a date. */
export interface InputTypes {
  readonly file: string
  readonly date: string
}

export interface FieldType<F extends FieldBase> {
  /** The options of this type. `null` and options that are missing are read from `undefined`. */
  readonly options: Readonly<Record<string, OptionReader>>
  /** SQLite's column of one value. A list is JSON, whatever its type. */
  readonly column: 'TEXT' | 'NUMERIC' | 'BOOLEAN' | 'JSON'
  /** As what SQLite orders the column as records are ordered. Undefined: it does not. */
  readonly order?: 'number' | 'json' | 'text'
  /** Whether a field holds names of files or ids of records. */
  readonly holds?: 'files' | 'records'
  /** The stored value is a hash, and is shown to nobody. */
  readonly isHashed?: true
  /** Whether the field is automatic: the server sets it, and no input does. */
  readonly isAutomatic?: true
  /** The value is a time, however the input writes it. */
  readonly isTime?: true
  /** The value has words that `search()` finds. */
  readonly isSearchable?: true
  /** An index finds the values as they are stored. */
  readonly isIndexable?: true
  /** Any JSON value may be stored, null included. */
  readonly takesAll?: true
  empty(field: F): unknown
  /** Reads any value of JSON, or of a form. */
  cast(field: F, value: unknown): unknown
  /** Reads an input where that is not what `cast` does. */
  accept?(input: unknown): unknown
  /** Reads a value of JavaScript that is neither null nor undefined. @throws TypeError */
  ofProgram(value: unknown, place: Place): unknown
  /** The value with what comes by itself. */
  fill?(field: F, value: unknown, filling: Filling): unknown
  /** The error of a value that `cast` has made. */
  check(field: F, value: unknown, context: ValueContext): FieldError | undefined
  /** Checks options, each by itself. Undefined options are right. */
  checkOptions?(field: F, context: FieldContext<F>): Readonly<Record<string, FieldError | ErrorData | undefined>>
  /** The most bytes of an input, where that is more than some kilobytes. */
  bytesMax?(field: F): number
  /** The modifiers that `modify` knows; none when left out. */
  readonly modifiers?: readonly Modifier[]
  /** The value after `f+`, `+f`, `f-` or `f:autogenerate`. */
  modify?(field: F, modifier: Modifier, value: unknown, input: unknown, chance: Chance): unknown
  /** The type of TypeScript of the input of a modifier. Undefined: this field has no use for it. */
  modifierType?(field: F, modifier: Modifier, types: InputTypes): string | undefined
  /** The type of TypeScript of the value. */
  readType(field: F): string
  /** The type of TypeScript of an input, where that is not `readType`. */
  writeType?(field: F, types: InputTypes): string
}
