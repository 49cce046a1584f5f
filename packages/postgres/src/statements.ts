/** The SQL of one database, for a schema. The fences are conditions of the statements: docs/internals/postgres.md. */

/** The database of PostgreSQL that this is. */
const CURRENT = `(select oid from pg_database where datname = current_database())`

/**
 * Where the data of a server come from: another system, timeline, start, or table made again is another place. A restored server and
 * one that was promoted are others, also if their sequences continue as before. So is a database of PostgreSQL that was made of another
 * one as its template, and a copy that a move has made: the number of the database is added.
 */
const placeOf = (schema: string): string =>
  `(select system_identifier::text from pg_control_system()) || '.' ||
    substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) || '.' ||
    extract(epoch from pg_postmaster_start_time())::text || '.' || '${schema}.fence'::regclass::oid::text || '.' || ${CURRENT}::text`

/** Pages of a destroyed database that are deleted at once. */
const DESTROYED_PAGES = 2000
/** Log records stay so long after a storage checkpoint, so that their writers can find out that they were written. */
const LOG_KEPT = `interval '2 minutes'`

type StatementName =
  | 'settle'
  | 'make'
  | 'id'
  | 'adopt'
  | 'adoptByName'
  | 'read'
  | 'readByName'
  | 'raiseBarrier'
  | 'pages'
  | 'append'
  | 'appendRelaxed'
  | 'lookRecord'
  | 'lookMeta'
  | 'claimed'
  | 'keyring'
  | 'away'
  | 'checkStays'
  | 'lockClaim'
  | 'lockClaimOf'
  | 'checkClaim'
  | 'setClaim'
  | 'endClaim'
  | 'checkGeneration'
  | 'checkBarrier'
  | 'deletePagesFrom'
  | 'deleteAbandoned'
  | 'putPages'
  | 'replacePages'
  | 'freePages'
  | 'setMeta'
  | 'putRecord'
  | 'truncateLog'
  | 'flip'
  | 'putKeyring'
  | 'checkKeyring'
  | 'listPages'
  | 'usedBytes'
  | 'destroy'
  | 'destroyCopy'
  | 'copies'
  | 'deleteSlice'
  | 'forgetDestroyed'

export type Statements = Readonly<Record<StatementName, string>>

const statements = new Map<string, Statements>()

export function statementsOf(schema: string): Statements {
  let made = statements.get(schema)
  if (made === undefined) statements.set(schema, (made = makeStatements(schema)))
  return made
}

/** `1 / count` fails where no row holds: the transaction ends, and nothing of it has happened. */
const must = (rows: string): string => `select 1 / (select count(*) from (${rows}) held)`

/** The server of the statement is the one that the fence was adopted by. */
const RELATION = `(f.tableoid::int8 # (${CURRENT}::int8 << 31))`
const HERE = `f.started = pg_postmaster_start_time() and f.relation = ${RELATION}`
/**
 * And the database has not left this PostgreSQL, nor is about to. `place` is that of the handle: where another handle has adopted this
 * server, this one has to look whether all that it has seen is here.
 */
const writableAt = (place: string): string => `f.place = ${place} and ${HERE} and f.away is null`

