/** Losses of records by a change of their definition, and values that would no longer be right. */
import { isPannierError } from 'pannier'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import { fieldError, NOT_UNIQUE } from '../fields/field-errors.ts'
import { checkValue, emptyValue, typeOfField, valueIn } from '../fields/field-types.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { FieldError } from '../gateway/service-error.ts'
import type { Definition } from './definition.ts'
import { libraryIndexesOf, type LibraryIndex } from './library-index.ts'
import { migrationOf } from './migration.ts'
import { documentKey } from './unique-key.ts'

/** Values of one field that a change does not leave as they are, or not right. */
export interface Misfit {
  /** The name of the field: after the change, or before it if the field goes. */
  readonly field: string
  /** The error, as for a write. `change_loses_value`: the change does not keep it. */
  readonly error: FieldError
  readonly count: number
  /** The first records that have it. */
  readonly ids: readonly string[]
}

const IDS_MAX = 10
const LOST = fieldError('change_loses_value', 'The value is lost.')

/** Takes records one after another. */
export class MisfitCounter {
  readonly #old: Definition
  readonly #definition: Definition
  readonly #migrate: (document: JsonObject) => JsonObject
  readonly #found = new Map<string, { field: string; error: FieldError; count: number; ids: string[] }>()
  /** The values that were met, by unique index. */
  readonly #keys: readonly { readonly index: LibraryIndex; readonly met: Set<string> }[]

  constructor(old: Definition, definition: Definition) {
    this.#old = old
    this.#definition = definition
    const migration = migrationOf(old, definition)
    this.#migrate = (document) => migration?.(document) ?? document
    const unique = libraryIndexesOf(definition).filter((index) => index.unique)
    this.#keys = unique.map((index) => ({ index, met: new Set() }))
  }

  add(document: JsonObject): void {
    const migrated = this.#migrate(document)
    const kept = new Map(this.#definition.fields.map((field) => [field.id, field]))
    for (const old of this.#old.fields) {
      const field = kept.get(old.id)
      if (isLost(old, field, document[old.name])) this.#count(field?.name ?? old.name, LOST, document)
    }
    for (const field of this.#definition.fields) {
      // What is made, not given: a hash has not the length of its password.
      const { isHashed, isAutomatic } = typeOfField(field)
      if (field.name === 'id' || isHashed || isAutomatic) continue
      const error = checkValue(field, valueIn(migrated, field), { old: undefined })
      if (error !== undefined) this.#count(field.name, error, document)
    }
    for (const { index, met } of this.#keys) {
      const names = index.fields.length > 0 ? index.fields : index.reads
      const error = this.#keyError(index.key!, met, migrated)
      if (error !== undefined) for (const name of names) this.#count(name, error, document)
    }
  }

  /** `met`: the keys of the records before it. */
  #keyError(index: string, met: Set<string>, document: JsonObject): FieldError | undefined {
    try {
      const key = documentKey(index, document)
      if (key === undefined) return undefined
      const isTaken = met.has(key)
      met.add(key)
      return isTaken ? NOT_UNIQUE : undefined
    } catch (error) {
      if (!isPannierError(error)) throw error
      return fieldError('validation_invalid_value', error.message)
    }
  }

  /** The misfits by field. */
  get misfits(): readonly Misfit[] {
    return [...this.#found.values()]
  }

  #count(field: string, error: FieldError, { _id }: JsonObject): void {
    const key = `${field} ${error.code}`
    const known = this.#found.get(key) ?? { field, error, count: 0, ids: [] }
    known.count++
    if (known.ids.length < IDS_MAX) known.ids.push(_id as string)
    this.#found.set(key, known)
  }
}

function isLost(old: FieldDefinition, field: FieldDefinition | undefined, value: unknown): boolean {
  if (field === undefined) return value !== undefined && JSON.stringify(value) !== JSON.stringify(emptyValue(old))
  return isMany(old) && !isMany(field) && Array.isArray(value) && value.length > 1
}
