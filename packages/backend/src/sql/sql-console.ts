/**
 * Statements of superusers: they run on the read model. Then the rows that have changed are written to the records, all or nothing.
 */
import type { Database } from 'pannier'
import { readSnapshot, type GuardReader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Definition } from '../definitions/definition.ts'
import { recordsName } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { SqlRefusal } from '../definitions/views/view-queries.ts'
import { BLANK, tooLong } from '../fields/field-errors.ts'
import { typeOfField } from '../fields/field-types.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, invalid, invalidForm, ServiceError } from '../gateway/service-error.ts'
import type { HookApp } from '../hooks/hook-app.ts'
import type { RecordTransaction } from '../records/record-transaction.ts'
import type { RecordWrites } from '../records/record-writes.ts'
import { transactionOf } from '../records/transaction-app.ts'
import type { RecordOperation } from '../records/write/operations.ts'
import { overlayOf } from '../model/feed.ts'
import type { Overlay, ResultColumn, Row, TableChanges } from '../model/protocol.ts'
import type { PlacedTable, ReadModel } from '../model/read-model.ts'
import { columnFields, valueOf } from '../model/tables.ts'

const STATEMENTS_BYTES_MAX = 5000
const ROWS_MAX = 1000
/** Writes of a transaction that its statements see. */
const OVERLAY_DOCUMENTS_MAX = 10_000

interface SqlConsoleParts {
  readonly environment: Environment
  readonly database: Database
  readonly definitions: Definitions
  readonly model: Pick<ReadModel, 'run'>
  readonly writes: RecordWrites
}

/** The result of SQL, as PocketBase answers. */
export interface SqlResult {
  /** The time of the execution in milliseconds. */
  readonly execTime: number
  /** By the last statement that has written rows; 0 if the first statement is no write. */
  readonly affectedRows: number
  /** The columns of the last statement; none if the first one is a write. */
  readonly columns: readonly ResultColumn[]
  /** The rows: at most 1000, unless the caller has asked for more. */
  readonly rows: readonly (readonly (string | null)[])[]
}

/** The changes in a table, and the records as they are now. */
interface ChangedTable extends TableChanges {
  readonly definition: Definition
  /** The revisions of the records, by id. */
  readonly revs: ReadonlyMap<string, string>
}

/** Runs statements of SQL on the collections. Get it from a backend. */
export class SqlConsole {
  readonly #parts: SqlConsoleParts
  readonly #running = new Set<Promise<unknown>>()

  constructor(parts: SqlConsoleParts) {
    this.#parts = parts
  }

  /**
   * Runs statements in one transaction, and answers what the last one selects. `app`: inside a transaction, they are a part of that.
   *
   * @throws ServiceError FORBIDDEN; INVALID with what SQLite says, or with data; CONFLICT if a record has changed meanwhile; UNAVAILABLE
   */
  async run(
    principal: Principal,
    statements: string,
    { rowsMax = ROWS_MAX, app }: { readonly rowsMax?: number; readonly app?: HookApp } = {},
  ): Promise<SqlResult> {
    if (!principal.isAdmin) throw forbidden('Only superusers can perform this action.')
    if (statements === '') throw invalidForm('query', BLANK)
    if (Buffer.byteLength(statements) > STATEMENTS_BYTES_MAX) throw invalidForm('query', tooLong(STATEMENTS_BYTES_MAX))
    const running = this.#run(statements, rowsMax, app && transactionOf(app))
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Closes it, and waits for what is being written. Close the model first, which ends what runs. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  async #run(statements: string, rowsMax: number, within: RecordTransaction | undefined): Promise<SqlResult> {
    const { environment, definitions, model, writes } = this.#parts
    const start = environment.now()
    const all = definitions.all()
    const running = model.run(statements, rowsMax, within && ((tables) => overlaysIn(within, tables)))
    const { result, positions } = await running.catch((error: unknown) => {
      if (!(error instanceof SqlRefusal)) throw error
      throw invalid(`Failed to execute query. Raw error:\n${error.message}`)
    })
    const { affectedRows, columns, rows } = result
    const changes = result.changes.filter(({ written, deleted }) => written.length + deleted.length > 0)
    if (changes.length > 0) {
      const tables = await this.#changed(changes, all, positions, within)
      const operations = tables.flatMap(writesOf).concat(tables.flatMap(deletesOf))
      const check = (): void => {
        for (const { definition } of tables) this.#assertSame(definition)
      }
      if (within === undefined) await writes.apply(operations, check)
      else {
        check()
        await within.apply(operations)
      }
    }
    return { execTime: Math.round(environment.now() - start), affectedRows, columns, rows }
  }

