/**
 * Changes of definitions that are not saved yet. The views of a collection share one draft, so that a tab may be left and come back to.
 */
import { useMemo } from 'react'
import type { Collection, Field, NewField } from '../../api/collections.ts'
import type { DefinitionChange } from '../../api/definitions.ts'
import { ApiError, BAD_FORMAT, isObject } from '../../api/request.ts'
import { Store, useStore } from '../../state/store.ts'
import { START } from '../../texts/start.ts'
import { kindOf } from '../kinds.ts'
import { withRenamedColumns } from './index-statement.ts'

interface OpenDraft {
  /** The definition that the changes are of. */
  readonly base: Collection
  readonly changes: Partial<Collection>
  /** The server's errors by name, place and option. */
  readonly errors: unknown
}

export interface DefinitionDraft {
  /** The definition with the changes. */
  readonly value: Collection
  readonly base: Collection
  readonly isChanged: boolean
  /** Somebody else has changed the definition since. */
  readonly isStale: boolean
  readonly errors: unknown
  change(part: Partial<Collection>): void
  refuse(error: unknown): void
  reset(): void
}

/** By the id of the collection. */
const drafts = new Store<ReadonlyMap<string, OpenDraft>>(new Map())

addEventListener('beforeunload', (event) => {
  if (drafts.get().size > 0) event.preventDefault()
})

export function useDraft(collection: Collection): DefinitionDraft {
  const all = useStore(drafts)
  const { id } = collection
  const draft = all.get(id)
  const base = draft?.base ?? collection
  const put = (next: OpenDraft): void => drafts.update((map) => new Map(map).set(id, next))
  const reset = (): void => drafts.update((map) => new Map([...map].filter(([key]) => key !== id)))
  const changes = draft?.changes
  const value = useMemo(() => ({ ...base, ...changes }), [base, changes])
  return {
    value,
    base,
    isChanged: draft !== undefined,
    isStale: draft !== undefined && draft.base !== collection,
    errors: draft?.errors,
    change: (part) => {
      const before = drafts.get().get(id)
      const next = different(base, { ...before?.changes, ...part })
      if (Object.keys(next).length === 0) return reset()
      put({ base, changes: next, errors: before?.errors })
    },
    refuse: (error) => {
      const before = drafts.get().get(id)
      if (before !== undefined) put({ ...before, errors: errorsIn(error) })
    },
    reset,
  }
}

/** The changes that differ from the definition as it was. */
function different(base: Collection, changes: Partial<Collection>): Partial<Collection> {
  const entries = Object.entries(changes) as [keyof Collection, unknown][]
  return Object.fromEntries(entries.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(base[name])))
}

/** The errors of an answer, whole. */
export function errorsIn(error: unknown): unknown {
  return error instanceof ApiError ? error.answer['data'] : undefined
}

/** The message at a path of errors. What stands above it is about all that is below, and is no message of it. */
export function errorAt(errors: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = errorsBelow(errors, ...path)
  if (!isError(found)) return undefined
  return path.at(-1) === 'name' && found.code === BAD_FORMAT ? START.badName : found.message
}

export function errorsBelow(errors: unknown, ...path: readonly (string | number)[]): unknown {
  let at = errors
  for (const key of path) {
    if (isError(at) || !isObject(at)) return undefined
    at = at[String(key)]
  }
  return at
}

/** All messages, with the names that lead to them. */
export function allErrors(
  errors: unknown,
  path: readonly string[] = [],
): readonly (readonly [path: string, message: string])[] {
  if (isError(errors)) return [[path.join('.'), errors.message]]
  if (!isObject(errors)) return []
  return Object.entries(errors).flatMap(([key, inner]) => allErrors(inner, [...path, key]))
}

function isError(value: unknown): value is { readonly code?: string; readonly message: string } {
  return isObject(value) && typeof value['message'] === 'string'
}

/** The ids of fields that the server does not have yet. */
const NEW = 'new '
let lastId = 0

export function newField(field: NewField): Field {
  return { system: false, hidden: false, presentable: false, ...field, id: NEW + String(++lastId) }
}

/** The fields with a new one: below all others, but above the dates that are set by themselves. */
export function withField(fields: readonly Field[], field: Field): readonly Field[] {
  const { isAutomatic } = kindOf(field)
  const end = isAutomatic ? fields.length : fields.findLastIndex((one) => !kindOf(one).isAutomatic) + 1
  return fields.toSpliced(end, 0, field)
}

export function isNewField({ id }: Field): boolean {
  return id.startsWith(NEW)
}

/** The part of a draft that is sent. Indexes follow the new names of their fields. */
export function changeOf({ value, base }: Pick<DefinitionDraft, 'value' | 'base'>): DefinitionChange {
  const changes = different(base, value)
  const names = new Map<string, string>()
  for (const { id, name } of base.fields) {
    const after = value.fields.find((field) => field.id === id)?.name ?? name
    if (after !== name) names.set(name, after)
  }
  const indexes = value.indexes.map((statement) => withRenamedColumns(statement, names))
  return {
    ...changes,
    ...(changes.fields && { fields: sentFields(changes.fields) }),
    ...(names.size > 0 && { indexes }),
  }
}

/** A field that is new gets its id from the server. */
export function sentFields(fields: readonly Field[]): readonly NewField[] {
  return fields.map((field) => {
    if (!isNewField(field)) return field
    const { id: _id, ...rest } = field
    return rest
  })
}
