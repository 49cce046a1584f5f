/**
 * One open database: the page store contract as SQL, for every SQLite whose calls are synchronous. Handles of one process share it.
 *
 * Guarantees: each operation is one transaction. Relies on: nobody else writes to the tables.
 */
import { PannierError } from 'pannier'
import type {
  Commit,
  CommitSequence,
  Durability,
  Generation,
  KnownState,
  LogRecord,
  MaybePromise,
  Page,
  PageId,
  SharedDatabase,
  StoreState,
} from 'pannier/storage'
import type { SqliteConnection, SqliteRow, SqliteValue } from './connection.ts'
import { convert, damaged, stale } from './errors.ts'

interface Meta {
  readonly generation: Generation
  readonly sequence: CommitSequence
  readonly claim: string | null
  readonly bytes: Uint8Array
}

/** The log seal is the last row of the log. */
const LOG_SEAL: number = Number.MAX_SAFE_INTEGER

export class SqliteDatabase implements SharedDatabase {
  closed = false
  /** Handles that have it open. */
  users = 0
  readonly #connection: SqliteConnection
  readonly #name: string
  readonly #sql: Statements

  constructor(connection: SqliteConnection, name: string) {
    this.#connection = connection
    this.#name = name
    this.#sql = statements(connection.prefix)
  }

  read(known: KnownState | undefined): StoreState {
    const { generation, sequence, bytes } = this.#meta()
    const after = known?.generation === generation ? Math.max(known.sequence, sequence) : sequence
    const log = this.#all(this.#sql.readLog, after).map((row) => ({
      sequence: row['sequence'] as CommitSequence,
      bytes: this.#bytesOf(row),
    }))
    const logSeal = log.at(-1)?.sequence === LOG_SEAL ? log.pop()!.bytes : undefined
    const meta = generation === 0 ? undefined : { generation, sequence, bytes }
    return { meta, log, keyring: this.#keyring(), logSeal }
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    const rows = this.#all(this.#sql.readPages, JSON.stringify(ids))
    const pages = new Map(rows.map((row) => [row['id'], this.#bytesOf(row)]))
    return ids.map((id) => pages.get(id))
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): MaybePromise<void> {
    return this.#write(durability, () => {
      if (logSeal === undefined && record.sequence !== 1) this.#append(record)
      else this.#atomically(() => this.#append(record, logSeal))
    })
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): MaybePromise<void> {
    return this.#transaction('relaxed', () => {
      this.#checkGeneration(expectedGeneration)
      this.#run(this.#sql.deletePagesFrom, firstNewPageId)
      this.#run(this.#sql.setClaim, token)
    })
  }

  stage(token: string, pages: readonly Page[]): MaybePromise<void> {
    return this.#transaction('relaxed', () => {
      this.#checkClaim(token)
      for (const page of pages) this.#putPage(page)
    })
  }

  commit(commit: Commit): MaybePromise<void> {
    const { claim, meta, record, firstNewPageId } = commit
    return this.#transaction(commit.durability, () => {
      this.#checkGeneration(commit.expectedGeneration)
      if (claim !== undefined) this.#checkClaim(claim)
      else if (this.#meta().claim !== null) this.#run(this.#sql.deletePagesFrom, firstNewPageId)
      if (record) this.#append(record, commit.logSeal)
      for (const page of commit.pages) this.#putPage(page)
      if (commit.free.length > 0) this.#run(this.#sql.deletePages, JSON.stringify(commit.free))
      this.#run(this.#sql.setMeta, meta.generation, meta.sequence, meta.bytes)
      this.#run(this.#sql.truncateLog, meta.sequence)
    })
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): MaybePromise<void> {
    return this.#transaction(durability, () => {
      const isEmpty = this.#meta().generation === 0 && this.#all(this.#sql.newest)[0]!['newest'] === 0
      this.#checkKeyring(expected)
      if (expected === undefined && !isEmpty) throw stale('the database is not empty')
      this.#run(this.#sql.setKeyring, keyring)
    })
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): MaybePromise<void> {
    return this.#transaction('relaxed', () => {
      this.#checkKeyring(keyring)
      for (const { id, bytes } of pages) this.#run(this.#sql.replacePage, bytes, id)
    })
  }

  listPages(): PageId[] {
    return this.#all(this.#sql.listPages).map((row) => row['id'] as PageId)
  }

  usedBytes(): number {
    return this.#converted(() => this.#connection.usedBytes())
  }

  close(): void {
    if (this.closed) return
    this.#converted(() => this.#connection.close())
    this.closed = true
  }

  #putPage({ id, bytes }: Page): void {
    this.#run(this.#sql.putPage, id, bytes)
  }

  #append({ sequence, bytes }: LogRecord, logSeal?: Uint8Array): void {
    if (sequence === 1 && logSeal === undefined && this.#keyring() !== undefined) throw stale('there is a keyring')
    const count = this.#run(this.#sql.append, sequence, bytes, sequence - 1)
    if (count === 0) throw stale(`the newest log record is not ${sequence - 1}`)
    if (logSeal !== undefined) this.#run(this.#sql.setLogSeal, logSeal)
  }

  #checkGeneration(expected: Generation): void {
    const { generation } = this.#meta()
    if (generation !== expected) throw stale(`the meta record has generation ${generation}, not ${expected}`)
  }

  #checkClaim(token: string): void {
    if (this.#meta().claim !== token) throw stale('another handle has taken over the staging of pages')
  }

  #checkKeyring(expected: Uint8Array | undefined): void {
    const stored = this.#keyring()
    const isSame = stored?.length === expected?.length && (stored?.every((byte, at) => byte === expected![at]) ?? true)
    if (!isSame) throw stale('the keyring is another one')
  }

  #keyring(): Uint8Array | undefined {
    const [row] = this.#all(this.#sql.readKeyring)
    return row && this.#bytesOf(row)
  }

  #meta(): Meta {
    const [row] = this.#all(this.#sql.readMeta)
    const isSound = row && Number.isSafeInteger(row['generation']) && Number.isSafeInteger(row['sequence'])
    if (!isSound) throw damaged(this.#name)
    return { ...(row as unknown as Meta), bytes: this.#bytesOf(row) }
  }

  /** Empty bytes come back as NULL from some. */
  #bytesOf({ bytes }: SqliteRow): Uint8Array {
    if (bytes === null) return new Uint8Array(0)
    if (bytes instanceof Uint8Array) return bytes
    if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes)
    throw damaged(this.#name)
  }

  #all(sql: string, ...parameters: SqliteValue[]): readonly SqliteRow[] {
    return this.#converted(() => this.#connection.all(sql, parameters))
  }

  #run(sql: string, ...parameters: SqliteValue[]): number {
    return this.#converted(() => this.#connection.run(sql, parameters))
  }

  #transaction(durability: Durability, body: () => void): MaybePromise<void> {
    return this.#write(durability, () => this.#atomically(body))
  }

  /** An error of `body` comes out as it is: the pages of a commit are made meanwhile, by the caller. */
  #atomically(body: () => void): void {
    let failure: { readonly error: unknown } | undefined
    const kept = (): void => {
      try {
        body()
      } catch (error) {
        failure = { error }
        throw error
      }
    }
    try {
      this.#converted(() => this.#connection.transaction(kept))
    } catch (error) {
      throw failure === undefined ? error : failure.error
    }
  }

  #write(durability: Durability, body: () => void): MaybePromise<void> {
    this.#converted(() => this.#connection.beforeWrite(durability))
    body()
    const durable = this.#converted(() => this.#connection.afterWrite(durability))
    return durable?.catch((error: unknown) => {
      throw convert(error, this.#name, 'PANNIER_IO_FAILED')
    })
  }

  #converted<T>(body: () => T): T {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', `The database ${this.#name} was closed or destroyed.`)
    try {
      return body()
    } catch (error) {
      throw convert(error, this.#name, 'PANNIER_IO_FAILED')
    }
  }
}

