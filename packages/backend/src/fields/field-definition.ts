/** A field of a collection, as PocketBase's API has it. */

/** The common part of all fields. */
interface FieldBase {
  /** Stays when the field is renamed. */
  readonly id: string
  /** The key in records. */
  readonly name: string
  /** Shown to superusers only. */
  readonly hidden: boolean
  /** Stands for the record in the admin page. */
  readonly presentable: boolean
  /** Can't be removed. */
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

/** All types but `autodate` have this: the value must not be empty. */
interface Requirable {
  readonly required: boolean
}

export interface TextField extends FieldBase, Requirable {
  readonly type: 'text'
  readonly min: number
  /** 0: 5000. */
  readonly max: number
  readonly pattern: string
  readonly autogeneratePattern: string
  readonly primaryKey: boolean
}

export interface EditorField extends FieldBase, Requirable {
  readonly type: 'editor'
  readonly maxSize: number
  readonly convertURLs: boolean
}

export interface NumberField extends FieldBase, Requirable {
  readonly type: 'number'
  readonly min: number | null
  readonly max: number | null
  readonly onlyInt: boolean
}

export interface BoolField extends FieldBase, Requirable {
  readonly type: 'bool'
}

export interface DomainField extends FieldBase, Requirable {
  readonly type: 'email' | 'url'
  readonly onlyDomains: readonly string[] | null
  readonly exceptDomains: readonly string[] | null
}

export interface DateField extends FieldBase, Requirable {
  readonly type: 'date'
  readonly min: string
  readonly max: string
}

export interface AutodateField extends FieldBase {
  readonly type: 'autodate'
  readonly onCreate: boolean
  readonly onUpdate: boolean
}

export interface SelectField extends FieldBase, Requirable {
  readonly type: 'select'
  readonly values: readonly string[]
  /** More than 1: the value is a list. */
  readonly maxSelect: number
}

export interface FileField extends FieldBase, Requirable {
  readonly type: 'file'
  readonly maxSelect: number
  readonly maxSize: number
  readonly mimeTypes: readonly string[] | null
  readonly thumbs: readonly string[] | null
  readonly protected: boolean
}

export interface RelationField extends FieldBase, Requirable {
  readonly type: 'relation'
  /** The id of a definition. */
  readonly collectionId: string
  readonly cascadeDelete: boolean
  readonly minSelect: number
  readonly maxSelect: number
}

export interface JsonField extends FieldBase, Requirable {
  readonly type: 'json'
  readonly maxSize: number
}

export interface GeoPointField extends FieldBase, Requirable {
  readonly type: 'geoPoint'
}

export interface PasswordField extends FieldBase, Requirable {
  readonly type: 'password'
  readonly min: number
  readonly max: number
  readonly pattern: string
  readonly cost: number
}

export type FieldDefinition =
  | TextField
  | EditorField
  | NumberField
  | BoolField
  | DomainField
  | DateField
  | AutodateField
  | SelectField
  | FileField
  | RelationField
  | JsonField
  | GeoPointField
  | PasswordField

/** `file_one`, not `file_many`. */
export function isMany(field: FieldDefinition): boolean {
  return 'maxSelect' in field && field.maxSelect > 1
}
