/** How the records of a collection follow a change of its definition. */
import { isObject } from 'pannier/internal'
import { castValue, emptyValue, holdsFiles, ownValue } from '../fields/field-types.ts'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Definition } from './definition.ts'

/** Makes a stored document one of the new definition; undefined: it stays as it is. */
export type Migration = (document: JsonObject) => JsonObject | undefined

/** Undefined: no document changes. */
export function migrationOf(old: Definition, definition: Definition): Migration | undefined {
  if (old.type === 'view') return undefined
  const before = new Map(old.fields.map((field) => [field.id, field]))
  const steps = definition.fields
    .filter(({ name }) => name !== 'id')
    .map((field) => stepOf(before.get(field.id), field))
  const kept = new Set(definition.fields.map(({ id }) => id))
  const removed = old.fields.filter(({ id }) => !kept.has(id))
  if (removed.length === 0 && steps.every(({ isSame }) => isSame)) return undefined
  const oldNames = new Set(old.fields.flatMap(({ name }) => (name === 'id' ? [] : [name])))
  const removedFiles = removed.filter(holdsFiles)
  return (document) => {
    const others = Object.entries(document).filter(([name]) => !oldNames.has(name))
    const values = steps.map(({ field, read }) => [field.name, read(document)] as const)
    const migrated: JsonObject = Object.fromEntries([...others, ...values])
    const attachments = withoutFiles(document, removedFiles)
    return attachments === undefined ? migrated : { ...migrated, _attachments: attachments }
  }
}

/** The names under which records have other values afterwards. */
export function changedNames(old: Definition, definition: Definition): ReadonlySet<string> {
  const before = new Map(old.fields.map((field) => [field.id, field]))
  const after = new Set(definition.fields.map(({ id }) => id))
  const changed = definition.fields.filter((field) => !stepOf(before.get(field.id), field).isSame)
  const names = changed.flatMap((field) => [field.name, before.get(field.id)?.name ?? field.name])
  return new Set([...names, ...old.fields.flatMap(({ id, name }) => (after.has(id) ? [] : [name]))])
}

interface Step {
  readonly field: FieldDefinition
  readonly isSame: boolean
  read(document: JsonObject): unknown
}

function stepOf(old: FieldDefinition | undefined, field: FieldDefinition): Step {
  if (old === undefined) return { field, isSame: false, read: () => emptyValue(field) }
  const isConverted = isMany(old) !== isMany(field)
  const read = (document: JsonObject): unknown => {
    const value = ownValue(document, old.name)
    if (value === undefined) return emptyValue(field)
    return isConverted ? castValue(field, value) : value
  }
  return { field, isSame: old.name === field.name && !isConverted, read }
}

/** The attachments that stay; undefined: all. */
function withoutFiles(document: JsonObject, fields: readonly FieldDefinition[]): JsonObject | undefined {
  const attachments = document['_attachments']
  if (!isObject(attachments) || fields.length === 0) return undefined
  const names = new Set(fields.flatMap(({ name }) => ownValue(document, name)))
  return Object.fromEntries(Object.entries(attachments).filter(([name]) => !names.has(name)))
}