type Statements = ReturnType<typeof statements>

/** `prefix`: of the names of tables. */
function statements(prefix: string) {
  const [pages, log, meta] = [`"${prefix}pages"`, `"${prefix}log"`, `"${prefix}meta"`]
  const newest = `SELECT coalesce((SELECT max(sequence) FROM ${log} WHERE sequence < ${LOG_SEAL}), 0)`
  return {
    readMeta: `SELECT generation, sequence, claim, bytes FROM ${meta} WHERE id = 1`,
    setMeta: `UPDATE ${meta} SET generation = ?, sequence = ?, bytes = ?, claim = NULL WHERE id = 1`,
    setClaim: `UPDATE ${meta} SET claim = ? WHERE id = 1`,
    readKeyring: `SELECT bytes FROM ${meta} WHERE id = 2`,
    setKeyring: `INSERT OR REPLACE INTO ${meta} (id, bytes) VALUES (2, ?)`,
    readLog: `SELECT sequence, bytes FROM ${log} WHERE sequence > ? ORDER BY sequence`,
    newest: `${newest} AS newest`,
    append: `INSERT INTO ${log} SELECT ?, ? WHERE (${newest}) = ?`,
    setLogSeal: `INSERT OR REPLACE INTO ${log} VALUES (${LOG_SEAL}, ?)`,
    truncateLog: `DELETE FROM ${log} WHERE sequence < ?`,
    // One parameter for any number of ids: some take a hundred at most.
    readPages: `SELECT id, bytes FROM ${pages} WHERE id IN (SELECT value FROM json_each(?))`,
    listPages: `SELECT id FROM ${pages} ORDER BY id`,
    putPage: `INSERT OR REPLACE INTO ${pages} VALUES (?, ?)`,
    replacePage: `UPDATE ${pages} SET bytes = ? WHERE id = ?`,
    deletePages: `DELETE FROM ${pages} WHERE id IN (SELECT value FROM json_each(?))`,
    deletePagesFrom: `DELETE FROM ${pages} WHERE id >= ?`,
  }
}
