/**
 * Goal: what lies in the folder of a server is for its account alone, and a copy of the database makes no session.
 * The attacker has read everything that `pannier.sqlite`, a dump, or the files that an earlier version left behind hold.
 */
import { createHmac } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { open } from 'pannier'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerOptions } from '../../src/index.ts'
import { runCaptured } from '../cli/run-captured.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, send, startServer, STRANGER, type TestServer } from '../test-server.ts'

let folder: string
const umask = process.umask(0o022)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pannier-at-rest-'))
})
afterAll(async () => {
  process.umask(umask)
  await rm(folder, { recursive: true })
})

async function modeOf(...path: string[]): Promise<string> {
  return ((await stat(join(...path))).mode & 0o777).toString(8)
}

async function logIn({ url }: TestServer): Promise<string> {
  const answer = await send(url, 'POST /_session', { name: ADMIN_NAME, password: ADMIN_PASSWORD }, STRANGER)
  return answer.headers.get('set-cookie')!.split(';')[0]!
}

async function whoIs({ url }: TestServer, cookie: string): Promise<unknown> {
  return ((await send(url, 'GET /_session', undefined, { ...STRANGER, cookie })).json['userCtx'] as { name: unknown })
    .name
}

/** Starts a server in the folder, and again after `meanwhile`; tells whether a session lives on. */
async function livesOn(dir: string, meanwhile: () => Promise<unknown>): Promise<boolean> {
  const first = await startServer({ dir })
  const cookie = await logIn(first)
  expect(await whoIs(first, cookie)).toBe(ADMIN_NAME)
  await first.close()
  await meanwhile()
  const second = await startServer({ dir })
  const name = await whoIs(second, cookie)
  await second.close()
  return name === ADMIN_NAME
}

describe.skipIf(process.platform === 'win32')('files', () => {
  test('a new folder is 0700, all that is in it 0600', async () => {
    const dir = join(folder, 'made', 'deep')
    const server = await startServer({ dir })
    await send(server.url, 'PUT /notes')
    const names = await readdir(dir)
    const databases = ['logs.sqlite', 'logs.sqlite-wal', 'pannier.sqlite', 'pannier.sqlite-wal']
    expect(names.sort()).toEqual([...databases, 'pannier.session-key'].sort())
    for (const name of names) expect(await modeOf(dir, name), name).toBe('600')
    expect(await modeOf(dir)).toBe('700')
    await server.close()
  })

  test('files that others could read are taken from them, and the log says so; a folder is only warned of', async () => {
    const dir = join(folder, 'loose')
    const logged: string[] = []
    const stream = new PassThrough().on('data', (line: Buffer) => logged.push(String(line)))
    const logger: ServerOptions['logger'] = pino({ level: 'warn' }, stream)
    await (await startServer({ dir })).close()
    await chmod(dir, 0o755)
    await chmod(join(dir, 'pannier.sqlite'), 0o644)
    const server = await startServer({ dir, logger })
    expect(await modeOf(dir, 'pannier.sqlite')).toBe('600')
    expect(await modeOf(dir)).toBe('755')
    expect(logged.join('')).toContain(`chmod 700 ${dir}`)
    expect(logged.join('')).toContain("They can't any more")
    await server.close()
  })

  test('dumps and exports are 0600, also over the rest of one that was cut', async () => {
    const dir = join(folder, 'dumped')
    await (await startServer({ dir })).close()
    const out = join(folder, 'out.pannier')
    await writeFile(`${out}.unfinished`, 'x', { mode: 0o644 })
    expect((await runCaptured(['dump', dir, out])).code).toBe(0)
    expect(await modeOf(out)).toBe('600')
    const restored = join(folder, 'restored', 'pannier.sqlite')
    expect((await runCaptured(['restore', restored, out])).code).toBe(0)
    expect(await modeOf(folder, 'restored')).toBe('700')
    expect(await modeOf(restored)).toBe('600')
  })
})

describe('the key of sessions', () => {
  test('is in no copy of the database: what is in it makes no cookie', async () => {
    const dir = join(folder, 'copied')
    const server = await startServer({ dir })
    const key = await readFile(join(dir, 'pannier.session-key'))
    await server.close()
    const copy = join(folder, 'copy.sqlite')
    await cp(join(dir, 'pannier.sqlite'), copy)
    const db = await open(copy)
    const documents = await db.collection('$server').find().toArray()
    await db.close()
    const stored = JSON.stringify(documents)
    for (const encoding of ['base64', 'base64url', 'hex', 'latin1'] as const)
      expect(stored).not.toContain(JSON.stringify(key.toString(encoding)).slice(1, -1))
    expect(documents.map(({ _id }) => _id)).not.toContain('auth/secret')
    expect((await readFile(join(dir, 'pannier.sqlite'))).includes(key)).toBe(false)
  })

  test('one that an earlier version has left in the database signs nothing', async () => {
    const dir = join(folder, 'earlier')
    await (await startServer({ dir })).close()
    const db = await open(join(dir, 'pannier.sqlite'))
    const secret = Buffer.alloc(32, 7)
    await db.collection('$server').upsert({ _id: 'auth/secret', secret: secret.toString('base64') })
    const admins = (await db.collection('$server').get('auth/admins')) as unknown as Record<string, unknown>
    await db.close()
    const salt = /"session_salt":"([^"]+)"/.exec(JSON.stringify(admins))![1]!
    const clock = virtualEnvironment()
    const payload = Buffer.from(JSON.stringify([ADMIN_NAME, 'AAAAAAAAAAAAAAAAAAAAAA', clock.wallClock()])).toString(
      'base64url',
    )
    const signature = createHmac('sha256', createHmac('sha256', secret).update(salt).digest()).update(payload)
    const server = await startServer({ dir, environment: clock })
    expect(await whoIs(server, `AuthSession=${payload}.${signature.digest('base64url')}`)).toBeNull()
    await server.close()
  })

  test('sessions survive a restart, but nothing that could have revealed the key', async () => {
    const dir = join(folder, 'kept')
    const key = join(dir, 'pannier.session-key')
    expect(await livesOn(dir, async () => {})).toBe(true)
    expect(await livesOn(dir, () => writeFile(key, 'cut'))).toBe(false)
    expect(await livesOn(dir, () => rm(key))).toBe(false)
    if (process.platform !== 'win32') expect(await livesOn(dir, () => chmod(key, 0o640))).toBe(false)
    expect(await modeOf(key)).toBe('600')
  })

  test('a restore ends all sessions: it may not know who has logged out', async () => {
    const dir = join(folder, 'put-back')
    const dump = join(folder, 'put-back.pannier')
    const restore = async (): Promise<void> => {
      expect((await runCaptured(['dump', dir, dump])).code).toBe(0)
      for (const name of await readdir(dir)) if (name.startsWith('pannier.sqlite')) await rm(join(dir, name))
      expect((await runCaptured(['restore', dir, dump])).code).toBe(0)
    }
    expect(await livesOn(dir, restore)).toBe(false)
  })

  test('a server on a database of its caller keeps it in memory', async () => {
    const dir = join(folder, 'given')
    await mkdir(dir)
    const database = await open(join(dir, 'own.sqlite'))
    const server = await startServer({ dir, database })
    expect(await whoIs(server, await logIn(server))).toBe(ADMIN_NAME)
    expect(await readdir(dir)).not.toContain('pannier.session-key')
    await server.close()
    await database.close()
  })
})
