/** Goal: each thing that can be wrong with a place in PostgreSQL is a clear error that says what to do, and nothing is changed there. */
import { describe, expect, test } from 'vitest'
import { open } from '../../db/src/index.ts'
import { freePort } from '../../../tools/processes.ts'
import { postgres, type PostgresOptions } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

async function refusal(url: string, options: PostgresOptions = {}): Promise<{ code: string; message: string }> {
  const opened = open(newName(), { storage: postgres(url, { waitMsMax: 0, ...options }) })
  return opened.then(
    async (db) => {
      await db.close()
      throw new Error('it was opened')
    },
    (error: { code: string; message: string }) => error,
  )
}

describe('arguments', () => {
  test.each([
    ['mysql://u@h/d', {}, /must be like postgres:/],
    [undefined as unknown as string, {}, /must be like postgres:/],
    ['postgres://u@h/d', { schema: 'a b' }, /schema must be/],
    ['postgres://u@h/d', { connectionsMax: 0 }, /connectionsMax must be/],
    ['postgres://u@h/d', { waitMsMax: -1 }, /waitMsMax must be/],
    ['postgres://u@h/d', { pollMs: 0 }, /pollMs must be/],
    ['postgres://u@h/d', { chema: 'x' } as PostgresOptions, /chema/],
  ])('%s %j', (url, options, message) => {
    expect(() => postgres(url, options)).toThrow(message)
    expect(() => postgres(url, options)).toThrow(TypeError)
  })

  test('no message and no identity shows the password', () => {
    const storage = postgres('postgres://ann:hunter2@h:1/d')
    expect(storage.identify('x')).toBe('postgres://h:1/d/pannier/x')
  })
})

onPostgres((get) => {
  test('nobody listens', async () => {
    const error = await refusal(`postgres://ann:hunter2@127.0.0.1:${await freePort()}/d`)
    expect(error).toMatchObject({ code: 'PANNIER_OPEN_FAILED' })
    expect(error.message).toMatch(/can't be reached: .*Check the host and the port/)
    expect(error.message).not.toContain('hunter2')
  })

  test('no such database', async () => {
    const error = await refusal(get().server.url('nowhere'))
    expect(error.message).toMatch(/has no such database.*CREATE DATABASE/)
  })

  test('a wrong password', async () => {
    const { server } = get()
    server.sql('postgres', "create role ann login password 'right'")
    const hba = server.sql('postgres', 'show hba_file')
    server.allow(hba, 'host all ann 127.0.0.1/32 scram-sha-256')
    const error = await refusal(server.url('pannier_test').replace('postgres@', 'ann:wrong@'))
    expect(error.message).toMatch(/refused the login.*Check the user and the password/)
    const none = await refusal(server.url('pannier_test').replace('postgres@', 'ann@'))
    expect(none.message).toMatch(/asks for a password/)
  })

  test('a user without rights', async () => {
    const { server } = get()
    server.sql('postgres', 'create role bob login')
    const error = await refusal(server.url('pannier_test').replace('postgres@', 'bob@'), { schema: 'of_bob' })
    expect(error.message).toMatch(/may not use the schema of_bob.*GRANT CREATE/)
  })

  test('no TLS where it is asked for', async () => {
    const error = await refusal(`${get().url}?sslmode=require`)
    expect(error.message).toMatch(/has no TLS/)
  })

  test('tables of another program, and of a newer version', async () => {
    const { server, url } = get()
    server.sql('pannier_test', 'create schema other; create table other.orders (id int)')
    expect(await refusal(url, { schema: 'other' })).toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
    expect(server.sql('pannier_test', `select count(*) from pg_tables where schemaname = 'other'`)).toBe('1')
    const storage = postgres(url, { schema: 'newer' })
    await (await open('x', { storage })).close()
    server.sql('pannier_test', 'update newer.version set version = 99')
    const error = await refusal(url, { schema: 'newer' })
    expect(error).toMatchObject({ code: 'PANNIER_FORMAT_NEWER' })
    expect(error.message).toMatch(/have version 99, and this program knows version 3\. Update it\./)
  })

  test('a standby', async () => {
    const { server } = get()
    await using standby = await server.startStandby()
    const error = await refusal(standby.url('pannier_test'))
    expect(error.message).toMatch(/is a read-only standby\. Name the primary, or all hosts/)
    const both = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${server.port}/pannier_test`
    await using db = await open(newName(), { storage: postgres(both) })
    await db.collection('items').insert({ _id: 'a' })
  })
})
