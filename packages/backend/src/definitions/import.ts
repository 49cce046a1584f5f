/** Lists of definitions, as they are exported and imported. */
import { isObject } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { completeFields } from '../fields/complete-fields.ts'
import { dateText } from '../fields/date-text.ts'
import { BLANK, fieldError } from '../fields/field-errors.ts'
import type { FieldDefinition } from '../fields/field-definition.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { ServiceError, type ErrorData, type FieldError } from '../gateway/service-error.ts'
import { completeDefinition, mergeDefinition, newDefinition } from './complete-definition.ts'
import type { Definition } from './definition.ts'
import { isSameName } from './index-statement.ts'
import { rawMessage } from './raw-message.ts'
import type { DefinitionChange } from './store.ts'

/** The means of making new definitions. */
interface Making {
  readonly environment: Environment
  /** Completes a given definition: adds id and times. */
  readonly complete: (given: Definition) => Definition
}

/**
 * The change that an import makes.
 *
 * @throws ServiceError INVALID
 */
export function importedChange(
  all: readonly Definition[],
  list: unknown,
  deleteMissing: boolean,
  making: Making,
): DefinitionChange {
  if (list !== undefined && list !== null && !(Array.isArray(list) && list.every(isObject)))
    throw new ServiceError('INVALID', 'An error occurred while loading the submitted data.')
  if (!Array.isArray(list) || list.length === 0)
    throw new ServiceError('INVALID', 'An error occurred while validating the submitted data.', {
      data: { collections: BLANK },
    })
  const imported = (list as readonly JsonObject[]).map((input) => ({
    definition: importedDefinition(all, input, deleteMissing, making),
    created: textOf(input['created']),
  }))
  // Views come last, as they may read the others.
  imported.sort(
    (one, other) =>
      Number(one.definition.type === 'view') - Number(other.definition.type === 'view') ||
      (one.created < other.created ? -1 : Number(one.created > other.created)),
  )
  const changed = imported.map(({ definition }) => definition)
  const kept = new Set(changed.map(({ id }) => id))
  return { changed, removed: deleteMissing ? all.filter(({ id, system }) => !system && !kept.has(id)) : [] }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function importedDefinition(
  all: readonly Definition[],
  input: JsonObject,
  deleteMissing: boolean,
  { environment, complete }: Making,
): Definition {
  const { id, name } = input
  const wanted = textOf(id) || textOf(name)
  const old = all.find((one) => isSameName(one.id, wanted)) ?? all.find((one) => isSameName(one.name, wanted))
  try {
    if (old === undefined) return complete(newDefinition(input, environment))
    const merged = mergeDefinition(old, { ...input, id: old.id, fields: undefined }, environment)
    const fields = importedFields(old.fields, input['fields'], deleteMissing)
    return completeDefinition({ ...merged, fields, updated: dateText(environment.wallClock()) })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw failed(`Failed to import the collections configuration. Raw error:\n${error.message}`)
  }
}

/** With fields of the old definition that are not in the list. A new field of the same name and type is the old one. */
function importedFields(
  old: readonly FieldDefinition[],
  input: unknown,
  deleteMissing: boolean,
): readonly FieldDefinition[] {
  if (input === undefined || input === null) return deleteMissing ? old.filter(({ system }) => system) : old
  const fields = [...completeFields(input)]
  for (const field of old) {
    if ((deleteMissing && !field.system) || fields.some(({ id }) => id === field.id)) continue
    const same = fields.findIndex(({ name, type }) => name === field.name && type === field.type)
    if (same < 0) fields.push(field)
    else fields[same] = field
  }
  return fields
}

/** The error of an import: all errors in one message, as PocketBase words it. */
export function importError(wrong: { readonly definition: Definition; readonly errors: ErrorData }): ServiceError {
  const { definition, errors } = wrong
  return failed(
    `Data validations failed for collection "${definition.name}" (${definition.id}):\n${textOfErrors(errors)}.`,
  )
}

export function textOfErrors(errors: ErrorData): string {
  return JSON.stringify(plain(errors), undefined, 2)
}

function failed(message: string): ServiceError {
  const collections = fieldError('validation_collections_import_failure', message)
  return new ServiceError('INVALID', 'Failed to import collections.', { data: { collections } })
}

function plain(errors: ErrorData): JsonObject {
  const entries = Object.entries(errors).map(([name, error]): [string, unknown] => {
    if (!isFieldError(error)) return [name, plain(error)]
    return [name, rawMessage(error)]
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isFieldError(error: FieldError | ErrorData): error is FieldError {
  return typeof error['code'] === 'string'
}
