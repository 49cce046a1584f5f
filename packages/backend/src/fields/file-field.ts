/** Fields of type `file`: names of files, or files that are not stored yet. */
import type { ErrorData, FieldError } from '../gateway/service-error.ts'
import { toTexts } from './cast.ts'
import { BLANK, fieldError, INTEGER_MAX, LISTED, NO_MATCH, outside, outsideLength } from './field-errors.ts'
import { isMany } from './field-definition.ts'
import type { FileField } from './field-definition.ts'
import type { FieldType } from './field-type.ts'
import { isType } from './file-types.ts'
import { modified } from './list-fields.ts'
import { NewFile } from './new-file.ts'
import { flagOption, integerOption, textsOption } from './options.ts'

type FileValue = string | NewFile

const SIZE_MAX = 5 << 20
const NAME_MAX = 150
const SHOWN_CHARS = 250
const SHOWN_NAME_CHARS = 300

export const FILE: FieldType<FileField> = {
  options: {
    maxSelect: integerOption,
    maxSize: integerOption,
    mimeTypes: textsOption,
    protected: flagOption,
    required: flagOption,
    thumbs: textsOption,
  },
  empty: (field) => (isMany(field) ? [] : ''),
  cast,
  check(field, value, { old }) {
    const files = toFiles(value)
    if (files.length === 0) return field.required ? BLANK : undefined
    const before = toFiles(old)
    const invalidFiles = files.flatMap((file) =>
      typeof file === 'string' && !before.includes(file) ? [file.slice(0, SHOWN_CHARS)] : [],
    )
    if (invalidFiles.length > 0) {
      // Go writes lists with blanks.
      const message = `Invalid new files: [${invalidFiles.join(' ')}].`
      return fieldError('validation_invalid_file', message, { invalidFiles })
    }
    const maxSelect = Math.max(field.maxSelect, 1)
    if (files.length > maxSelect) {
      return fieldError('validation_too_many_files', 'The maximum allowed files is {maxSelect}.', { maxSelect })
    }
    for (const file of files) {
      const error = file instanceof NewFile ? checkFile(field, file) : undefined
      if (error !== undefined) return error
    }
    return undefined
  },
  checkOptions: ({ maxSelect, maxSize, thumbs }) => ({
    maxSelect: outside(maxSelect, 0, INTEGER_MAX),
    maxSize: outside(maxSize, 0, INTEGER_MAX),
    thumbs: checkThumbs(thumbs ?? []),
  }),
  modifiers: ['add', 'prepend', 'remove'],
  modify(field, modifier, value, input) {
    return cast(field, modified(modifier, toFiles(value), toFiles(input), nameOf))
  },
}

function cast(field: FileField, value: unknown): unknown {
  const files = toFiles(value)
  if (isMany(field)) return files
  const last = files.at(-1) ?? ''
  return last === value ? last : cast(field, last)
}

/** Files of different names. A text may be the JSON of a list. */
function toFiles(value: unknown): FileValue[] {
  if (value instanceof NewFile) return [value]
  const files = Array.isArray(value) ? value.flatMap(oneFile) : filesOfText(value)
  return [...new Map(files.toReversed().map((file) => [nameOf(file), file])).values()].toReversed()
}

function filesOfText(value: unknown): FileValue[] {
  const texts = toTexts(value)
  if (texts.length === 1 && texts[0] === value) return texts
  return texts.filter((text) => text !== value).flatMap(oneFile)
}

/** The file of an element in a list; an element with more or less than one file does not count. */
function oneFile(value: unknown): FileValue[] {
  const files = toFiles(value)
  return files.length === 1 ? files : []
}

function nameOf(file: FileValue): string {
  return typeof file === 'string' ? file : file.name
}

/** Why a field does not take a file that is not stored yet. */
export function checkFile(
  field: FileField,
  file: Pick<NewFile, 'name' | 'originalName' | 'size' | 'type'>,
): FieldError | undefined {
  const name = outsideLength(file.name, 1, NAME_MAX) ?? (/^[^./\\][^/\\]+$/.test(file.name) ? undefined : NO_MATCH)
  if (name !== undefined) return name
  const maxSize = field.maxSize <= 0 ? SIZE_MAX : field.maxSize
  if (file.size > maxSize) {
    const message = 'Failed to upload {file} - the maximum allowed file size is {maxSize} bytes.'
    const shown = file.originalName.slice(0, SHOWN_NAME_CHARS)
    return fieldError('validation_file_size_limit', message, { file: shown, maxSize })
  }
  const types = field.mimeTypes ?? []
  // A file that nobody has looked at yet is judged when it is written.
  if (types.length === 0 || file.type === '' || types.some((type) => isType(file.type, type))) return undefined
  const message = `${JSON.stringify(file.name)} mime type must be one of: ${types.join(', ')}.`
  return fieldError('validation_invalid_mime_type', message)
}

function checkThumbs(thumbs: readonly string[]): ErrorData | undefined {
  const errors = thumbs.flatMap((thumb, index) => {
    if (/^0x0[tbf]?$/.test(thumb)) return [[String(index), LISTED] as const]
    return thumb === '' || /^\d+x\d+[tbf]?$/.test(thumb) ? [] : [[String(index), NO_MATCH] as const]
  })
  return errors.length === 0 ? undefined : Object.fromEntries(errors)
}
