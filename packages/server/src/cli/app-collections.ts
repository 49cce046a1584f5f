/** Collections of an application, in a file that a command opens. Their names lead to their records, never to others beside them. */
import type { Database } from 'pannier'
import type { Definition } from '@pannier/backend'
import { DEFINITIONS_COLLECTION, recordsName } from '@pannier/backend/internal'
import { UsageError } from './outcome.ts'

/** Definitions in the file, by the library's name of their records. A view has no records of its own. */
export async function appCollectionsIn(db: Database): Promise<ReadonlyMap<string, Definition>> {
  if (!(await db.collections()).includes(DEFINITIONS_COLLECTION)) return new Map()
  const rows = await db.collection<Definition & { readonly _id: string }>(DEFINITIONS_COLLECTION).find().toArray()
  return new Map(rows.flatMap((row) => (typeof row.name === 'string' ? [[recordsName(row), row]] : [])))
}

/** The definition that has a name, in any case of its letters. */
export async function appCollectionIn(db: Database, name: string): Promise<Definition | undefined> {
  const all = await appCollectionsIn(db)
  return [...all.values()].find((definition) => definition.name.toLowerCase() === name.toLowerCase())
}

/** The library's name of a collection that is there. @throws UsageError */
export async function storedName(db: Database, name: string): Promise<string> {
  const definition = await appCollectionIn(db, name)
  if (definition?.type === 'view') throw new UsageError(`${name} is a view: it has no documents of its own.`)
  const stored = definition === undefined ? name : recordsName(definition)
  if (!(await db.collections()).includes(stored)) throw new UsageError(`There is no collection ${name}.`)
  return stored
}
