/** Documents that were changed here and not pushed yet. Those that were removed are in a collection of their own. */
import { isObject } from 'pannier/internal'
import { failure } from './errors.ts'
import type { Access } from './session.ts'
import { idKey, IS_DIRTY, isId, removedName, toDirtyDocument } from './stored-document.ts'
import type { DirtyDocument } from './stored-document.ts'

/** In the order in which they became dirty. */
export async function dirtyDocuments(access: Access, name: string): Promise<DirtyDocument[]> {
  const live = await access(name).find(IS_DIRTY).sort('d').toArray()
  const removed = await access(removedName(name)).find().toArray()
  return [...live, ...removed].map(toDirtyDocument).sort((left, right) => left._dirty - right._dirty)
}

export async function countDirty(access: Access, name: string): Promise<number> {
  return (await access(name).find(IS_DIRTY).count()) + (await access(removedName(name)).find().count())
}

export async function isDirty(access: Access, name: string, id: number): Promise<boolean> {
  const live = await access(name).get(idKey(id))
  if (live !== undefined) return live.d !== undefined
  return (await access(removedName(name)).get(idKey(id))) !== undefined
}

/** A document that was pushed, with its state at that time, if known. */
export interface CleanDocument {
  /** The id of the document. */
  readonly _id: number
  /** When it was changed, in milliseconds since 1970. */
  readonly _dirty?: number | undefined
}

export function parseClean(documents: unknown): readonly CleanDocument[] {
  const isClean = (one: unknown): one is CleanDocument =>
    isObject(one) && isId(one['_id']) && (one['_dirty'] === undefined || typeof one['_dirty'] === 'number')
  if (!Array.isArray(documents) || !documents.every(isClean))
    throw failure('BAD_PARAMETER_EXPECTED_ARRAY_OF_CLEAN_DOCUMENTS', { given: documents })
  return documents
}

/**
 * Marks documents as pushed; documents that have changed since stay dirty. Gives the number of those that were dirty and are not any
 * more.
 */
export async function markClean(access: Access, name: string, documents: readonly CleanDocument[]): Promise<number> {
  const dirtyAt = new Map(documents.map(({ _id, _dirty }) => [idKey(_id), _dirty]))
  const isMeant = (one: { readonly _id: string; readonly d?: number } | undefined): boolean =>
    one?.d !== undefined && (dirtyAt.get(one._id) ?? one.d) === one.d
  const keys = [...dirtyAt.keys()]
  const live = (await access(name).get(keys)).filter((one) => isMeant(one)).map((one) => one!)
  const removed = (await access(removedName(name)).get(keys)).filter((one) => isMeant(one)).map((one) => one!)
  if (live.length > 0) await access(name).put(live.map(({ d: _, ...clean }) => clean))
  if (removed.length > 0) await access(removedName(name)).delete(removed)
  return live.length + removed.length
}
