/** Sources of the model's tables: collections of the application, and databases of CouchDB's door. */
import type { Database } from 'pannier'
import { recordsName, type Definition } from '../definitions/definition.ts'
import { databaseName } from '../gateway/databases.ts'
import { quoted } from '../fields/sqlite.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { ModelTable, Row } from './protocol.ts'
import { columnFields, rowOf, tableOf } from './tables.ts'

export interface TableSource {
  readonly id: string
  /** The collection of the library. */
  readonly collection: string
  readonly table: ModelTable
  /** The table as a text. Another text: the table has to be made again. */
  readonly version: string
  /** Undefined: the document is no row. */
  readonly rowOf: (document: JsonObject) => Row | undefined
}

const known = new WeakMap<Definition, TableSource>()

export function sourceOf(definition: Definition): TableSource {
  const found = known.get(definition)
  if (found !== undefined) return found
  const fields = columnFields(definition)
  const source = makeSource(definition.id, recordsName(definition), tableOf(definition), (document) =>
    rowOf(definition, fields, document),
  )
  known.set(definition, source)
  return source
}

/** The databases that a text names. Those of the server itself, such as `_users`, are no tables. */
export async function databasesNamed(text: string, database: Database): Promise<readonly TableSource[]> {
  const words = text.toLowerCase()
  const names = (await database.collections()).filter(
    (name) =>
      databaseName(name) === name &&
      new RegExp(`(?<!\\w)${name.replaceAll(/[$()+]/g, String.raw`\$&`)}(?!\\w)`).test(words),
  )
  return Promise.all(names.map((name) => databaseSource(name, database)))
}

/** A document is JSON, beside what its indexes are about. */
async function databaseSource(name: string, database: Database): Promise<TableSource> {
  const indexes = (await database.collection(name).indexes())
    .filter(({ text, multi }) => text === undefined && !multi)
    .map(({ fields }) => fields.map(({ path }) => path).filter(isField))
  const taken = new Set(['id', 'rev', 'doc'])
  // Columns differ by more than the case of their letters.
  const paths = indexes.flat().filter((path) => {
    const isFree = !taken.has(path.toLowerCase())
    taken.add(path.toLowerCase())
    return isFree
  })
  const table: ModelTable = {
    name,
    columns: [
      { name: 'id', declaration: 'TEXT PRIMARY KEY NOT NULL' },
      { name: 'rev', declaration: 'TEXT NOT NULL' },
      { name: 'doc', declaration: 'TEXT NOT NULL' },
      ...paths.map((path) => ({
        name: path,
        declaration: `GENERATED ALWAYS AS (doc ->> ${jsonPath(path)}) VIRTUAL`,
        isGenerated: true,
      })),
    ],
    indexes: indexes.flatMap((fields, at) =>
      fields.length > 0 && fields.every((path) => paths.includes(path))
        ? [`CREATE INDEX "$model".${quoted(`${name} ${at}`)} ON ${quoted(name)} (${fields.map(quoted).join(', ')})`]
        : [],
    ),
    isReadOnly: true,
  }
  return makeSource(`$database ${name}`, name, table, ({ _id, _rev, _attachments, ...doc }) =>
    String(_id).startsWith('_') ? undefined : [String(_id), String(_rev), JSON.stringify(doc)],
  )
}

/** Times of the library are none, and a path of SQLite can't name a quote. */
function isField(path: string): boolean {
  return /^[^$_"][^"]*$/.test(path)
}

/** The path of JSON: `'$."address"."city"'` */
function jsonPath(path: string): string {
  return `'$${path
    .split('.')
    .map((name) => `."${name}"`)
    .join('')
    .replaceAll("'", "''")}'`
}

function makeSource(
  id: string,
  collection: string,
  table: ModelTable,
  rowOfDocument: TableSource['rowOf'],
): TableSource {
  return { id, collection, table, version: JSON.stringify(table), rowOf: rowOfDocument }
}
