/** Fields of type `relation`: ids of records of one collection. */
import type { FieldError } from '../../gateway/service-error.ts'
import { toTexts } from '../cast.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError, outside } from '../field-errors.ts'
import type { FieldContext, FieldType } from '../field-type.ts'
import { listModifierType, TEXTS, tooMany } from '../list-fields.ts'
import { flagOption, integerOption, textOption } from '../options.ts'

export interface RelationField extends FieldBase, Requirable {
  readonly type: 'relation'
  /** The id of a definition. */
  readonly collectionId: string
  readonly cascadeDelete: boolean
  readonly minSelect: number
  readonly maxSelect: number
}

const NOT_CHANGEABLE = fieldError('validation_field_relation_change', 'The relation collection cannot be changed.')
const NO_COLLECTION = fieldError(
  'validation_field_relation_missing_collection',
  "The relation collection doesn't exist.",
)
const NO_VIEW = fieldError(
  'validation_relation_field_non_view_base_collection',
  'Only view collections are allowed to have relations to other views.',
)

/** Whether the records exist is checked by the writer, who can see them. */
export const RELATION: FieldType<RelationField> = {
  ...TEXTS,
  holds: 'records',
  options: {
    cascadeDelete: flagOption,
    collectionId: textOption,
    maxSelect: integerOption,
    minSelect: integerOption,
    required: flagOption,
  },
  check({ required, minSelect, maxSelect }, value) {
    const count = toTexts(value).length
    if (count === 0) return required ? BLANK : undefined
    if (count < minSelect) {
      return fieldError('validation_not_enough_values', 'Select at least {minSelect}.', { minSelect })
    }
    const max = Math.max(maxSelect, 1)
    return count > max ? tooMany(max) : undefined
  },
  checkOptions(field, context) {
    const { minSelect, maxSelect } = field
    return {
      collectionId: checkCollection(field, context),
      minSelect: outside(minSelect, 0, Infinity),
      maxSelect: minSelect > 0 && maxSelect === 0 ? BLANK : outside(maxSelect, minSelect, Infinity),
    }
  },
  modifierType: (field, modifier) => listModifierType(field, modifier, 'string'),
  readType: ({ maxSelect }) => (maxSelect > 1 ? 'string[]' : 'string'),
}

function checkCollection(
  { collectionId }: RelationField,
  context: FieldContext<RelationField>,
): FieldError | undefined {
  if (collectionId === '') return BLANK
  const { old, definition } = context
  if (old !== undefined && old.collectionId !== collectionId) return NOT_CHANGEABLE
  const related = context.typeOf(collectionId)
  if (related === undefined) return NO_COLLECTION
  return related === 'view' && definition.type !== 'view' ? NO_VIEW : undefined
}
