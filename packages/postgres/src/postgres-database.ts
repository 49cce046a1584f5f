/**
 * One handle on a database: the page store contract as SQL. An append is one statement; every call is one round trip.
 *
 * The fence row refuses a handle that has not seen the newest state. `barrier` refuses what a connection that is gone may still have under
 * way: who does not know the outcome of a call raises it, and then looks. `place` refuses writes to another server than
 * the one that the handle has read: after a failover or a restore it has to look first (docs/internals/postgres.md).
 */
import { PannierError } from 'pannier'
import type {
  Commit,
  Durability,
  Generation,
  KnownState,
  LogRecord,
  Page,
  PageId,
  SharedDatabase,
  StoreState,
} from 'pannier/internal'
import type { Connections, Patience, Result, Statement } from './connections.ts'
import { failure, isFenced, operationError, UnknownOutcome } from './errors.ts'

/**
 * Where the data of a server come from: another system, timeline, start, or table made again is another place. A restored server and
 * one that was promoted are others, also if their sequences continue as before.
 */
const placeOf = (schema: string): string =>
  `(select system_identifier::text from pg_control_system()) || '.' ||
    substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) || '.' ||
    extract(epoch from pg_postmaster_start_time())::text || '.' || '${schema}.fence'::regclass::oid::text`

/** Bytes of pages in one statement. */
const BLOB_BYTES = 4 * 1024 * 1024
/** Pages of a destroyed database that are deleted at once. */
const DESTROYED_PAGES = 2000
/** Log records stay so long after a storage checkpoint, so that their writers can find out that they were written. */
const LOG_KEPT = `interval '2 minutes'`

/** What a call that may have happened has come to. */
type Settled = 'happened' | 'not'

export class PostgresDatabase implements SharedDatabase {
  closed = false
  readonly #connections: Connections
  readonly #sql: Readonly<Record<StatementName, string>>
  readonly #id: number
  readonly #address: string
  /** The newest epoch that this handle has seen, by its place: numbers would be given again after a restore. */
  #place = ''
  #barrier = 0
  /** The newest commit that this handle has read or written. */
  #seen = 0
  /** The meta record is large and seldom news. */
  #meta: { readonly generation: number; readonly bytes: Uint8Array } | undefined
  /** A call may still be under way. */
  #unsettled = false
  /** The database was put back to an earlier state than this handle has seen. */
  #restored: PannierError | undefined

  private constructor(connections: Connections, schema: string, id: number, address: string) {
    this.#connections = connections
    this.#sql = statementsOf(schema)
    this.#id = id
    this.#address = address
  }

  /** Opens or makes it, in one round trip. */
  static async open(
    connections: Connections,
    schema: string,
    name: string,
    address: string,
  ): Promise<PostgresDatabase> {
    const sql = statementsOf(schema)
    const id = crypto.getRandomValues(new BigUint64Array(1))[0]! & 0x1fffffffffffffn
    const results = await connections.patiently(() =>
      connections.transaction([
        { text: sql.make, values: [String(id), name] },
        { text: sql.adoptByName, values: [name] },
        { text: sql.id, values: [name] },
      ]),
    )
    return new PostgresDatabase(connections, schema, results[2]!.rows[0]![0] as number, address)
  }

