/** Reading of a PocketBase, from a folder or over HTTP. */
import { isObject } from 'pannier/internal'
import type { ImportedRow } from '@pannier/backend'
import type { JsonObject } from '@pannier/backend/internal'
import { FailedError } from '../outcome.ts'

/** A file of a record, on this disk. */
export interface SourceFile {
  readonly name: string
  readonly path: string
  /** Call it when the file is no longer needed. */
  dispose(): Promise<void>
}

/** A source of PocketBase, which fails with FailedErrors. */
export interface PocketBaseSource {
  /** All rows of a statement. */
  query(statement: string): Promise<readonly ImportedRow[]>
  /** The rows of a table in the order in which they were made, in pages that fit in memory. */
  pages(table: string): AsyncIterable<readonly ImportedRow[]>
  /** Undefined if it is not there. */
  file(collection: string, record: string, name: string): Promise<SourceFile | undefined>
  close(): Promise<void>
}

/** A definition as PocketBase exports it, with its secrets. */
export type SourceDefinition = JsonObject & {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly fields: readonly JsonObject[]
}

/** @throws FailedError for an older PocketBase, and for another program */
export async function definitionsOf(source: PocketBaseSource): Promise<readonly SourceDefinition[]> {
  const rows = await source.query('SELECT * FROM _collections ORDER BY _rowid_').catch((error: unknown) => {
    if (!(error instanceof FailedError) || !error.message.includes('no such table')) throw error
    throw new FailedError('It has no table _collections. It is no PocketBase, or one before v0.23.', { cause: error })
  })
  return rows.map((row) => {
    const { fields, indexes, options, system, ...others } = row
    const list = jsonIn(fields)
    if (!Array.isArray(list))
      throw new FailedError(
        'This PocketBase is older than v0.23: start a newer one on its data once, which moves them.',
      )
    const own = jsonIn(options)
    return {
      ...others,
      ...(isObject(own) ? own : {}),
      system: isTrue(system),
      fields: list,
      indexes: jsonIn(indexes) ?? [],
    } as unknown as SourceDefinition
  })
}

/** Undefined if they are encrypted. */
export async function settingsOf(source: PocketBaseSource): Promise<JsonObject | undefined> {
  const [row] = await source.query("SELECT value FROM _params WHERE id = 'settings'")
  const values = jsonIn(row?.['value'])
  return isObject(values) ? values : undefined
}

/** The files of `pb_migrations` that it has applied, in order. */
export async function migrationsOf(source: PocketBaseSource): Promise<readonly string[]> {
  const rows = await source.query("SELECT file FROM _migrations WHERE file NOT LIKE '%.go' ORDER BY applied, file")
  return rows.map(({ file }) => String(file))
}

export async function countOf(source: PocketBaseSource, table: string): Promise<number> {
  const [row] = await source.query(`SELECT count(*) AS total FROM ${quoted(table)}`)
  return Number(row?.['total'])
}

/** Records whose relation leads to a missing record. */
export async function danglingOf(
  source: PocketBaseSource,
  table: string,
  field: string,
  related: string,
): Promise<number> {
  const column = quoted(field)
  // One id, or a list of them.
  const ids = `json_each(CASE WHEN json_valid(${column}) AND ${column} LIKE '[%' THEN ${column} ELSE json_array(${column}) END)`
  const [row] = await source.query(
    `SELECT count(*) AS total FROM ${quoted(table)} AS "@table" WHERE EXISTS (SELECT 1 FROM ${ids} AS "@id" ` +
      `WHERE "@id".value != '' AND "@id".value NOT IN (SELECT id FROM ${quoted(related)}))`,
  )
  return Number(row?.['total'])
}

/** As SQL has names. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function jsonIn(cell: unknown): unknown {
  if (typeof cell !== 'string') return undefined
  try {
    return JSON.parse(cell)
  } catch {
    return undefined
  }
}

function isTrue(cell: unknown): boolean {
  return cell === 1 || cell === '1' || cell === 'true'
}
