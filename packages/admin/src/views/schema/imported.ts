/** Changes that an import of definitions would make, as far as the page can predict them. The server has the last word. */
import type { Collection, Field, NewField } from '../../api/collections.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { changesBetween } from '../definition/changes.ts'
import type { Change } from '../definition/changes.ts'

const { schema: texts } = TEXTS

export type ImportedDefinition = Readonly<Record<string, unknown>>

/** The content of a file. A list alone is that of collections, as PocketBase exports it. */
interface ImportedDefinitions {
  readonly collections: readonly ImportedDefinition[]
  readonly reports?: readonly ImportedDefinition[]
}

/** Definitions, or what is wrong with the text. */
export function readDefinitions(text: string): ImportedDefinitions | string {
  try {
    const value: unknown = JSON.parse(text)
    if (isList(value)) return value.length === 0 ? texts.noList : { collections: value }
    const { collections, reports } = (value ?? {}) as Partial<Readonly<Record<string, unknown>>>
    if (!isList(collections) || collections.length === 0) return texts.noList
    if (reports !== undefined && !isList(reports)) return texts.noList
    return { collections, ...(reports !== undefined && { reports }) }
  } catch (error) {
    return texts.noJson(error instanceof Error ? error.message : String(error))
  }
}

function isList(value: unknown): value is readonly ImportedDefinition[] {
  return Array.isArray(value) && value.every((one: unknown) => typeof one === 'object' && one !== null)
}

interface PlannedChanges {
  readonly name: string
  readonly changes: readonly Change[]
}

/** Collections that stay as they are have no entry. `deletes`: what the list lacks goes. */
export function importedChanges(
  list: readonly Collection[],
  given: readonly ImportedDefinition[],
  deletes: boolean,
): readonly PlannedChanges[] {
  const kept = new Set<string>()
  const planned = given.map((input): PlannedChanges => {
    const name = String(input['name'] ?? input['id'])
    const before = findStored(list, input)
    if (before !== undefined) kept.add(before.id)
    const fields = fieldsOf(before, input['fields'], deletes)
    const after = { ...(before ?? EMPTY), ...input, name, fields } as unknown as Collection
    return { name, changes: changesBetween(before, after) }
  })
  const gone = deletes ? list.filter(({ id, system }) => !system && !kept.has(id)) : []
  const deleted = gone.map(({ name }): PlannedChanges => ({
    name,
    changes: [{ kind: 'remove', text: texts.deleted(name) }],
  }))
  return [...planned, ...deleted].filter(({ changes }) => changes.length > 0)
}

const EMPTY = { type: 'base', indexes: [], fields: [] }

/** By its id, else by its name, as the server finds it. */
function findStored(list: readonly Collection[], { id, name }: ImportedDefinition): Collection | undefined {
  const same = (one: string, other: unknown): boolean =>
    typeof other === 'string' && one.toLowerCase() === other.toLowerCase()
  return list.find((one) => same(one.id, id)) ?? list.find((one) => same(one.name, name))
}

/** Fields that the list lacks stay, unless they are to go. One of the same name and type is the stored one. */
function fieldsOf(before: Collection | undefined, given: unknown, deletes: boolean): readonly Field[] {
  const stored = before?.fields ?? []
  const fields = Array.isArray(given) ? (given as readonly NewField[]) : stored
  const known = fields.map((field, place): Field => {
    const old =
      stored.find(({ id }) => id === field.id) ??
      stored.find(({ name, type }) => name === field.name && type === field.type)
    return { ...old, ...field, id: old?.id ?? `new ${place}` } as Field
  })
  const names = new Set(known.map(({ id }) => id))
  return [...known, ...stored.filter(({ id, system }) => !names.has(id) && (system || !deletes))]
}
