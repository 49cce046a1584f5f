/** Goal: a backup of a server in a folder becomes the data of servers on a PostgreSQL, whole or not at all, and never over what is there. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from 'pannier'
import { postgres } from '@pannier/postgres'
import { onPostgres } from '../../../postgres/test/on-postgres.ts'
import { EXIT } from '../../src/cli/outcome.ts'
import { createServer } from '../../src/index.ts'
import { runCaptured } from './run-captured.ts'

const MAIL = 'root@example.org'
const PASSWORD = 'apple pie 1234'

let folder: string
let backup: string

async function call(url: string, method: string, path: string, body?: unknown, token?: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: token }) }
  const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

async function login(url: string): Promise<string> {
  const path = '/api/collections/_superusers/auth-with-password'
  return ((await call(url, 'POST', path, { identity: MAIL, password: PASSWORD })) as { token: string }).token
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pannier-restore-'))
  const dir = join(folder, 'data')
  expect((await runCaptured(['superuser', 'upsert', MAIL, PASSWORD, '--dir', dir])).code).toBe(EXIT.done)
  const server = await createServer({ dir, logger: false })
  const url = await server.listen({ port: 0 })
  const token = await login(url)
  const fields = [{ name: 'title', type: 'text' }]
  await call(url, 'POST', '/api/collections', { name: 'posts', type: 'base', listRule: '', fields }, token)
  for (let n = 0; n < 30; n++)
    await call(url, 'POST', '/api/collections/posts/records', { title: `t${n} ${'x'.repeat(2000)}` }, token)
  const headers = { authorization: token, 'content-type': 'application/json' }
  const made = await fetch(`${url}/api/backups`, { method: 'POST', headers, body: JSON.stringify({ name: 'all.zip' }) })
  expect(made.status).toBe(204)
  await server.close()
  backup = join(dir, 'backups', 'all.zip')
})

afterAll(() => rm(folder, { recursive: true }))

test('a place is asked for, and only one', async () => {
  for (const where of [[], ['--dir', folder, '--storage', 'postgres://h/d']]) {
    const { code, err } = await runCaptured(['backup', 'restore', backup, ...where])
    expect([code, err]).toEqual([EXIT.usage, expect.stringMatching(/Say where to, by one of both: --dir/)])
  }
})

onPostgres((get) => {
  const restored = (url: string, file = backup): ReturnType<typeof runCaptured> =>
    runCaptured(['backup', 'restore', file, '--storage', url])

  test('servers have all that the backup has, and a second restore beside them changes nothing', async () => {
    const url = get().server.make('restored')
    expect(await restored(url)).toMatchObject({ code: EXIT.done, err: `${backup} was restored.\n` })
    const server = await createServer({ storage: { storage: postgres(url) }, logger: false })
    const at = await server.listen({ port: 0 })
    const path = '/api/collections/posts/records'
    const count = async (): Promise<unknown> => ((await call(at, 'GET', path)) as { totalItems: unknown }).totalItems
    expect(await count()).toBe(30)
    await call(at, 'POST', path, { title: 'new' }, await login(at))
    const { code, err } = await restored(url)
    expect([code, err]).toEqual([EXIT.failed, expect.stringMatching(/There is a database app already/)])
    await using app = await open('app', { storage: postgres(url) })
    expect((await app.check()).problems).toEqual([])
    expect(await count()).toBe(31)
    await server.close()
  })

  test('what is no backup, or is damaged, leaves nothing; then the right one is restored', async () => {
    const url = get().server.make('damaged')
    const bytes = await readFile(backup)
    const damaged = join(folder, 'damaged.zip')
    for (const at of [bytes.length >> 3, bytes.length >> 1, bytes.length - 40]) {
      const copy = Buffer.from(bytes)
      copy[at]! ^= 0xff
      await writeFile(damaged, copy)
      const { code, err } = await restored(url, damaged)
      expect([code, err]).toEqual([EXIT.failed, expect.stringMatching(/can't be restored: .*Nothing was changed\./)])
    }
    for (const name of ['app', 'app logs']) expect(await postgres(url).has(name)).toBe(false)
    expect((await restored(url)).code).toBe(EXIT.done)
  })

  test('a restore that was killed before the data came is begun again', async () => {
    const url = get().server.make('killed')
    await using logs = await open('app logs', { storage: postgres(url) })
    await logs.collection('half').insert({ _id: 'a' })
    expect((await restored(url)).code).toBe(EXIT.done)
    await using now = await open('app logs', { storage: postgres(url) })
    expect(await now.collections()).not.toContain('half')
  })
})
