/**
 * Statements of superusers: they run on a scratch database whose tables are the collections that they name. Then the rows that have
 * changed are written to the records, all or nothing.
 */
import type { Database } from 'pannier'
import { readSnapshot } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Definition } from '../definitions/definition.ts'
import { recordsName } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { BLANK, tooLong } from '../fields/field-errors.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, invalidForm, ServiceError } from '../gateway/service-error.ts'
import { WorkQueue } from '../gateway/work-queue.ts'
import type { RecordReads } from '../records/record-reads.ts'
import type { RecordWrites } from '../records/record-writes.ts'
import type { RecordOperation } from '../records/write/operations.ts'
import type { ResultColumn, Row, ScratchResult, TableChanges } from './scratch-protocol.ts'
import { runScratch, type FilledTable } from './scratch-process.ts'
import { columnFields, rowOf, tableOf, valueOf } from './scratch-tables.ts'

const STATEMENTS_BYTES_MAX = 5000
const RECORDS_MAX = 100_000
const SLICE = 1000
/** A scratch database takes memory. */
const LIMITS = { concurrencyMax: 1, waitingMax: 10 }

interface SqlConsoleParts {
  readonly environment: Environment
  readonly database: Database
  readonly definitions: Definitions
  readonly reads: RecordReads
  readonly writes: RecordWrites
}

/** As PocketBase answers. */
export interface SqlResult {
  /** Milliseconds. */
  readonly execTime: number
  /** By the last statement that has written rows; 0 if the first statement is no write. */
  readonly affectedRows: number
  /** Those of the last statement; none if the first one is a write. */
  readonly columns: readonly ResultColumn[]
  /** At most 1000. */
  readonly rows: readonly (readonly (string | null)[])[]
}

/** A table as it was read. */
interface LoadedTable extends FilledTable {
  readonly definition: Definition
  /** The revisions of the records, by id. */
  readonly revs: ReadonlyMap<string, string>
}

/** Runs statements of SQL on the collections. Get it from a backend. */
export class SqlConsole {
  readonly #parts: SqlConsoleParts
  readonly #queue = new WorkQueue(
    LIMITS,
    () => new ServiceError('UNAVAILABLE', 'Other statements run. Try again later.'),
  )
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(parts: SqlConsoleParts) {
    this.#parts = parts
  }

  /**
   * Runs statements in one transaction, and answers what the last one selects.
   *
   * @throws ServiceError FORBIDDEN; INVALID with what SQLite says, or with data; CONFLICT if a record has changed meanwhile; UNAVAILABLE
   */
  async run(principal: Principal, statements: string): Promise<SqlResult> {
    if (!principal.isAdmin) throw forbidden('Only superusers can perform this action.')
    if (statements === '') throw invalidForm('query', BLANK)
    if (Buffer.byteLength(statements) > STATEMENTS_BYTES_MAX) throw invalidForm('query', tooLong(STATEMENTS_BYTES_MAX))
    const running = this.#queue.run(() => this.#run(statements))
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Ends what runs; nothing of it is written, unless it is being written now. */
  async close(): Promise<void> {
    this.#closing.abort(new ServiceError('UNAVAILABLE', 'The server is closing. Try again later.'))
    await Promise.allSettled(this.#running)
  }

  async #run(statements: string): Promise<SqlResult> {
    const { signal } = this.#closing
    signal.throwIfAborted()
    const { environment, writes } = this.#parts
    const start = environment.now()
    const tables = await this.#load(statements)
    const ran: ScratchResult = await runScratch([...tables.values()], statements, { environment, signal })
    const { changes, affectedRows, columns, rows } = ran
    const operations = operationsOf(changes, tables)
    if (operations.length > 0)
      await writes.apply(operations, () => {
        for (const { table } of changes) this.#assertSame(tables.get(table)!.definition)
      })
    return { execTime: Math.round(environment.now() - start), affectedRows, columns, rows }
  }

  /** Its columns are those that the statements have seen. */
  #assertSame({ id, name, fields }: Definition): void {
    if (JSON.stringify(this.#parts.definitions.find(id)?.fields) === JSON.stringify(fields)) return
    throw new ServiceError('CONFLICT', `The fields of "${name}" have changed meanwhile, and nothing was written.`)
  }

  /** The collections whose names are words of the statements, as of one moment. */
  #load(statements: string): Promise<ReadonlyMap<string, LoadedTable>> {
    const words = new Set((statements.match(/\w+/g) ?? []).map((word) => word.toLowerCase()))
    const { database, environment, definitions, reads } = this.#parts
    const named = definitions.all().filter(({ name }) => words.has(name.toLowerCase()))
    return readSnapshot(database, async (reader) => {
      const snapshot = reads.snapshotOf(reader)
      const tables = new Map<string, LoadedTable>()
      for (const definition of named) {
        const documents =
          definition.type === 'view'
            ? await snapshot.rows(definition)
            : await reader
                .collection(recordsName(definition))
                .find({})
                .sort('$created')
                .limit(RECORDS_MAX + 1)
                .toArray()
        if (documents.length > RECORDS_MAX)
          throw invalid(`"${definition.name}" has more than ${RECORDS_MAX} records: too many for SQL. Use its list.`)
        tables.set(definition.name, await loaded(definition, documents, environment))
      }
      return tables
    })
  }
}

/** Others have a turn between two slices. */
async function loaded(
  definition: Definition,
  documents: readonly JsonObject[],
  environment: Environment,
): Promise<LoadedTable> {
  const fields = columnFields(definition)
  const rows: Row[] = []
  const revs = new Map<string, string>()
  for (const [at, document] of documents.entries()) {
    if (at % SLICE === SLICE - 1) await environment.yield()
    rows.push(rowOf(definition, fields, document))
    revs.set(String(document['_id']), String(document['_rev']))
  }
  return { definition, table: tableOf(definition), rows, revs }
}

/** Records are made and changed first, then deleted. @throws ServiceError INVALID for a value that its field can't have */
function operationsOf(
  changes: readonly TableChanges[],
  tables: ReadonlyMap<string, LoadedTable>,
): readonly RecordOperation[] {
  const writes = changes.flatMap(({ table, written }) =>
    written.map(({ before, after }) => writeOf(tables.get(table)!, before, after)),
  )
  const deletes = changes.flatMap(({ table, deleted }) =>
    deleted.map((id): RecordOperation => {
      const { definition, revs } = tables.get(table)!
      return { action: 'delete', collection: definition.id, id, rev: revs.get(id)! }
    }),
  )
  return [...writes, ...deletes]
}

/** Dates that come by themselves are as the row has them; a new one without them gets the time. */
function writeOf({ definition, revs }: LoadedTable, before: Row | undefined, after: Row): RecordOperation {
  const input: Record<string, unknown> = {}
  const autodates: Record<string, string> = {}
  let id = ''
  for (const [at, field] of columnFields(definition).entries()) {
    const { name, type } = field
    const cell = after[at]!
    if (name === 'id') id = String(cell)
    if (type === 'autodate') {
      const date = valueOf(definition, field, cell) as string
      if (before !== undefined || date !== '') autodates[name] = date
    } else if (before === undefined || cell !== before[at]) input[name] = valueOf(definition, field, cell)
  }
  const wanted = { collection: definition.id, input, autodates, isForm: false }
  if (before === undefined) return { action: 'create', ...wanted }
  return { action: 'update', ...wanted, id, rev: revs.get(id)! }
}
