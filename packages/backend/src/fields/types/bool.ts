/** Fields of type `bool`. */
import { toBoolean } from '../cast.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption } from '../options.ts'
import { isScalar, refuse } from '../program-readers.ts'

export interface BoolField extends FieldBase, Requirable {
  readonly type: 'bool'
}

export const BOOL: FieldType<BoolField> = {
  options: { required: flagOption },
  column: 'BOOLEAN',
  isIndexable: true,
  empty: () => false,
  cast: (_, value) => toBoolean(value),
  ofProgram: (value, place) => (isScalar(value) ? value : refuse('a boolean', value, place)),
  check: ({ required }, value) => (required && value === false ? BLANK : undefined),
  readType: () => 'boolean',
}
