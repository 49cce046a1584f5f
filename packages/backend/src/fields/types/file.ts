/** Fields of type `file`: names of files, or files that are not stored yet. */
import type { ErrorData, FieldError } from '../../gateway/service-error.ts'
import { toTexts } from '../cast.ts'
import { BLANK, fieldError, INTEGER_MAX, LISTED, NO_MATCH, outside, outsideLength } from '../field-errors.ts'
import type { FieldBase, Requirable } from '../field-base.ts'
import type { FieldType } from '../field-type.ts'
import { isType } from '../file-types.ts'
import { castList, LIST, listModifierType, modified } from '../list-fields.ts'
import { isUpload, NewFile, type Upload } from '../new-file.ts'
import { flagOption, integerOption, textsOption } from '../options.ts'
import { refuse, type Place } from '../program-readers.ts'

export interface FileField extends FieldBase, Requirable {
  readonly type: 'file'
  readonly maxSelect: number
  readonly maxSize: number
  readonly mimeTypes: readonly string[] | null
  readonly thumbs: readonly string[] | null
  readonly protected: boolean
}

type FileValue = string | NewFile

const SIZE_MAX = 5 << 20
const NAME_MAX = 150
const SHOWN_CHARS = 250
const SHOWN_NAME_CHARS = 300

export const FILE: FieldType<FileField> = {
  ...LIST,
  holds: 'files',
  options: {
    maxSelect: integerOption,
    maxSize: integerOption,
    mimeTypes: textsOption,
    protected: flagOption,
    required: flagOption,
    thumbs: textsOption,
  },
  cast: (field, value) => castList(field, value, toFiles),
  ofProgram: readFiles,
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
  bytesMax: (field) => sizeMax(field) * Math.max(1, field.maxSelect),
  modify(field, modifier, value, input) {
    return castList(field, modified(modifier, toFiles(value), toFiles(input), nameOf), toFiles)
  },
  modifierType: (field, modifier, { file }) => listModifierType(field, modifier, file, 'string'),
  readType: ({ maxSelect }) => (maxSelect > 1 ? 'string[]' : 'string'),
  writeType: ({ maxSelect }, { file }) => (maxSelect > 1 ? `${file} | (${file})[] | null` : `${file} | null`),
}

function sizeMax({ maxSize }: FileField): number {
  return maxSize <= 0 ? SIZE_MAX : maxSize
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
  const maxSize = sizeMax(field)
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

/** Names of files that are stored, or new ones. */
function readFiles(value: unknown, place: Place): unknown {
  if (value instanceof Set) return readFiles([...value], place)
  if (Array.isArray(value)) return value.map((one) => readFiles(one, place))
  if (typeof value === 'string' || value instanceof NewFile) return value
  const upload = uploadOf(value, place)
  return upload === undefined
    ? refuse('a File, a Blob, bytes, an upload, or the name of a file', value, place)
    : NewFile.ofProgram(upload, place.chance)
}

function uploadOf(value: unknown, { name }: Place): Upload | undefined {
  if (value instanceof Blob) {
    const of = value instanceof File ? value.name : name.replaceAll(/[^\w]/g, '')
    return { name: of, size: value.size, stream: () => value.stream() as ReadableStream<Uint8Array> }
  }
  if (value instanceof Uint8Array || value instanceof ArrayBuffer)
    return uploadOf(new Blob([value as Uint8Array<ArrayBuffer>]), { name } as Place)
  return isUpload(value) ? value : undefined
}
