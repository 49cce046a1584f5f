/** The registry of types of fields: each is a file of `types/` and a row here. And what options say, whatever the type is. */
import type { FieldType } from './field-type.ts'
import { AUTODATE, type AutodateField } from './types/autodate.ts'
import { BOOL, type BoolField } from './types/bool.ts'
import { DATE, type DateField } from './types/date.ts'
import { EDITOR, type EditorField } from './types/editor.ts'
import { EMAIL, type EmailField } from './types/email.ts'
import { FILE, type FileField } from './types/file.ts'
import { GEO_POINT, type GeoPointField } from './types/geo-point.ts'
import { JSON_FIELD, type JsonField } from './types/json.ts'
import { NUMBER, type NumberField } from './types/number.ts'
import { PASSWORD, type PasswordField } from './types/password.ts'
import { RELATION, type RelationField } from './types/relation.ts'
import { SELECT, type SelectField } from './types/select.ts'
import { TEXT, type TextField } from './types/text.ts'
import { URL_FIELD, type UrlField } from './types/url.ts'

interface Fields {
  readonly autodate: AutodateField
  readonly bool: BoolField
  readonly date: DateField
  readonly editor: EditorField
  readonly email: EmailField
  readonly file: FileField
  readonly geoPoint: GeoPointField
  readonly json: JsonField
  readonly number: NumberField
  readonly password: PasswordField
  readonly relation: RelationField
  readonly select: SelectField
  readonly text: TextField
  readonly url: UrlField
}

export const FIELD_TYPES: { readonly [T in keyof Fields]: FieldType<Fields[T]> } = {
  autodate: AUTODATE,
  bool: BOOL,
  date: DATE,
  editor: EDITOR,
  email: EMAIL,
  file: FILE,
  geoPoint: GEO_POINT,
  json: JSON_FIELD,
  number: NUMBER,
  password: PASSWORD,
  relation: RELATION,
  select: SELECT,
  text: TEXT,
  url: URL_FIELD,
}

/** A field of a collection, as PocketBase's API has it. */
export type FieldDefinition = Fields[keyof Fields]

/** `file_one`, not `file_many`. */
export function isMany(field: FieldDefinition): boolean {
  return 'maxSelect' in field && field.maxSelect > 1
}

/** The pattern of texts that come by themselves; none where it is empty. */
export function patternOf(field: FieldDefinition): string {
  return 'autogeneratePattern' in field ? field.autogeneratePattern : ''
}

/** Whether each change of the record sets the value. */
export function isRenewed(field: FieldDefinition): boolean {
  return 'onUpdate' in field && field.onUpdate
}

/** Whether the definition lists the values. */
export function isListed(field: FieldDefinition): boolean {
  return 'values' in field
}
