/** Which files a record has, as it is stored. */
import { isObject } from 'pannier/internal'
import type { AttachmentStub } from 'pannier'
import { holdsFiles, ownValue } from '../fields/field-types.ts'
import type { Definition } from '../definitions/definition.ts'
import type { FileField } from '../fields/types/file.ts'
import type { JsonObject } from '../gateway/documents.ts'

export function fileNames({ fields }: Definition, record: JsonObject): readonly string[] {
  return fields.filter(holdsFiles).flatMap(({ name }) => namesIn(ownValue(record, name)))
}

/** The field that names the file. */
export function fileFieldOf({ fields }: Definition, record: JsonObject, name: string): FileField | undefined {
  return fields.find(
    (field): field is FileField => holdsFiles(field) && namesIn(ownValue(record, field.name)).includes(name),
  )
}

/** The stub of the content, if it is in the database. */
export function attachmentIn({ _attachments: attachments }: JsonObject, name: string): AttachmentStub | undefined {
  return isObject(attachments) && Object.hasOwn(attachments, name) ? (attachments[name] as AttachmentStub) : undefined
}

function namesIn(value: unknown): readonly string[] {
  return [value].flat().filter((name): name is string => typeof name === 'string' && name !== '')
}
