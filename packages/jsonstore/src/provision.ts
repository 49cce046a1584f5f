/** Making, opening, emptying and dropping collections. */
import { failure } from './errors.ts'
import { sameSchema } from './search-fields.ts'
import type { SearchSchema } from './search-fields.ts'
import type { Session } from './session.ts'
import { indexesOf, remoteName, removedName } from './stored-document.ts'
import type { StoredDocument } from './stored-document.ts'
import { takeIds } from './writes.ts'

/** The local document that tells a collection's search fields. */
const SCHEMA = 'schema'

/** Gives whether the collection was made; fails with -2 if it has other search fields. */
export async function provision(
  { database }: Session,
  name: string,
  schema: SearchSchema,
  synced: boolean,
): Promise<boolean> {
  const { local } = database.collection<StoredDocument>(name)
  const stored = (await local.get(SCHEMA)) as unknown as SearchSchema | undefined
  if (stored !== undefined && !sameSchema(stored, schema))
    throw failure('PROVISION_TABLE_SEARCH_FIELDS_MISMATCH', { col: name })
  if (stored === undefined) await writeSchema(database, name, schema, 1)
  await database.collection<StoredDocument>(name, { indexes: indexesOf(schema, synced) as [] }).ready()
  return stored === undefined
}

export async function dropCollection({ database }: Session, name: string): Promise<void> {
  for (const one of [remoteName(name), removedName(name), name]) await database.dropCollection(one)
}

/** Outside a transaction it is dropped and created again, whatever its size. Ids continue in both cases. */
export async function clearCollection(session: Session, name: string): Promise<void> {
  const { database } = session
  if (session.inTransaction) {
    await session.write(async (access) => {
      for (const collection of [access(name), access(removedName(name))])
        await collection.delete((await collection.find().fields('_id').toArray()).map(({ _id }) => _id))
    })
    return
  }
  const { local } = database.collection<StoredDocument>(name)
  const schema = (await local.get(SCHEMA)) as unknown as SearchSchema
  const next = await session.write((access) => takeIds(access, name, 0))
  await dropCollection(session, name)
  await writeSchema(database, name, schema, next)
}

async function writeSchema(
  database: Session['database'],
  name: string,
  { searchFields, additionalSearchFields }: SearchSchema,
  next: number,
): Promise<void> {
  await database.transaction(async (tx) => {
    const { local } = tx.collection<StoredDocument>(name)
    const stored = await local.get(SCHEMA)
    await local.put({ ...stored, _id: SCHEMA, searchFields, additionalSearchFields })
    await takeIds((one) => tx.collection<StoredDocument>(one), name, 0, next)
  })
}
