/** Goal: each thing that can be wrong with `--storage` is a clear error that says what to do, shows no password, and changes nothing. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open } from 'pannier'
import { postgres } from '@pannier/postgres'
import { freePort } from '../../../../tools/processes.ts'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { EXIT } from '../../src/cli/outcome.ts'
import { runCaptured } from './run-captured.ts'

const URL_OF_NOBODY = 'postgres://ann:hunter2@127.0.0.1:1/app'

async function refusal(...parameters: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const { code, err } = await runCaptured(['serve', '--port', '0', ...parameters])
  expect(err).not.toContain('hunter2')
  return { code, text: err }
}

test.each([
  [[], /--dir or --storage is missing/],
  [['--storage', 'mysql://ann:hunter2@h/d'], /--storage: the URL must be like postgres:\/\/user:password@host/],
  [['--storage', URL_OF_NOBODY, '--https', 'example.org'], /--https is for one server/],
  [['--storage', URL_OF_NOBODY, '--listen-url', URL_OF_NOBODY], /--listen-url is read only with --pooled/],
  [['--dir', 'x', '--pooled'], /--pooled is read only with --storage/],
])('%j', async (parameters, message) => {
  const { code, text } = await refusal(...parameters)
  expect(text).toMatch(message)
  expect(code).toBe(EXIT.usage)
})

onPostgres((get) => {
  const refused = async (url: string): Promise<string> => {
    const { code, text } = await refusal('--storage', url)
    expect(code).toBe(EXIT.failed)
    return text
  }

  test('nobody listens, and no such host', async () => {
    expect(await refused(`postgres://ann:hunter2@127.0.0.1:${await freePort()}/d`)).toMatch(
      /can't be reached: .*Check the host and the port/,
    )
    expect(await refused('postgres://ann:hunter2@nowhere.invalid/d')).toMatch(/can't be reached/)
  })

  test('a wrong password, no such database, a user without rights', async () => {
    const { server } = get()
    const as = (user: string): string => server.url('pannier_test').replace('postgres@', `${user}@`)
    server.sql('postgres', "create role ann login password 'right'; create role bob login")
    server.allow(server.sql('postgres', 'show hba_file'), 'host all ann 127.0.0.1/32 scram-sha-256')
    expect(await refused(as('ann:hunter2'))).toMatch(/refused the login.*Check the user and the password/)
    expect(await refused(server.url('nowhere'))).toMatch(/has no such database.*CREATE DATABASE/)
    expect(await refused(as('bob'))).toMatch(/may not use the schema pannier.*GRANT CREATE/)
    expect(server.sql('pannier_test', "select count(*) from pg_namespace where nspname = 'pannier'")).toBe('0')
  })

  test('--automigrate without a folder', async () => {
    const { code, text } = await refusal('--storage', get().url, '--automigrate')
    expect([code, text]).toEqual([EXIT.usage, expect.stringMatching(/say where by --migrations or --dir/)])
  })

  test('a certificate that nobody has signed, and no TLS', async () => {
    const { server, url } = get()
    expect(await refused(`${url}?sslmode=require`)).toMatch(/has no TLS/)
    const [key, certificate] = ['key.pem', 'cert.pem'].map((name) => join(server.folder, name)) as [string, string]
    const subject = ['-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    const made = spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-keyout',
      key,
      '-out',
      certificate,
      ...subject,
    ])
    expect(made.status).toBe(0)
    spawnSync('chown', ['--reference', server.folder, key, certificate])
    spawnSync('chmod', ['600', key])
    for (const set of [`ssl_key_file = '${key}'`, `ssl_cert_file = '${certificate}'`, 'ssl = on'])
      server.sql('postgres', `alter system set ${set}`)
    server.sql('postgres', 'select pg_reload_conf()')
    await expect
      .poll(() => refused(`${url}?sslmode=verify-full`))
      .toMatch(/certificate of PostgreSQL at .* is not accepted.*sslrootcert=FILE/)
    await postgres(`${url}?sslmode=verify-full&sslrootcert=${certificate}`).has('app')
  })

  test('tables of another program, and a standby', async () => {
    const { server } = get()
    const url = server.make('other')
    server.sql('other', 'create schema pannier; create table pannier.orders (id int)')
    expect(await refused(url)).toMatch(/has tables of another program/)
    expect(server.sql('other', "select string_agg(tablename, ',') from pg_tables where schemaname = 'pannier'")).toBe(
      'orders',
    )
    await using standby = await server.startStandby()
    expect(await refused(standby.url('pannier_test'))).toMatch(
      /is a read-only standby\. Name the primary, or all hosts/,
    )
  })

  test('tables of a newer version: the server waits, and changes nothing', async () => {
    const { server } = get()
    const url = server.make('newer')
    await (await open('x', { storage: postgres(url) })).close()
    server.sql('newer', 'update pannier.version set version = 99')
    const ending = new AbortController()
    const onErr = (all: string): void => {
      if (all.includes('This server waits')) ending.abort()
    }
    const serving = runCaptured(['serve', '--port', '0', '--storage', url], { signal: ending.signal, onErr })
    expect((await serving).err).toMatch(
      /have version 99, and this program knows version \d+\. Update it\. This server waits/,
    )
    expect(server.sql('newer', "select string_agg(name, ',') from pannier.database")).toBe('x')
  })

  test('a database moves to another PostgreSQL, and a command says where it is and what is wrong', async () => {
    const { server } = get()
    const urls = ['move_1', 'move_2'].map((name) => server.make(name))
    const storage = postgres(urls)
    {
      await using db = await open('app', { storage })
      await db.collection('items').insert({ _id: 'a' })
    }
    const at = (await storage.placeOf('app'))!
    const to = urls.find((url) => !url.endsWith(at))!
    const move = (...parameters: string[]): ReturnType<typeof runCaptured> =>
      runCaptured(['move', ...parameters, '--storage', ...urls])
    const moved = await move('app', '--to', to)
    expect([moved.code, moved.err]).toEqual([EXIT.done, expect.stringMatching(/app is at 127\.0\.0\.1:\d+\/move_\d/)])
    expect(to.endsWith((await storage.placeOf('app'))!)).toBe(true)
    expect((await move('app', '--to', to)).code).toBe(EXIT.done)
    const unknown = await move('nothing', '--to', to)
    expect([unknown.code, unknown.err]).toEqual([EXIT.failed, expect.stringMatching(/There is no database nothing/)])
    const elsewhere = await move('app', '--to', 'postgres://ann:hunter2@h/d')
    expect([elsewhere.code, elsewhere.err]).toEqual([
      EXIT.usage,
      expect.stringMatching(/to must be the URL of a PostgreSQL/),
    ])
    expect(elsewhere.err).not.toContain('hunter2')
  })
})
