/** `pannier import` and `export` of collections of an application: records, with the checks of their fields. */
import { isObject } from 'pannier/internal'
import { text as textOf } from 'node:stream/consumers'
import type { Database } from 'pannier'
import type { ByteSource, ExportFormat, ImportFormat, ImportMode } from 'pannier/types'
import { openBackend, SYSTEM, type Actor, type Definition } from '@pannier/backend'
import { isSecret, recordsName, type JsonObject } from '@pannier/backend/internal'
import { givenSettingsKey } from './database-path.ts'
import { FailedError, UsageError } from './outcome.ts'
import { explained } from './superuser-api.ts'

interface RecordImport {
  readonly source: ByteSource
  readonly mode: ImportMode
  readonly format: ImportFormat | undefined
}

interface RecordExport {
  readonly format: ExportFormat
  readonly selector?: Record<string, unknown>
  readonly attachments: boolean
}

interface Line {
  readonly number: number
  readonly record: JsonObject
}

const WORK_MS_MAX = 600_000
/** The number of refused lines that are shown. */
const SHOWN_MAX = 20
const ITSELF: Actor = { principal: SYSTEM, request: { context: 'batch', method: 'POST', query: {}, headers: {} } }

/** Writes all of them, or none. Resolves with their number. @throws FailedError with the line; UsageError */
export async function importRecords(db: Database, definition: Definition, wanted: RecordImport): Promise<number> {
  const { source, mode, format } = wanted
  assertForRecords(definition, format, mode === 'replicate' ? '--mode replicate' : undefined)
  const lines = linesIn(await textOf(source instanceof Blob ? source.stream() : (source as ReadableStream)))
  const backend = await openBackend(db, { sendsMails: false, ...givenSettingsKey() })
  try {
    const records = lines.map(({ record }) => record)
    const options = { action: mode === 'upsert' ? 'upsert' : 'create', workMsMax: WORK_MS_MAX } as const
    const refused = await backend.records.import(ITSELF, definition.id, records, options)
    if (refused.length === 0) return lines.length
    const why = refused.map(
      ({ index, reason }) => `line ${lines[index]!.number}: ${explained(reason.message, reason.data)}`,
    )
    throw new FailedError(`${why.slice(0, SHOWN_MAX).join('\n')} Nothing was imported.`, { cause: refused[0]!.reason })
  } finally {
    await backend.close()
  }
}

/** Without secrets of accounts. */
export async function* exportRecords(
  db: Database,
  definition: Definition,
  { format, selector, attachments }: RecordExport,
): AsyncGenerator<Uint8Array> {
  assertForRecords(definition, format, attachments ? '--attachments' : undefined)
  const encoder = new TextEncoder()
  const names = definition.fields.filter((field) => !isSecret(definition, field))
  let before = format === 'json' ? '[\n' : ''
  for await (const document of db.collection(recordsName(definition)).find(selector ?? {})) {
    const values = names.map(({ name }) => [name, name === 'id' ? document['_id'] : document[name]])
    yield encoder.encode(before + JSON.stringify(Object.fromEntries(values)) + (format === 'json' ? '' : '\n'))
    if (format === 'json') before = ',\n'
  }
  if (format === 'json') yield encoder.encode(before === '[\n' ? '[]\n' : '\n]\n')
}

function assertForRecords({ name, type }: Definition, format: string | undefined, other: string | undefined): void {
  if (type === 'view') throw new UsageError(`${name} is a view: it has no records of its own.`)
  const wrong = format?.startsWith('couchdb') === true ? `--format ${format}` : other
  if (wrong !== undefined)
    throw new UsageError(
      `${name} is a collection of the application, whose records are read and written without ${wrong}. ` +
        "CouchDB's door of a running server has documents, `pannier backup` has files.",
    )
}

/** A record a line, or a list of them. */
function linesIn(text: string): Line[] {
  const isList = text.trimStart().startsWith('[')
  const values: [number, unknown][] = isList
    ? (jsonOf(text, 1) as unknown[]).map((value, index) => [index + 1, value])
    : text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [[index + 1, jsonOf(line, index + 1)]]))
  return values.map(([number, value]) => {
    if (!isObject(value)) throw new FailedError(`line ${number}: a record is an object. Nothing was imported.`)
    const { _id, _rev: _, ...record } = value
    return { number, record: _id === undefined ? record : { id: _id, ...record } }
  })
}

function jsonOf(text: string, number: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new FailedError(`line ${number}: ${(error as Error).message}. Nothing was imported.`, { cause: error })
  }
}
