/** The common part of fields of one text. */
import { toText } from './cast.ts'
import { readDate } from './date-text.ts'
import type { FieldBase } from './field-base.ts'
import type { FieldType } from './field-type.ts'
import { readText, readTime } from './program-readers.ts'

type OneText = Pick<FieldType<FieldBase>, 'column' | 'empty' | 'cast' | 'ofProgram' | 'readType'>

export const ONE_TEXT: OneText = {
  column: 'TEXT',
  empty: () => '',
  cast: (_, value) => toText(value),
  ofProgram: readText,
  readType: () => 'string',
}

export const ONE_TIME: OneText & Pick<FieldType<FieldBase>, 'isTime' | 'isIndexable'> = {
  ...ONE_TEXT,
  isTime: true,
  isIndexable: true,
  cast: (_, value) => readDate(toText(value)),
  ofProgram: readTime,
}

/** Characters of Unicode. */
export function charsOf(text: string): number {
  let count = 0
  for (const char of text) count += char === '' ? 0 : 1
  return count
}