// oxlint-disable-next-line max-lines-per-function -- one list
function makeStatements(s: string): Record<StatementName, string> {
  const place = placeOf(s)
  const adopt = (which: string): string =>
    `with here as (select ${place} as place), moved as (
        update ${s}.fence f set epoch = f.epoch + 1, place = here.place || '.' || f.database, started = pg_postmaster_start_time(),
          relation = ${RELATION}
        from here where ${which} and f.place <> here.place || '.' || f.database and f.away is null
        returning f.database, f.epoch, f.sequence, f.place, f.generation, f.keyrings)
      insert into ${s}.epoch (database, epoch, start, place, generation, keyrings)
        select database, epoch, sequence, place, generation, keyrings from moved`
  const append = (setting: string, from: string): string =>
    `with ${setting} fence as (update ${s}.fence f set sequence = $2, log_seal = coalesce($4::bytea, f.log_seal) ${from}
        where f.database = $1 and f.sequence = $2::int8 - 1 and f.barrier = $5 and ${writableAt('$6')}
          and (f.sequence > 0 or not f.sealed or $4::bytea is not null) returning f.database)
      insert into ${s}.log (database, sequence, bytes) select database, $2::int8, $3::bytea from fence`
  const read = (
    database: string,
  ): string => `select f.generation, f.base, f.sequence, f.barrier, f.place, encode(f.log_seal, 'base64'),
        case when f.generation <> $5 then encode(m.bytes, 'base64') end, encode(m.keyring, 'base64'),
        (select string_agg(encode(l.bytes, 'base64'), ',' order by l.sequence) from ${s}.log l where l.database = f.database
          and l.sequence > case when f.generation = $2 then greatest(f.base, $3) else f.base end),
        case when $4::text = '' then null when k.epoch is null then -1 else e.start end, ${HERE}, f.away, f.database,
        f.keyrings, e.generation, e.keyrings
      from ${s}.fence f join ${s}.meta m on m.database = f.database
      cross join lateral (select max(epoch) as epoch from ${s}.epoch where database = f.database and place = $4) k
      cross join lateral (select min(start) as start, min(generation) as generation, min(keyrings) as keyrings
        from ${s}.epoch where database = f.database and epoch > k.epoch) e
      where f.database = ${database}`
  const destroy = (
    which: string,
  ): string => `with gone as (delete from ${s}.database d where d.${which} returning d.id, d.name),
      f as (delete from ${s}.fence where database in (select id from gone)),
      c as (delete from ${s}.claim where database in (select id from gone)),
      m as (delete from ${s}.meta where database in (select id from gone)),
      l as (delete from ${s}.log where database in (select id from gone)),
      e as (delete from ${s}.epoch where database in (select id from gone)),
      t as (delete from ${s}.turn where name in (select name from gone))
      insert into ${s}.destroyed select id from gone`
  const blob = `unnest($2::int8[], $3::int4[], $4::int4[]) as p (id, at, size)`
  return {
    // Among several PostgreSQLs the first one has the places of all: its `home` is itself.
    settle: `insert into ${s}.placement (name, place) select $1, i.id from ${s}.identity i where i.home = i.id on conflict (name) do nothing`,
    make: `with made as (insert into ${s}.database (id, name) select $1::int8, $2 where not exists (select from ${s}.placement p, ${s}.identity i
        where p.name = $2 and i.home = i.id and p.place <> i.id) on conflict (name) do nothing returning id),
      f as (insert into ${s}.fence (database, generation, base, sequence, barrier, epoch, place, sealed)
        select id, 0, 0, 0, 0, 0, '', false from made),
      c as (insert into ${s}.claim (database) select id from made)
      insert into ${s}.meta (database) select id from made`,
    id: `select id from ${s}.database where name = $1`,
    adopt: adopt('f.database = $1'),
    /** `$2`: also what was at another place before. Among several that is to be looked at first. */
    adoptByName: adopt(`f.database = (select id from ${s}.database where name = $1) and ($2::bool or f.place = '')`),
    read: read('$1'),
    readByName: read(`(select id from ${s}.database where name = $1)`),
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
    away: `select away from ${s}.fence where database = $1`,
    /** A statement of its own after the lock on the meta record: it sees a move that has held that. */
    checkStays: must(`select 1 from ${s}.fence f where f.database = $1 and ${writableAt('$2')}`),
    lockClaim: must(`select 1 from ${s}.claim where database = $1 for update`),
    lockClaimOf: must(`select 1 from ${s}.claim where database = $1 and token = $2 for update`),
    checkClaim: must(`select 1 from ${s}.claim where database = $1 and token = $2 for share`),
    setClaim: `update ${s}.claim set token = $2 where database = $1`,
    endClaim: `update ${s}.claim set token = null where database = $1 and token is not null`,
    checkGeneration: must(
      `select 1 from ${s}.fence f where f.database = $1 and f.generation = $2 and f.barrier = $3 and ${writableAt('$4')} for update`,
    ),
    checkBarrier: must(
      `select 1 from ${s}.fence f where f.database = $1 and f.barrier = $2 and ${writableAt('$4')}
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
        where f.database = $1 and f.generation = $2 and f.barrier = $6 and ${writableAt('$7')} and ($4::int8 is null
          or (f.sequence = $4::int8 - 1 and (f.sequence > 0 or not f.sealed or $5::bytea is not null))) returning 1)
      select 1 / (select count(*) from fence)`,
    putKeyring: `with put as (update ${s}.meta set keyring = $3 where database = $1 and keyring is not distinct from $2::bytea returning 1),
      f as (update ${s}.fence set sealed = true, keyrings = keyrings + 1 where database = $1 and exists (select from put))
      select 1 / (select count(*) from put)`,
    checkKeyring: must(`select 1 from ${s}.meta where database = $1 and keyring = $2 for share`),
    listPages: `select id from ${s}.page where database = $1 order by id`,
    usedBytes: `select coalesce((select sum(octet_length(bytes)) from ${s}.page where database = $1), 0)::int8
      + coalesce((select sum(octet_length(bytes)) from ${s}.log where database = $1), 0)::int8`,
    destroy: destroy(`name = $1 and exists (select from ${s}.fence f where f.database = d.id and f.away is null)`),
    destroyCopy: destroy(
      `id = $1 and exists (select from ${s}.fence f where f.database = d.id and f.away is not null)`,
    ),
    copies: `select d.id from ${s}.database d join ${s}.fence f on f.database = d.id where d.name = $1 and f.away is not null`,
    deleteSlice: `delete from ${s}.page where ctid = any(array(
      select p.ctid from ${s}.page p join ${s}.destroyed d on d.id = p.database limit ${DESTROYED_PAGES}))`,
    forgetDestroyed: `delete from ${s}.destroyed d where not exists (select from ${s}.page where database = d.id)`,
  }
}