  async read(known?: KnownState): Promise<StoreState> {
    const patience = this.#connections.patience()
    for (;;) {
      if (this.#unsettled) await this.#raiseBarrier(patience)
      const values = [
        this.#id,
        known?.generation ?? -1,
        known?.sequence ?? -1,
        this.#place,
        this.#meta?.generation ?? -1,
      ]
      const statement = { name: 'pannier_read', text: this.#sql.read, values }
      const { rows } = await this.#calls(() =>
        this.#connections.patiently(() => this.#connections.one(statement), patience),
      )
      const row = rows[0]
      if (row === undefined) throw closedError()
      if (row[10] === true) return this.#stateOf(row)
      // This server has not been here before.
      await this.#calls(() =>
        this.#connections.patiently(
          () => this.#connections.one({ text: this.#sql.adopt, values: [this.#id] }),
          patience,
        ),
      )
    }
  }

  #stateOf(row: readonly unknown[]): StoreState {
    const [generation, base, sequence, barrier, place] = row as [number, number, number, number, string]
    const [, , , , , logSeal, bytes, keyring, log, lost] = row as (string | null)[]
    if (lost !== null && this.#seen > Number(lost)) throw (this.#restored = this.#restoredError(Number(lost)))
    this.#place = place
    this.#barrier = barrier
    this.#seen = sequence
    if (bytes !== null) this.#meta = { generation, bytes: fromBase64(bytes!) }
    const records = log === null ? [] : log!.split(',').map(fromBase64)
    return {
      meta:
        generation === 0
          ? undefined
          : {
              generation: generation as Generation,
              sequence: base as LogRecord['sequence'],
              bytes: new Uint8Array(this.#meta!.bytes),
            },
      log: records.map((record, i) => ({
        sequence: (sequence - records.length + 1 + i) as LogRecord['sequence'],
        bytes: record,
      })),
      keyring: keyring === null ? undefined : fromBase64(keyring!),
      logSeal: logSeal === null ? undefined : fromBase64(logSeal!),
    }
  }

  /** Reads at the place that this handle knows. After a failover or a restore the same ids may be other pages. */
  async readPages(ids: readonly PageId[]): Promise<(Uint8Array | undefined)[]> {
    for (;;) {
      const statement = { name: 'pannier_pages', text: this.#sql.pages, values: [this.#id, arrayOf(ids), this.#place] }
      const { rows } = await this.#calls(() => this.#connections.patiently(() => this.#connections.one(statement)))
      const place = rows.find(([id]) => id === null)
      if (place === undefined) throw closedError()
      if (place[2] === true) {
        const found = new Map(rows.map(([id, bytes]) => [id, bytes === null ? undefined : fromBase64(bytes as string)]))
        return ids.map((id) => found.get(id))
      }
      await this.read()
    }
  }

  async append(record: LogRecord, durability: Durability, logSeal?: Uint8Array): Promise<void> {
    const { sequence } = record
    const bytes = copyOf(record.bytes)
    const text = durability === 'strict' ? this.#sql.append : this.#sql.appendRelaxed
    const seal = logSeal === undefined ? null : copyOf(logSeal)
    const name = durability === 'strict' ? 'pannier_append' : 'pannier_append_relaxed'
    await this.#write(
      async () => {
        const values = [this.#id, sequence, bytes, seal, this.#barrier]
        const { count } = await this.#connections.one({ name, text, values })
        if (count === 0) throw await this.#refusal(`the newest log record is not ${sequence - 1}`)
      },
      (patience) => this.#settleRecord(sequence, bytes, patience),
    )
    this.#seen = sequence
  }

  async claim(token: string, expectedGeneration: Generation, firstNewPageId: PageId): Promise<void> {
    await this.#writeTogether(
      () => [
        { text: this.#sql.lockClaim, values: [this.#id] },
        { text: this.#sql.checkGeneration, values: [this.#id, expectedGeneration, this.#barrier] },
        { text: this.#sql.deletePagesFrom, values: [this.#id, firstNewPageId] },
        { text: this.#sql.setClaim, values: [this.#id, token] },
      ],
      async (patience) => ((await this.#look(this.#sql.claimed, [], patience))[0] === token ? 'happened' : 'not'),
    )
  }

  /** Done twice it is done once: nothing is to be settled. */
  async stage(token: string, pages: readonly Page[]): Promise<void> {
    const puts = this.#puts(pages)
    await this.#writeTogether(() => [{ text: this.#sql.checkClaim, values: [this.#id, token] }, ...puts])
  }

  async commit(commit: Commit): Promise<void> {
    const { claim, meta, record, logSeal, free, firstNewPageId, expectedGeneration } = commit
    const bytes = copyOf(meta.bytes)
    const seal = logSeal === undefined ? null : copyOf(logSeal)
    const puts = this.#puts(commit.pages)
    const steps: Statement[] = []
    if (commit.durability === 'relaxed') steps.push({ text: 'set local synchronous_commit = off' })
    if (claim === undefined) {
      steps.push({ text: this.#sql.lockClaim, values: [this.#id] })
      steps.push({ text: this.#sql.deleteAbandoned, values: [this.#id, firstNewPageId] })
    } else steps.push({ text: this.#sql.lockClaimOf, values: [this.#id, claim] })
    steps.push(...puts)
    if (free.length > 0) steps.push({ text: this.#sql.freePages, values: [this.#id, arrayOf(free)] })
    steps.push({ text: this.#sql.setMeta, values: [this.#id, bytes] })
    steps.push({ text: this.#sql.endClaim, values: [this.#id] })
    if (record !== undefined)
      steps.push({ text: this.#sql.putRecord, values: [this.#id, record.sequence, copyOf(record.bytes)] })
    steps.push({ text: this.#sql.truncateLog, values: [this.#id, meta.sequence] })
    await this.#writeTogether(
      () => {
        // Last, so that appends of this handle need not wait for the pages.
        const values = [this.#id, expectedGeneration, meta.sequence, record?.sequence ?? null, seal, this.#barrier]
        return [...steps, { text: this.#sql.flip, values }]
      },
      async (patience) => {
        const [generation, stored] = await this.#look(this.#sql.lookMeta, [], patience)
        return generation === meta.generation && isSame(stored, bytes) ? 'happened' : 'not'
      },
    )
    this.#meta = { generation: meta.generation, bytes }
    if (record !== undefined) this.#seen = record.sequence
  }

  async putKeyring(expected: Uint8Array | undefined, keyring: Uint8Array, durability: Durability): Promise<void> {
    const bytes = copyOf(keyring)
    const before = expected === undefined ? null : copyOf(expected)
    await this.#writeTogether(
      () => [
        ...(durability === 'relaxed' ? [{ text: 'set local synchronous_commit = off' }] : []),
        { text: this.#sql.checkBarrier, values: [this.#id, this.#barrier, before === null] },
        { text: this.#sql.putKeyring, values: [this.#id, before, bytes] },
      ],
      async (patience) => {
        const [stored] = await this.#look(this.#sql.keyring, [], patience)
        return isSame(stored, bytes) ? 'happened' : 'not'
      },
    )
  }

  /** Done twice it is done once, as the keyring is asked for. */
  async replacePages(keyring: Uint8Array, pages: readonly Page[]): Promise<void> {
    const check = { text: this.#sql.checkKeyring, values: [this.#id, copyOf(keyring)] }
    const replaces = this.#blobs(pages, this.#sql.replacePages)
    await this.#writeTogether(() => [check, ...replaces])
  }

  async listPages(): Promise<readonly PageId[]> {
    const { rows } = await this.#ask(this.#sql.listPages)
    return rows.map(([id]) => id as PageId)
  }

  async usedBytes(): Promise<number> {
    const { rows } = await this.#ask(this.#sql.usedBytes)
    return rows[0]![0] as number
  }

  /** One round trip, for calls that take no arguments. */
  async #ask(text: string): Promise<Result> {
    const answer = await this.#calls(() =>
      this.#connections.patiently(() =>
        this.#connections.transaction([
          { text: this.#sql.exists, values: [this.#id] },
          { text, values: [this.#id] },
        ]),
      ),
    )
    if (answer[0]!.rows.length === 0) throw closedError()
    return answer[1]!
  }

  #puts(pages: Iterable<Page>): Statement[] {
    return this.#blobs(pages, this.#sql.putPages)
  }

  /** Pages as few large values: the driver writes arrays of bytes as text. */
  #blobs(pages: Iterable<Page>, text: string): Statement[] {
    const statements: Statement[] = []
    let batch: Page[] = []
    let size = 0
    const flush = (): void => {
      if (batch.length === 0) return
      const blob = Buffer.concat(batch.map(({ bytes }) => bytes))
      const sizes = batch.map(({ bytes }) => bytes.length)
      let end = 1
      const starts = sizes.map((length) => (end += length) - length)
      statements.push({
        text,
        values: [this.#id, arrayOf(batch.map(({ id }) => id)), arrayOf(starts), arrayOf(sizes), blob],
      })
      batch = []
      size = 0
    }
    for (const page of pages) {
      if (size + page.bytes.length > BLOB_BYTES) flush()
      batch.push(page)
      size += page.bytes.length
    }
    flush()
    return statements
  }

  async #writeTogether(
    statements: () => readonly Statement[],
    settle?: (patience: Patience) => Promise<Settled>,
  ): Promise<void> {
    await this.#write(async () => {
      try {
        await this.#connections.transaction(statements())
      } catch (error) {
        if (isFenced(error)) throw await this.#refusal('a fence of the statement did not hold')
        throw error
      }
    }, settle)
  }

  /**
   * Tries again while PostgreSQL can't be reached. Where the outcome of a try is unknown, `settle` finds it out first. Without it
   * a try may be repeated.
   */
  async #write(attempt: () => Promise<void>, settle?: (patience: Patience) => Promise<Settled>): Promise<void> {
    const patience = this.#connections.patience()
    await this.#calls(async () => {
      for (;;) {
        try {
          return await attempt()
        } catch (error) {
          const isUnknown = error instanceof UnknownOutcome
          if (isUnknown && settle !== undefined) this.#unsettled = true
          await patience.pauseAfter(error)
          if (isUnknown && settle !== undefined) {
            try {
              if ((await settle(patience)) === 'happened') return
            } catch {
              // What matters is that the outcome is unknown.
              throw error
            }
          }
        }
      }
    })
  }

  /** From here on what was under way has happened, or never will. */
  async #raiseBarrier(patience: Patience): Promise<void> {
    const raise = { text: this.#sql.raiseBarrier, values: [this.#id] }
    const { rows } = await this.#calls(() => this.#connections.patiently(() => this.#connections.one(raise), patience))
    if (rows.length === 0) throw closedError()
    this.#barrier = rows[0]![0] as number
    this.#unsettled = false
  }

  async #settleRecord(sequence: number, bytes: Buffer, patience: Patience): Promise<Settled> {
    const [newest, stored] = await this.#look(this.#sql.lookRecord, [sequence], patience)
    if (isSame(stored, bytes)) return 'happened'
    // Others have written since, and the record of this sequence is theirs or was truncated.
    if ((newest as number) >= sequence && stored === null) throw new UnknownOutcome('truncated')
    return 'not'
  }

  /** Settles, and reads one row. */
  async #look(text: string, values: readonly unknown[], patience: Patience): Promise<readonly unknown[]> {
    await this.#raiseBarrier(patience)
    const statement = { text, values: [this.#id, ...values] }
    const { rows } = await this.#connections.patiently(() => this.#connections.one(statement), patience)
    if (rows.length === 0) throw closedError()
    return rows[0]!
  }

  /** Why a fence did not hold: the database is gone, or another handle has written. */
  async #refusal(what: string): Promise<PannierError> {
    const { rows } = await this.#connections.patiently(() =>
      this.#connections.one({ text: this.#sql.exists, values: [this.#id] }),
    )
    if (rows.length === 0) return closedError()
    return failure('PANNIER_STALE', `Another handle has written since: ${what}.`)
  }

  async #calls<T>(work: () => Promise<T>): Promise<T> {
    if (this.closed) throw closedError()
    if (this.#restored !== undefined) throw this.#restored
    try {
      return await work()
    } catch (error) {
      throw operationError(error, this.#address)
    }
  }

  #restoredError(found: number): PannierError {
    const from = found < 0 ? 'an earlier commit' : `commit ${found}`
    const message = `PostgreSQL at ${this.#address} was put back to an earlier state: it goes on after ${from}, and this handle has seen commit ${this.#seen}. Open the database again.`
    return new PannierError('PANNIER_RESTORED', message, {
      details: { seen: this.#seen, ...(found >= 0 && { found }) },
    })
  }

  close(): void {
    this.closed = true
  }
}

/** Deletes the database at once, then its pages in slices. What a process leaves behind the next one deletes. */
export async function destroyDatabase(connections: Connections, schema: string, name: string): Promise<void> {
  const sql = statementsOf(schema)
  const slice = (): Promise<readonly Result[]> =>
    connections.transaction([{ text: sql.deleteSlice }, { text: sql.forgetDestroyed }])
  await connections.patiently(() => connections.transaction([{ text: sql.destroy, values: [name] }]))
  for (let deleted = 1; deleted > 0;) deleted = (await connections.patiently(slice))[0]!.count
}

function arrayOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

/** The socket writes later, or again: what the caller does with its bytes meanwhile must not show. */
function copyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes)
}

function fromBase64(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text, 'base64')
  return new Uint8Array(buffer, byteOffset, length)
}

/** `text` is base64, or null where nothing is stored. */
function isSame(text: unknown, bytes: Buffer): boolean {
  return typeof text === 'string' && bytes.equals(fromBase64(text))
}

function closedError(): PannierError {
  return failure('PANNIER_CLOSED', 'The database was closed or destroyed.')
}

type StatementName = keyof ReturnType<typeof makeStatements>

const statements = new Map<string, Readonly<Record<StatementName, string>>>()

function statementsOf(schema: string): Readonly<Record<StatementName, string>> {
  let made = statements.get(schema)
  if (made === undefined) statements.set(schema, (made = makeStatements(schema)))
  return made
}

/** `1 / count` fails where no row holds: the transaction ends, and nothing of it has happened. */
const must = (rows: string): string => `select 1 / (select count(*) from (${rows}) held)`

/** The server of the statement is the one that the fence was adopted by. */
const HERE = `f.started = pg_postmaster_start_time() and f.relation = f.tableoid::int8`

// oxlint-disable-next-line max-lines-per-function -- one list
function makeStatements(s: string) {
  const place = placeOf(s)
  const adopt = (which: string): string =>
    `with here as (select ${place} as place), moved as (
        update ${s}.fence f set epoch = f.epoch + 1, place = here.place, started = pg_postmaster_start_time(), relation = f.tableoid::int8
        from here where ${which} and f.place <> here.place returning f.database, f.epoch, f.sequence, f.place)
      insert into ${s}.epoch (database, epoch, start, place) select database, epoch, sequence, place from moved`
  const append = (setting: string, from: string): string =>
    `with ${setting} fence as (update ${s}.fence f set sequence = $2, log_seal = coalesce($4::bytea, f.log_seal) ${from}
        where f.database = $1 and f.sequence = $2::int8 - 1 and f.barrier = $5 and ${HERE}
          and (f.sequence > 0 or not f.sealed or $4::bytea is not null) returning f.database)
      insert into ${s}.log (database, sequence, bytes) select database, $2::int8, $3::bytea from fence`
  const blob = `unnest($2::int8[], $3::int4[], $4::int4[]) as p (id, at, size)`
  return {
    make: `with made as (insert into ${s}.database (id, name) values ($1, $2) on conflict (name) do nothing returning id),
      f as (insert into ${s}.fence (database, generation, base, sequence, barrier, epoch, place, sealed)
        select id, 0, 0, 0, 0, 0, '', false from made),
      c as (insert into ${s}.claim (database) select id from made)
      insert into ${s}.meta (database) select id from made`,
    id: `select id from ${s}.database where name = $1`,
    adopt: adopt('f.database = $1'),
    adoptByName: adopt(`f.database = (select id from ${s}.database where name = $1)`),
    read: `select f.generation, f.base, f.sequence, f.barrier, f.place, encode(f.log_seal, 'base64'),
        case when f.generation <> $5 then encode(m.bytes, 'base64') end, encode(m.keyring, 'base64'),
        (select string_agg(encode(l.bytes, 'base64'), ',' order by l.sequence) from ${s}.log l where l.database = f.database
          and l.sequence > case when f.generation = $2 then greatest(f.base, $3) else f.base end),
        case when $4::text = '' then null when exists (select from ${s}.epoch e where e.database = f.database and e.place = $4)
          then (select min(e.start) from ${s}.epoch e where e.database = f.database and e.epoch >
            (select k.epoch from ${s}.epoch k where k.database = f.database and k.place = $4)) else -1 end,
        ${HERE}
      from ${s}.fence f join ${s}.meta m on m.database = f.database where f.database = $1`,
    raiseBarrier: `update ${s}.fence set barrier = barrier + 1 where database = $1 returning barrier`,
    pages: `select null::int8, null::text, f.place = $3 and ${HERE} from ${s}.fence f where f.database = $1
      union all select id, encode(bytes, 'base64'), null from ${s}.page where database = $1 and id = any($2::int8[])`,
    append: append('', ''),
    appendRelaxed: append(`setting as (select set_config('synchronous_commit', 'off', true)),`, 'from setting'),
    lookRecord: `select f.sequence, encode(l.bytes, 'base64') from ${s}.fence f
      left join ${s}.log l on l.database = f.database and l.sequence = $2 where f.database = $1`,
    lookMeta: `select f.generation, encode(m.bytes, 'base64') from ${s}.fence f
      join ${s}.meta m on m.database = f.database where f.database = $1`,
    claimed: `select token from ${s}.claim where database = $1`,
    keyring: `select encode(keyring, 'base64') from ${s}.meta where database = $1`,
    exists: `select 1 from ${s}.fence where database = $1`,
    lockClaim: must(`select 1 from ${s}.claim where database = $1 for update`),
    lockClaimOf: must(`select 1 from ${s}.claim where database = $1 and token = $2 for update`),
    checkClaim: must(`select 1 from ${s}.claim where database = $1 and token = $2 for share`),
    setClaim: `update ${s}.claim set token = $2 where database = $1`,
    endClaim: `update ${s}.claim set token = null where database = $1 and token is not null`,
    checkGeneration: must(
      `select 1 from ${s}.fence f where f.database = $1 and f.generation = $2 and f.barrier = $3 and ${HERE} for update`,
    ),
    checkBarrier: must(
      `select 1 from ${s}.fence f where f.database = $1 and f.barrier = $2 and ${HERE}
        and (not $3::bool or (f.generation = 0 and f.sequence = 0)) for update`,
    ),
    deletePagesFrom: `delete from ${s}.page where database = $1 and id >= $2`,
    deleteAbandoned: `delete from ${s}.page where database = $1 and id >= $2
      and exists (select from ${s}.claim where database = $1 and token is not null)`,
    putPages: `insert into ${s}.page (database, id, bytes) select $1, p.id, substring($5::bytea from p.at for p.size)
      from ${blob} on conflict (database, id) do update set bytes = excluded.bytes`,
    replacePages: `update ${s}.page q set bytes = substring($5::bytea from p.at for p.size)
      from ${blob} where q.database = $1 and q.id = p.id`,
    freePages: `delete from ${s}.page where database = $1 and id = any($2::int8[])`,
    setMeta: `update ${s}.meta set bytes = $2 where database = $1`,
    putRecord: `insert into ${s}.log (database, sequence, bytes) values ($1, $2, $3)`,
    truncateLog: `delete from ${s}.log where database = $1 and sequence < $2 and at < clock_timestamp() - ${LOG_KEPT}`,
    flip: `with fence as (update ${s}.fence f set generation = $2::int8 + 1, base = $3,
          sequence = coalesce($4::int8, f.sequence), log_seal = coalesce($5::bytea, f.log_seal)
        where f.database = $1 and f.generation = $2 and f.barrier = $6 and ${HERE} and ($4::int8 is null
          or (f.sequence = $4::int8 - 1 and (f.sequence > 0 or not f.sealed or $5::bytea is not null))) returning 1)
      select 1 / (select count(*) from fence)`,
    putKeyring: `with put as (update ${s}.meta set keyring = $3 where database = $1 and keyring is not distinct from $2::bytea returning 1),
      f as (update ${s}.fence set sealed = true where database = $1 and not sealed and exists (select from put))
      select 1 / (select count(*) from put)`,
    checkKeyring: must(`select 1 from ${s}.meta where database = $1 and keyring = $2 for share`),
    listPages: `select id from ${s}.page where database = $1 order by id`,
    usedBytes: `select coalesce((select sum(octet_length(bytes)) from ${s}.page where database = $1), 0)::int8
      + coalesce((select sum(octet_length(bytes)) from ${s}.log where database = $1), 0)::int8`,
    destroy: `with gone as (delete from ${s}.database where name = $1 returning id),
      f as (delete from ${s}.fence where database in (select id from gone)),
      c as (delete from ${s}.claim where database in (select id from gone)),
      m as (delete from ${s}.meta where database in (select id from gone)),
      l as (delete from ${s}.log where database in (select id from gone)),
      e as (delete from ${s}.epoch where database in (select id from gone)),
      t as (delete from ${s}.turn where name = $1)
      insert into ${s}.destroyed select id from gone`,
    deleteSlice: `delete from ${s}.page where ctid = any(array(
      select p.ctid from ${s}.page p join ${s}.destroyed d on d.id = p.database limit ${DESTROYED_PAGES}))`,
    forgetDestroyed: `delete from ${s}.destroyed d where not exists (select from ${s}.page where database = d.id)`,
  }
}