  /** Checks that the columns are still those that the statements have seen. */
  #assertSame({ id, name, fields }: Definition): void {
    if (JSON.stringify(this.#parts.definitions.find(id)?.fields) === JSON.stringify(fields)) return
    throw new ServiceError('CONFLICT', `The fields of "${name}" have changed meanwhile, and nothing was written.`)
  }

  /** @throws ServiceError CONFLICT if a record was written after the statements have seen it */
  async #changed(
    changes: readonly TableChanges[],
    all: readonly Definition[],
    positions: ReadonlyMap<string, number>,
    within: RecordTransaction | undefined,
  ): Promise<readonly ChangedTable[]> {
    const { database } = this.#parts
    const tables: ChangedTable[] = []
    for (const change of changes) {
      const definition = all.find(({ name }) => name === change.table)!
      const collection = recordsName(definition)
      const at = columnFields(definition).findIndex(({ name }) => name === 'id')
      const changed = change.written.flatMap(({ before, after }) => (before === undefined ? [] : [String(after[at])]))
      const ids = [...changed, ...change.deleted]
      const read = (reader: GuardReader): ReturnType<GuardReader['writtenMany']> => reader.writtenMany(collection, ids)
      const found = await (within?.read(collection, read) ?? readSnapshot(database, (reader) => reader.read(read)))
      const revs = new Map<string, string>()
      for (const [place, id] of ids.entries()) {
        const written = found[place]
        // Nobody else writes during a transaction.
        const isSame = written !== undefined && (within || written.sequence <= (positions.get(definition.id) ?? 0))
        // One that is gone already needs no delete.
        if (isSame) revs.set(id, written.document._rev)
        else if (place < changed.length || written !== undefined) throw overtaken(place < changed.length, id)
      }
      tables.push({ ...change, definition, revs })
    }
    return tables
  }
}

/** The writes of a transaction that the model does not have. @throws SqlRefusal */
async function overlaysIn(within: RecordTransaction, tables: readonly PlacedTable[]): Promise<readonly Overlay[]> {
  const overlays: Overlay[] = []
  for (const [table, position] of tables) {
    const read = (reader: GuardReader): Overlay | undefined => overlayOf(table, reader, position, OVERLAY_DOCUMENTS_MAX)
    const overlay = await within.read(table.collection, read)
    if (overlay === undefined)
      throw new SqlRefusal(
        `the transaction has written ${OVERLAY_DOCUMENTS_MAX} records of ${table.table.name}: write fewer`,
      )
    if (overlay.rows.length + overlay.gone.length > 0) overlays.push(overlay)
  }
  return overlays
}

function overtaken(isUpdate: boolean, id: string): ServiceError {
  const message = `Failed to ${isUpdate ? 'update' : 'delete'} the record "${id}", and nothing was written.`
  return new ServiceError('CONFLICT', `${message} Somebody has changed it meanwhile.`)
}

/** Records are made and changed first, then deleted. @throws ServiceError INVALID for a value that its field can't have */
function writesOf(table: ChangedTable): readonly RecordOperation[] {
  return table.written.map(({ before, after }) => writeOf(table, before, after))
}

function deletesOf({ definition, deleted, revs }: ChangedTable): readonly RecordOperation[] {
  return deleted.flatMap((id) => {
    const rev = revs.get(id)
    return rev === undefined ? [] : [{ action: 'delete' as const, collection: definition.id, id, rev }]
  })
}

/** Dates that come by themselves are as the row has them; a new one without them gets the time. */
function writeOf({ definition, revs }: ChangedTable, before: Row | undefined, after: Row): RecordOperation {
  const input: Record<string, unknown> = {}
  const autodates: Record<string, string> = {}
  let id = ''
  for (const [at, field] of columnFields(definition).entries()) {
    const { name } = field
    const cell = after[at]!
    if (name === 'id') id = String(cell)
    if (typeOfField(field).isAutomatic) {
      const date = valueOf(definition, field, cell) as string
      if (before !== undefined || date !== '') autodates[name] = date
    } else if (before === undefined || cell !== before[at]) input[name] = valueOf(definition, field, cell)
  }
  const wanted = { collection: definition.id, input, autodates, isForm: false }
  if (before === undefined) return { action: 'create', ...wanted }
  return { action: 'update', ...wanted, id, rev: revs.get(id)! }
}
