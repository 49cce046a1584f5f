/**
 * Copies the rows of a database to another PostgreSQL, pass after pass. `xmin` is the transaction that has written a row. So a page that is
 * made again under its id, or sealed by another key, is copied again. The copy can't be opened until `open`.
 */
import type { Result, Statement } from './connections.ts'
import { failure, isFenced } from './errors.ts'
import type { OnePostgres } from './one-postgres.ts'

interface Sides {
  readonly source: OnePostgres
  /** The id of the database there. */
  readonly id: number
  readonly target: OnePostgres
  /** The database that is made there: the number of the move. */
  readonly copy: number
}

/** The bytes of pages or log records in one statement. */
const BATCH_BYTES = 4 * 1024 * 1024
const ROWS_MAX = 500

/** A table whose rows are bytes under a number. */
interface Table {
  readonly name: 'page' | 'log'
  readonly key: 'id' | 'sequence'
}

const PAGES: Table = { name: 'page', key: 'id' }
const RECORDS: Table = { name: 'log', key: 'sequence' }

export class CopyToTarget {
  readonly #sides: Sides
  /** Rows that the target has, by number, with the transaction that wrote each of them at the source. */
  readonly #copied: ReadonlyMap<Table, Map<number, string>> = new Map([
    [PAGES, new Map()],
    [RECORDS, new Map()],
  ])
  /** Where the data of the source come from. After a failover the move begins again. */
  #place = ''

  constructor(sides: Sides) {
    this.#sides = sides
  }

  async begin(name: string): Promise<void> {
    const { copy, target } = this.#sides
    const s = target.settings.schema
    this.#place = await this.#placeOf()
    const values = [copy]
    const make = `insert into ${s}.fence (database, generation, base, sequence, barrier, epoch, place, sealed, away, started)
      values ($1, 0, 0, 0, 0, 0, '', false, -$1::int8, pg_postmaster_start_time()) on conflict (database) do nothing`
    await this.#together(target, [
      { text: `insert into ${s}.database (id, name) values ($1, $2) on conflict do nothing`, values: [copy, name] },
      // Another copy, or the database itself, may have the name.
      { text: `select 1 / (select count(*) from ${s}.database where id = $1)`, values },
      { text: make, values },
      // Pages beyond the newest generation are of a storage checkpoint that never ends here.
      { text: `insert into ${s}.claim (database, token) values ($1, 'moved') on conflict do nothing`, values },
      { text: `insert into ${s}.meta (database) values ($1) on conflict do nothing`, values },
    ])
  }

  /** Copies what is missing. Gives the number of rows that were. */
  async pass(onProgress: (done: number) => void): Promise<number> {
    const pages = await this.#copyTable(PAGES, (done) => onProgress(done))
    return pages + (await this.#copyTable(RECORDS, () => onProgress(1)))
  }

  /** No write happens at the source from here on: what holds the locks has ended, and what comes later is refused. */
  async stop(): Promise<void> {
    const { source, id } = this.#sides
    const s = source.settings.schema
    await this.#together(source, [
      // Anyone who replaces pages, or stages some, holds one of them.
      { text: `select from ${s}.meta where database = $1 for update`, values: [id] },
      { text: `select from ${s}.claim where database = $1 for update`, values: [id] },
      this.#stopped('away is null or away = $2'),
    ])
  }

  /** Fails where the source is another one since the move began: ids of pages and numbers of transactions may mean other rows there. */
  #stopped(condition: string): Statement {
    const { source, id, copy } = this.#sides
    const text = `with stopped as (update ${source.settings.schema}.fence set away = $2 where database = $1 and (${condition}) and place = $3
      and started = pg_postmaster_start_time() returning 1) select 1 / (select count(*) from stopped)`
    return { text, values: [id, copy, this.#place] }
  }

  /** Copies the rest, with the writers stopped. */
  async complete(name: string, throwIfAborted: () => void): Promise<void> {
    const { source, id, target, copy } = this.#sides
    await this.pass(throwIfAborted)
    const [from, to] = [source.settings.schema, target.settings.schema]
    const ask = async (text: string, values: readonly unknown[]): Promise<Result> => this.#ask(source, { text, values })
    const { rows: fences } = await ask(
      `select f.generation, f.base, f.sequence, f.barrier, f.epoch, f.place, f.sealed, encode(f.log_seal, 'base64'),
        encode(m.bytes, 'base64'), encode(m.keyring, 'base64'), f.keyrings
        from ${from}.fence f join ${from}.meta m on m.database = f.database where f.database = $1`,
      [id],
    )
    const [generation, base, sequence, barrier, epoch, , sealed, logSeal, bytes, keyring, keyrings] = fences[0] ?? []
    const epochs = await ask(
      `select epoch, start, place, generation, keyrings from ${from}.epoch where database = $1`,
      [id],
    )
    const pins = await ask(
      `select p.handle, p.server, p.generation, extract(epoch from s.until)::text from ${from}.pin p join ${from}.server s on s.server = p.server
        where p.name = $1 and s.until > clock_timestamp()`,
      [name],
    )
    // Nothing of this counts if the source was not stopped all the time.
    await this.#together(source, [this.#stopped('away = $2')])
    await this.#together(target, [
      this.#isCopy(),
      {
        text: `update ${to}.fence set generation = $2, base = $3, sequence = $4, barrier = $5, epoch = $6, sealed = $7,
          log_seal = decode($8, 'base64'), keyrings = $9 where database = $1`,
        values: [copy, generation, base, sequence, barrier, epoch, sealed, logSeal, keyrings],
      },
      {
        text: `update ${to}.meta set bytes = decode($2, 'base64'), keyring = decode($3, 'base64') where database = $1`,
        values: [copy, bytes, keyring],
      },
      { text: `delete from ${to}.epoch where database = $1`, values: [copy] },
      ...epochs.rows.map((row) => ({
        text: `insert into ${to}.epoch (database, epoch, start, place, generation, keyrings) values ($1, $2, $3, $4, $5, $6)`,
        values: [copy, ...row],
      })),
      // Handles pin again when they come. Until then no page may go that they read.
      ...pins.rows.flatMap(([handle, server, pinned, until]) => [
        {
          text: `insert into ${to}.server (server, until) values ($1, to_timestamp($2::float8)) on conflict (server) do nothing`,
          values: [server, until],
        },
        {
          text: `insert into ${to}.pin (name, handle, server, generation) values ($1, $2, $3, $4) on conflict do nothing`,
          values: [name, handle, server, pinned],
        },
      ]),
    ])
  }

  /** The copy is the database. */
  async open(): Promise<void> {
    const { target, copy } = this.#sides
    const text = `update ${target.settings.schema}.fence set away = null where database = $1 and away = -$1::int8`
    await this.#ask(target, { text, values: [copy] })
  }

  /** The writers at the source need not wait any more. */
  async resumeWrites(): Promise<void> {
    const { source, id, copy } = this.#sides
    const text = `update ${source.settings.schema}.fence set away = null where database = $1 and away = $2`
    await this.#ask(source, { text, values: [id, copy] })
  }

  async #placeOf(): Promise<string> {
    const { source, id } = this.#sides
    const text = `select place from ${source.settings.schema}.fence where database = $1`
    const { rows } = await this.#ask(source, { text, values: [id] })
    return (rows[0]?.[0] as string | undefined) ?? ''
  }

  async #copyTable(table: Table, onProgress: (done: number) => void): Promise<number> {
    const { source, id, target, copy } = this.#sides
    const copied = this.#copied.get(table)!
    const list = `select ${table.key}, xmin::text, octet_length(bytes)::int8 from ${source.settings.schema}.${table.name} where database = $1`
    const { rows } = await this.#ask(source, { text: list, values: [id] })
    const there = new Set(rows.map(([key]) => key as number))
    const missing = rows.filter(([key, written]) => copied.get(key as number) !== written) as [number, string, number][]
    let done = 0
    for (const batch of batchesOf(missing)) {
      await this.#copyRows(table, batch)
      done += batch.length
      onProgress(done / missing.length)
    }
    const gone = [...copied.keys()].filter((key) => !there.has(key))
    for (let at = 0; at < gone.length; at += ROWS_MAX) {
      const some = gone.slice(at, at + ROWS_MAX)
      const text = `delete from ${target.settings.schema}.${table.name} where database = $1 and ${table.key} = any($2::int8[])`
      await this.#together(target, [this.#isCopy(), { text, values: [copy, `{${some.join(',')}}`] }])
      for (const key of some) copied.delete(key)
    }
    onProgress(1)
    return missing.length
  }

  /** A row that has changed since it was listed is taken as it is now. */
  async #copyRows({ name, key }: Table, keys: readonly number[]): Promise<void> {
    const { source, id, target, copy } = this.#sides
    const list = `{${keys.join(',')}}`
    const at = name === 'log' ? 'extract(epoch from at)::text' : 'null'
    const text = `select ${key}, xmin::text, encode(bytes, 'base64'), ${at} from ${source.settings.schema}.${name}
      where database = $1 and ${key} = any($2::int8[])`
    const { rows } = await this.#ask(source, { text, values: [id, list] })
    const bytes = rows.map((row) => Buffer.from(row[2] as string, 'base64'))
    let end = 1
    const starts = bytes.map(({ length }) => (end += length) - length)
    const columns = name === 'log' ? ', at' : ''
    const times = name === 'log' ? ', to_timestamp(p.time)' : ''
    const put = `insert into ${target.settings.schema}.${name} (database, ${key}, bytes${columns})
      select $1, p.id, substring($5::bytea from p.start for p.size)${times}
      from unnest($2::int8[], $3::int4[], $4::int4[], $6::float8[]) as p (id, start, size, time)
      on conflict (database, ${key}) do update set bytes = excluded.bytes`
    const values = [
      copy,
      `{${rows.map((row) => row[0] as number).join(',')}}`,
      `{${starts.join(',')}}`,
      `{${bytes.map(({ length }) => length).join(',')}}`,
      Buffer.concat(bytes),
      `{${name === 'log' ? rows.map((row) => row[3]).join(',') : ''}}`,
    ]
    await this.#together(target, [this.#isCopy(), { text: put, values }])
    const copied = this.#copied.get(name === 'log' ? RECORDS : PAGES)!
    for (const [number, written] of rows) copied.set(number as number, written as string)
  }

  /**
   * A later move may have deleted the copy: what this one still writes would stay for ever. Another server may have lost what was copied.
   */
  #isCopy(): Statement {
    const { target, copy } = this.#sides
    const text = `select 1 / (select count(*) from (select 1 from ${target.settings.schema}.fence
      where database = $1 and away = -$1::int8 and started = pg_postmaster_start_time() for share) held)`
    return { text, values: [copy] }
  }

  #ask({ connections }: OnePostgres, statement: Statement): Promise<Result> {
    return connections.patiently(() => connections.one(statement))
  }

  /** In one transaction, which may be done twice. @throws PANNIER_STALE */
  async #together({ connections, place }: OnePostgres, statements: readonly Statement[]): Promise<void> {
    try {
      await connections.patiently(() => connections.transaction(statements))
    } catch (error) {
      if (!isFenced(error)) throw error
      const message = `The database was not moved: it, its copy or PostgreSQL at ${place} has changed meanwhile. Try again.`
      throw failure('PANNIER_STALE', message, error)
    }
  }
}

function* batchesOf(rows: readonly [key: number, written: string, bytes: number][]): Generator<number[]> {
  let batch: number[] = []
  let size = 0
  for (const [key, , bytes] of rows) {
    if (batch.length === ROWS_MAX || (batch.length > 0 && size + bytes > BATCH_BYTES)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(key)
    size += bytes
  }
  if (batch.length > 0) yield batch
}
