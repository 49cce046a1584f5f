/** Fields of type `editor`: HTML. */
import type { FieldBase, Requirable } from '../field-base.ts'
import { BLANK, fieldError, INTEGER_MAX, outside } from '../field-errors.ts'
import type { FieldType } from '../field-type.ts'
import { flagOption, integerOption } from '../options.ts'
import { ONE_TEXT } from '../text-fields.ts'

export interface EditorField extends FieldBase, Requirable {
  readonly type: 'editor'
  readonly maxSize: number
  readonly convertURLs: boolean
}

const EDITOR_MAX = 5 << 20

export const EDITOR: FieldType<EditorField> = {
  ...ONE_TEXT,
  isSearchable: true,
  options: { convertURLs: flagOption, maxSize: integerOption, required: flagOption },
  check(field, value) {
    if (field.required && value === '') return BLANK
    const maxSize = bytesMax(field)
    if (Buffer.byteLength(value as string) <= maxSize) return undefined
    return fieldError('validation_content_size_limit', 'The maximum allowed content size is {maxSize} bytes.', {
      maxSize,
    })
  },
  checkOptions: ({ maxSize }) => ({ maxSize: outside(maxSize, 0, INTEGER_MAX) }),
  bytesMax,
}

function bytesMax({ maxSize }: EditorField): number {
  return maxSize <= 0 ? EDITOR_MAX : maxSize
}
