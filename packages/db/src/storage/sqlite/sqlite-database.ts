/**
 * One open database file: the operations of the page store contract as SQL. Handles of one process share it.
 *
 * Guarantees: each operation is one transaction. Relies on: nobody else writes to the file (connect.ts locks it).
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { CommitSequence, Generation, PageId } from '../../base/brand.ts'
import { PannierError } from '../../base/errors.ts'
import { checkClaim, checkFirst, checkGeneration, checkKeyring, stale, type SharedDatabase } from '../handle.ts'
import type { Commit, Durability, KnownState, LogRecord, Page, StoreState } from '../page-store.ts'
import { closeConnection, files, WAL_PAGES_APPEND, WAL_PAGES_STAGED, WAL_PAGES_TRANSACTION } from './connect.ts'
import { damagedError, operationError } from './errors.ts'

export class SqliteDatabase implements SharedDatabase {
  readonly path: string
  /** Set when it was closed or destroyed: no handle can use it any more. */
  closed = false
  /** Handles that have it open. */
  users = 0
  private readonly connection: DatabaseSync
  private readonly statements: Statements
  private durability: Durability = 'relaxed'

  constructor(connection: DatabaseSync, path: string) {
    this.connection = connection
    this.path = path
    this.statements = prepare(connection, path)
  }

  read(known: KnownState | undefined): StoreState {
    return this.convertErrors(() => {
      const { readLog } = this.statements
      const row = this.metaRow()
      const { generation, sequence } = row
      const after = known?.generation === generation ? Math.max(known.sequence, sequence) : sequence
      const log = readLog.all(after) as unknown as BytesRow[]
      const logSeal = log.at(-1)?.sequence === LOG_SEAL ? this.bytesOf(log.pop()!) : undefined
      return {
        meta: generation === 0 ? undefined : { generation, sequence, bytes: this.bytesOf(row) },
        log: log.map((record) => ({ sequence: record.sequence, bytes: this.bytesOf(record) })),
        keyring: this.keyring(),
        logSeal,
      }
    })
  }

  readPages(ids: readonly PageId[]): (Uint8Array | undefined)[] {
    return this.convertErrors(() =>
      ids.map((id) => {
        const row = this.statements.readPage.get(id) as BytesRow | undefined
        return row && this.bytesOf(row)
      }),
    )
  }

  append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): void {
    this.convertErrors(() => {
      this.setDurability(durability)
      this.appendIfNext(record, logSeal)
    })
  }

  claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): void {
    this.transaction('relaxed', () => {
      this.checkGeneration(expectedGeneration)
      this.statements.deletePagesFrom.run(firstNewPageId)
      this.statements.setClaim.run(token)
    })
  }

  stage(token: string, pages: readonly Page[]): void {
    this.transaction(
      'relaxed',
      () => {
        checkClaim(this.claimed(), token)
        for (const page of pages) this.putPage(page)
      },
      WAL_PAGES_STAGED,
    )
  }

  commit(commit: Commit): void {
    const { claim, meta, record, firstNewPageId } = commit
    const { deletePagesFrom, deletePage, setMeta, truncateLog } = this.statements
    this.transaction(commit.durability, () => {
      this.checkGeneration(commit.expectedGeneration)
      if (claim !== undefined) checkClaim(this.claimed(), claim)
      else if (this.claimed() !== null) deletePagesFrom.run(firstNewPageId)
      if (record) this.appendIfNext(record, commit.logSeal)
      for (const page of commit.pages) this.putPage(page)
      for (const id of commit.free) deletePage.run(id)
      setMeta.run(meta.generation, meta.sequence, meta.bytes)
      truncateLog.run(meta.sequence)
    })
  }

  putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): void {
    const { newest, setKeyring } = this.statements
    this.transaction(durability, () => {
      const isEmpty = this.metaRow().generation === 0 && newest.get()!['sequence'] === 0
      checkKeyring(this.keyring(), expected, isEmpty)
      setKeyring.run(keyring)
    })
  }

  replacePages(keyring: Uint8Array, pages: readonly Page[]): void {
    this.transaction('relaxed', () => {
      checkKeyring(this.keyring(), keyring)
      for (const { id, bytes } of pages) this.statements.replacePage.run(bytes, id)
    })
  }

  listPages(): PageId[] {
    return this.convertErrors(() => this.statements.listPages.all().map((row) => row['id'] as PageId))
  }

  usedBytes(): number {
    return this.convertErrors(() => this.statements.usedBytes.get()!['bytes'] as number)
  }

  /** The last one out closes the file, which moves what is in SQLite's write-ahead log into it. */
  close(): void {
    if (this.closed) return
    this.closed = true
    closeConnection(this.connection, this.path)
  }

  /** The file goes first: a write-ahead log without one is nothing, a file without its log would be an older state. */
  destroy(): void {
    this.close()
    deleteFiles(this.path)
  }

  private putPage({ id, bytes }: Page): void {
    this.statements.putPage.run(id, bytes)
  }

  private appendIfNext(record: LogRecord, logSeal?: Uint8Array): void {
    const { append, appendWithLogSeal } = this.statements
    const { sequence, bytes } = record
    if (sequence === 1) checkFirst(record, logSeal, this.keyring())
    const parameters = [sequence, bytes, sequence - 1] as const
    const { changes } = logSeal ? appendWithLogSeal.run(...parameters, logSeal) : append.run(...parameters)
    if (changes === 0) throw stale(`the newest log record is not ${sequence - 1}`)
  }

  private keyring(): Uint8Array | undefined {
    const row = this.statements.readKeyring.get() as BytesRow | undefined
    return row && this.bytesOf(row)
  }

  private checkGeneration(expected: Generation): void {
    checkGeneration(this.metaRow().generation, expected)
  }

  /** The row that is there from the making of the file on. */
  private metaRow(): MetaRow {
    const row = this.statements.readMeta.get() as unknown as MetaRow | undefined
    const isSound = row && Number.isSafeInteger(row.generation) && Number.isSafeInteger(row.sequence)
    if (!isSound) throw damagedError(this.path)
    return row
  }

  /** SQLite stores empty bytes that it is given from JavaScript as NULL. */
  private bytesOf({ bytes }: BytesRow): Uint8Array {
    if (bytes === null) return new Uint8Array(0)
    if (!(bytes instanceof Uint8Array)) throw damagedError(this.path)
    return bytes
  }

  private claimed(): string | null {
    return this.metaRow().claim
  }

  private transaction(durability: Durability, body: () => void, walPages: number = WAL_PAGES_TRANSACTION): void {
    this.convertErrors(() => {
      this.setDurability(durability)
      this.connection.exec(`PRAGMA wal_autocheckpoint = ${walPages}; BEGIN IMMEDIATE`)
      try {
        body()
        this.connection.exec('COMMIT')
      } catch (error) {
        // SQLite has rolled back by itself after some failures.
        if (this.connection.isTransaction) this.connection.exec('ROLLBACK')
        throw error
      } finally {
        this.connection.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_APPEND}`)
      }
    })
  }

  /** FULL syncs the write-ahead log with each commit, and with it everything that was written before. */
  private setDurability(durability: Durability): void {
    if (durability === this.durability) return
    this.connection.exec(`PRAGMA synchronous = ${durability === 'strict' ? 'FULL' : 'NORMAL'}`)
    this.durability = durability
  }

  private convertErrors<T>(body: () => T): T {
    if (this.closed) throw new PannierError('PANNIER_CLOSED', `The database ${this.path} was closed or destroyed.`)
    try {
      return body()
    } catch (error) {
      throw operationError(error, this.path)
    }
  }
}

/** Does nothing if the files do not exist. */
export function deleteFiles(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    if (files().existsSync(path + suffix)) files().rmSync(path + suffix)
  }
}

/** A row of a file that may be damaged: any value of SQLite's can stand anywhere. */
interface BytesRow {
  readonly sequence: CommitSequence
  readonly bytes: unknown
}

interface MetaRow extends BytesRow {
  readonly generation: Generation
  readonly claim: string | null
}

/**
 * The log seal is the last row of the log: in the page of SQLite's that an append writes anyway, so that it costs no page of its
 * own in the write-ahead log.
 */
const LOG_SEAL: number = Number.MAX_SAFE_INTEGER

type StatementName =
  | 'readMeta'
  | 'readLog'
  | 'readPage'
  | 'newest'
  | 'append'
  | 'appendWithLogSeal'
  | 'readKeyring'
  | 'setKeyring'
  | 'setClaim'
  | 'putPage'
  | 'replacePage'
  | 'deletePage'
  | 'deletePagesFrom'
  | 'setMeta'
  | 'truncateLog'
  | 'listPages'
  | 'usedBytes'

const NEWEST = `SELECT coalesce((SELECT max(sequence) FROM log WHERE sequence < ${LOG_SEAL}), 0)`

type Statements = Readonly<Record<StatementName, StatementSync>>

/** Fails with PANNIER_CORRUPT where the file has not the tables that it was made with; the connection is closed then. */
function prepare(connection: DatabaseSync, path: string): Statements {
  const prepared = (sql: string): StatementSync => {
    try {
      return connection.prepare(sql)
    } catch (error) {
      closeConnection(connection, path)
      throw damagedError(path, error)
    }
  }
  return {
    readMeta: prepared('SELECT generation, sequence, claim, bytes FROM meta WHERE id = 1'),
    readLog: prepared('SELECT sequence, bytes FROM log WHERE sequence > ? ORDER BY sequence'),
    readPage: prepared('SELECT bytes FROM pages WHERE id = ?'),
    newest: prepared(`${NEWEST} AS sequence`),
    append: prepared(`INSERT INTO log SELECT ?, ? WHERE (${NEWEST}) = ?`),
    // One statement is a transaction by itself.
    appendWithLogSeal: prepared(
      `INSERT OR REPLACE INTO log SELECT * FROM (VALUES (?1, ?2), (${LOG_SEAL}, ?4)) WHERE (${NEWEST}) = ?3`,
    ),
    readKeyring: prepared('SELECT bytes FROM meta WHERE id = 2'),
    setKeyring: prepared('INSERT OR REPLACE INTO meta (id, bytes) VALUES (2, ?)'),
    setClaim: prepared('UPDATE meta SET claim = ? WHERE id = 1'),
    replacePage: prepared('UPDATE pages SET bytes = ? WHERE id = ?'),
    putPage: prepared('INSERT OR REPLACE INTO pages VALUES (?, ?)'),
    deletePage: prepared('DELETE FROM pages WHERE id = ?'),
    deletePagesFrom: prepared('DELETE FROM pages WHERE id >= ?'),
    setMeta: prepared('UPDATE meta SET generation = ?, sequence = ?, bytes = ?, claim = NULL WHERE id = 1'),
    truncateLog: prepared('DELETE FROM log WHERE sequence < ?'),
    listPages: prepared('SELECT id FROM pages ORDER BY id'),
    usedBytes: prepared(
      'SELECT (page_count - freelist_count) * page_size AS bytes ' +
        'FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()',
    ),
  }
}
