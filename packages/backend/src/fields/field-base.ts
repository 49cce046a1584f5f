/** The options that fields of all types have. */

/** The common part of all fields. */
export interface FieldBase {
  /** The id stays when the field is renamed. */
  readonly id: string
  /** As PocketBase names it: `text`. */
  readonly type: string
  /** The key in records. */
  readonly name: string
  /** Whether the field is hidden: shown to superusers only. */
  readonly hidden: boolean
  /** Stands for the record in the admin page. */
  readonly presentable: boolean
  /** Whether the field is the system's: it can't be removed. */
  readonly system: boolean
  /** The help on the admin page. */
  readonly help?: string
  /** `search()` looks for words in it. Undefined: it does not. */
  readonly searchable?: true
  /** An actor that it admits sees the field in records that it sees; null: superusers. Undefined: the rules of the collection decide alone. */
  readonly viewRule?: string | null
  /** An actor that it admits sets the field in records that it writes. Undefined: as `viewRule`. */
  readonly updateRule?: string | null
}

export const FIELD_RULES = ['viewRule', 'updateRule'] as const

/** The option `required` of all types but `autodate`: the value must not be empty. */
export interface Requirable {
  readonly required: boolean
}
