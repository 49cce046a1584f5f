/** Goal: what a role or a database has as its defaults changes no answer, and takes no fence away. */
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import type { Commit } from '../../db/src/storage.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'
import { moved, several } from './on-several.ts'

const SETTINGS: readonly string[] = [
  `default_transaction_isolation = 'serializable'`,
  `default_transaction_deferrable = on`,
  `"DateStyle" = 'SQL, DMY'`,
  `"TimeZone" = 'Asia/Kolkata'`,
  `"IntervalStyle" = 'sql_standard'`,
  `bytea_output = 'escape'`,
  `standard_conforming_strings = off`,
  `backslash_quote = off`,
  `array_nulls = off`,
  `transform_null_equals = on`,
  `extra_float_digits = -15`,
  `search_path = 'nowhere'`,
  `row_security = off`,
  `statement_timeout = '5s'`,
  `lock_timeout = '1s'`,
  `idle_in_transaction_session_timeout = '1s'`,
]

onPostgres((get) => {
  test('all of them at once', async () => {
    const { server } = get()
    const urls = several(get(), 2)
    for (const setting of SETTINGS)
      server.sql('postgres', `alter database ${new URL(urls[0]!).pathname.slice(1)} set ${setting}`)
    const form = { name: 'AES-GCM', length: 256 }
    const encryption = { key: await crypto.subtle.generateKey(form, false, ['encrypt', 'decrypt']) }
    const dbs = await Promise.all(
      Array.from({ length: 2 }, () => open('shop', { storage: postgres(urls), encryption, durability: 'strict' })),
    )
    const count = async (): Promise<void> => {
      for (const db of dbs) await db.collection<{ n: number }>('items').upsert({ _id: 'counter', n: 0 })
      await Promise.all(
        dbs.map(async (db) => {
          const items = db.collection<{ n: number }>('items')
          for (let i = 0; i < 3; i++) await items.update('counter', (item) => ({ ...item, n: item.n + 1 }))
        }),
      )
      expect((await dbs[0]!.collection<{ n: number }>('items').get('counter'))!.n).toBe(6)
    }
    await count()
    await dbs[0]!.encryption!.rotateKey()
    const storage = postgres(urls)
    for (const url of [...urls, urls[0]!]) await moved(() => storage.move('shop', url))
    await count()
    for (const db of dbs) {
      expect((await db.check()).problems).toEqual([])
      await db.close()
    }
  })

  test('repeatable read: what another transaction has stopped stays stopped', async () => {
    const { server, url } = get()
    server.sql('postgres', `alter database pannier_test set default_transaction_isolation = 'repeatable read'`)
    const name = newName()
    const store = await postgres(url, { waitMsMax: 500 }).open(name)
    const keyring = new Uint8Array(4)
    await store.putKeyring(undefined, keyring, 'strict')
    await store.commit({
      expectedGeneration: 0,
      meta: { generation: 1, sequence: 0, bytes: new Uint8Array(1) },
      pages: [{ id: 1, bytes: new Uint8Array([1]) }],
      free: [],
      firstNewPageId: 1,
      durability: 'strict',
    } as unknown as Commit)
    // As a move stops it.
    const id = `(select id from pannier.database where name = '${name}')`
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(`begin; select from pannier.meta where database = ${id} for update;
      update pannier.fence set away = 7 where database = ${id}`)
    const page = { id: 1, bytes: new Uint8Array([2]) } as unknown as Parameters<typeof store.replacePages>[1][0]
    const replaced = Promise.allSettled([store.replacePages(keyring, [page])])
    const isWaiting = `select count(*) from pg_stat_activity where wait_event_type = 'Lock'`
    await expect.poll(() => server.sql('postgres', isWaiting)).toBe('1')
    await client.query('commit')
    await client.end()
    await replaced
    expect(server.sql('pannier_test', `select encode(bytes, 'hex') from pannier.page where database = ${id}`)).toBe(
      '01',
    )
    await store.close()
    server.sql('postgres', `alter database pannier_test reset default_transaction_isolation`)
  })

  test('hints of a schema whose name is long come', async () => {
    const { url } = get()
    const schema = 's'.repeat(63)
    const client = new Client({ connectionString: url })
    await client.connect()
    // PostgreSQL cuts it.
    await client.query(`listen pannier_${schema}`)
    let heard = 0
    client.on('notification', () => heard++)
    await using db = await open('shop', { storage: postgres(url, { schema }) })
    await db.collection('items').insert({ _id: 'a' })
    await expect.poll(() => heard).toBeGreaterThan(0)
    await client.end()
  })

  test('a user who may make no schema has one', async () => {
    const { server, url } = get()
    server.sql('pannier_test', 'create role eve login; create schema of_eve authorization eve')
    const storage = postgres(url.replace('postgres@', 'eve@'), { schema: 'of_eve', waitMsMax: 0 })
    await using db = await open('shop', { storage })
    await db.collection('items').insert({ _id: 'a' })
  })

  test('a process that has closed all leaves no sign of life', async () => {
    const { server, url } = get()
    const count = (): string => server.sql('pannier_test', 'select count(*) from alive.server')
    const db = await open('shop', { storage: postgres(url, { schema: 'alive' }) })
    await db.collection('items').insert({ _id: 'a' })
    await db.collection('items').get('a')
    expect(count()).toBe('1')
    await db.close()
    await expect.poll(count).toBe('0')
  })

  test('a commit whose wait for its standby was ended is made sure of', async () => {
    const { server, url } = get()
    const name = newName()
    const store = await postgres(url).open(name)
    await store.read()
    server.sql('postgres', `alter system set synchronous_standby_names = 'nobody'`)
    server.sql('postgres', 'select pg_reload_conf()')
    const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`
    let done = false
    let sequence = 0
    let appended = Promise.resolve()
    // Each process of the server reads its settings in its own time. Until the checkpointer has, no commit waits.
    do {
      done = false
      const record = { sequence: ++sequence, bytes: new Uint8Array(3) } as unknown as Parameters<typeof store.append>[0]
      appended = Promise.resolve(store.append(record, 'strict')).then(() => void (done = true))
      const isSettled = (): boolean => done || server.sql('postgres', `select count(*) ${waiting}`) === '1'
      await expect.poll(isSettled).toBe(true)
    } while (done)
    server.sql('postgres', `select pg_cancel_backend(pid) ${waiting}`)
    // It asks whether its record is there, and that waits for the standby.
    await expect.poll(() => server.sql('postgres', `select count(*) ${waiting}`)).toBe('1')
    expect(done).toBe(false)
    server.sql('postgres', `alter system reset synchronous_standby_names`)
    server.sql('postgres', 'select pg_reload_conf()')
    await appended
    expect((await store.read()).log).toHaveLength(sequence)
    await store.close()
  })
})
