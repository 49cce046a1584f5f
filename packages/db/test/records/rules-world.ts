/** The world of the rules' tests as a database, and their evaluator on it. */
import { evaluate, type BoundRule, type RuleRecord, type RuleRecords } from '../../../rules/src/index.ts'
import { finds, SCHEMA, type World } from '../../../rules/test/answer.ts'
import { open, type Database } from '../../src/index.ts'
import { relateRecords, type GuardReader, type SearchedText } from '../../src/internal.ts'
import type { RecordRelations } from '../../src/database/records/relate-records.ts'
import { memory } from '../../src/memory.ts'
import type { StoredDocument } from '../../src/document/document-reader.ts'

/** The relations of the schema's collections. */
export const RELATIONS: RecordRelations = Object.fromEntries(
  ['users', 'ruled', 'posts', 'notes', 'likes', 'empty'].map((name) => [
    name,
    Object.fromEntries(
      Array.from(SCHEMA.find(name)!.fields.values())
        .filter(({ type }) => type === 'relation')
        .map(({ name: field, to, isMany }) => [
          field,
          { to: SCHEMA.find(to)!.name, many: isMany, cascade: false, required: false },
        ]),
    ),
  ]),
)

export function documentOf({ id, ...fields }: RuleRecord): { _id: string } & Record<string, unknown> {
  return { _id: id as string, ...fields }
}

export function recordOf({ _id, _rev: _, ...fields }: StoredDocument): RuleRecord {
  return { id: _id, ...fields }
}

/** Whether the rule admits a document, by what a reader has. */
export function admits(bound: BoundRule, document: StoredDocument, reader: GuardReader): boolean {
  const complete = (documents: readonly StoredDocument[]) => ({ records: documents.map(recordOf), isComplete: true })
  const records: RuleRecords = {
    get: (collection, id) => {
      const found = reader.get(collection, id)
      return found === undefined ? null : recordOf(found)
    },
    via: (collection, field, id) => complete(reader.via(collection, field, id)),
    all: (collection) => complete(reader.all(collection)),
    finds,
  }
  return evaluate(bound, recordOf(document), records) === true
}

/** Where `search()` looks. */
export const TEXT: SearchedText = { index: 'titles', paths: ['title'] }

export async function worldDatabase(world: World, relations: RecordRelations | undefined): Promise<Database> {
  const db = (await open('world', { storage: memory() })) as Database
  if (relations !== undefined) await relateRecords(db, relations)
  db.collection('posts', { indexes: [{ on: 'title', text: true, name: TEXT.index }] })
  for (const [name, records] of Object.entries(world)) await db.collection(name).upsert(records.map(documentOf))
  return db
}
