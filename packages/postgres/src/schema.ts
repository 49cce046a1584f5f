/**
 * The tables, and their version.
 *
 * Every row of data names its database by a number that its maker has drawn: no sequence of PostgreSQL's is needed. The fence row is
 * what writes are refused by. It is small, has room in its page, and is updated in place (HOT) by every append.
 */
import { UNAWAITED, type Connections, type Statement } from './connections.ts'
import { failure, isFenced, openError, Refused, stateOf } from './errors.ts'

/** Raised with each change of the tables. A newer one is refused. */
const VERSION = 3

/** A process that makes tables at the same time as another one fails with one of these, and finds them made. */
const MADE_BY_OTHERS: ReadonlySet<string> = new Set(['42P06', '42P07', '42710', '23505', 'XX000', '40001', '40P01'])
const TRIES_MAX = 20

/** The identity of a PostgreSQL among several, whatever its host is called. */
interface Identity {
  readonly id: string
  /** The `id` of the one that knows where each database is. Its own where it is alone. */
  readonly home: string
}

export class Schema {
  readonly #connections: Connections
  readonly #name: string
  readonly #place: string
  #ready: Promise<Identity> | undefined

  constructor(connections: Connections, name: string, place: string) {
    this.#connections = connections
    this.#name = name
    this.#place = place
  }

  /** Whether the tables are there. Makes nothing. */
  async isThere(): Promise<boolean> {
    const { rows } = await this.#connections.patiently(() => this.#connections.one(this.#look()))
    return rows[0]![1] === true
  }

  /** Makes the tables once, or makes those of an earlier version current. @throws as `open` of the library */
  ready(): Promise<Identity> {
    this.#ready ??= this.#make().catch((error: unknown) => {
      this.#ready = undefined
      throw openError(error, this.#place, this.#name)
    })
    return this.#ready
  }

  async #make(): Promise<Identity> {
    const patience = this.#connections.patience(UNAWAITED)
    for (let tries = 1; ; tries++) {
      const { rows } = await this.#unawaited(() => this.#connections.one(this.#look()))
      const [hasTables, hasVersion, hasSchema] = rows[0]!
      if (hasVersion !== true && hasTables === true) throw this.#foreign()
      const version = hasVersion === true ? await this.#version() : 0
      if (version === VERSION) return this.#identity()
      try {
        if (version > 0) await this.#connections.transaction(changesSince(version, this.#name))
        else await this.#connections.transaction(definitions(this.#name, hasSchema === true))
      } catch (error) {
        const state = error instanceof Refused ? (stateOf(error.cause) ?? '') : ''
        if (tries === TRIES_MAX) throw error
        if (!(isFenced(error) || MADE_BY_OTHERS.has(state))) await patience.pauseAfter(error)
      }
    }
  }

  /** Work that is not awaited by itself. Several callers may wait for the same tables, and each may leave: who waits keeps the process alive. */
  #unawaited<T>(work: () => Promise<T>): Promise<T> {
    return this.#connections.patiently(work, this.#connections.patience(UNAWAITED))
  }

  async #version(): Promise<number> {
    const text = `select version from ${this.#name}.version`
    const { rows } = await this.#unawaited(() => this.#connections.one({ text }))
    const version = rows[0]?.[0]
    if (typeof version !== 'number') throw this.#foreign()
    if (version <= VERSION) return version
    const message = `The tables of the schema ${this.#name} in PostgreSQL at ${this.#place} have version ${version}, and this program knows version ${VERSION}. Update it.`
    throw failure('PANNIER_FORMAT_NEWER', message)
  }

  async #identity(): Promise<Identity> {
    const text = `select id, home from ${this.#name}.identity`
    const { rows } = await this.#unawaited(() => this.#connections.one({ text }))
    const [id, home] = rows[0] as [string, string]
    return { id, home }
  }

  #foreign(): Error {
    const message = `The schema ${this.#name} of PostgreSQL at ${this.#place} has tables of another program. Name another one: \`schema: 'pannier_2'\`.`
    return failure('PANNIER_FORMAT_WRONG', message)
  }

  #look(): Statement {
    const text = `select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1),
      to_regclass($1 || '.version') is not null and to_regclass($1 || '.fence') is not null, to_regnamespace($1) is not null`
    return { text, values: [this.#name] }
  }
}

/** A user who may not make a schema may have one. */
function definitions(schema: string, hasSchema: boolean): Statement[] {
  const inPlace = 'with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0)'
  return [
    ...(hasSchema ? [] : [`create schema ${schema}`]),
    `create table ${schema}.version (version int8 not null)`,
    `create table ${schema}.database (id int8 primary key, name text not null unique)`,
    // Of databases that were destroyed: their pages go in slices.
    `create table ${schema}.destroyed (id int8 primary key)`,
    `create table ${schema}.fence (database int8 primary key, generation int8 not null, base int8 not null,
      sequence int8 not null, barrier int8 not null, epoch int8 not null, place text not null, started timestamptz,
      relation int8, sealed bool not null, log_seal bytea, away int8,
      keyrings int8 not null default 0) ${inPlace}`,
    `create table ${schema}.epoch (database int8, epoch int8, start int8 not null, place text not null,
      generation int8, keyrings int8, primary key (database, epoch))`,
    // Apart from the fence: who stages pages blocks no append.
    `create table ${schema}.claim (database int8 primary key, token text) ${inPlace}`,
    `create table ${schema}.meta (database int8 primary key, bytes bytea, keyring bytea)`,
    `create table ${schema}.page (database int8, id int8, bytes bytea not null, primary key (database, id))`,
    `create table ${schema}.log (database int8, sequence int8, bytes bytea not null,
      at timestamptz not null default clock_timestamp(), primary key (database, sequence))`,
    // Turns are empty after a crash: nobody has one then. Pins are not, as no pin would mean that all pages may go.
    `create unlogged table ${schema}.turn (name text primary key, holder text, wanted timestamptz,
      queue text[] not null) ${inPlace}`,
    `create table ${schema}.server (server text primary key, until timestamptz not null) ${inPlace}`,
    `create table ${schema}.pin (name text, handle text, server text not null, generation int8 not null,
      primary key (name, handle)) ${inPlace}`,
    ...places(schema),
    `insert into ${schema}.version values (${VERSION})`,
  ].map((text) => ({ text }))
}

/** The places of databases among several PostgreSQLs. The first one's table counts: docs/internals/postgres.md. */
function places(schema: string): string[] {
  return [
    `create table ${schema}.identity (id text not null, home text not null)`,
    `insert into ${schema}.identity select id, id from (values (gen_random_uuid()::text)) drawn (id)`,
    `create table ${schema}.placement (name text primary key, place text not null, number int8,
      target text, target_number int8, frozen timestamptz)`,
  ]
}

function changesSince(version: number, schema: string): Statement[] {
  return [
    // One process makes them: those after it find no row, and end.
    `with changed as (update ${schema}.version set version = ${VERSION} where version = ${version} returning 1)
      select 1 / (select count(*) from changed)`,
    ...(version > 1
      ? []
      : [
          `alter table ${schema}.fence add column away int8`,
          ...places(schema),
          `insert into ${schema}.placement (name, place) select d.name, i.id from ${schema}.database d, ${schema}.identity i`,
        ]),
    `alter table ${schema}.fence add column keyrings int8 not null default 0`,
    // Null where an epoch began before version 3.
    `alter table ${schema}.epoch add column generation int8, add column keyrings int8`,
  ].map((text) => ({ text }))
}
