/**
 * Goal: with a key, secrets of the settings are nowhere in plain text that is written from then on: not in the file, not in a backup.
 * A wrong or missing key changes nothing. Method: real files, searched for the secret.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import { Archive } from '../../../backend/src/backups/archive.ts'
import { runCaptured } from '../cli/run-captured.ts'
import { startServer } from '../test-server.ts'
import { EMAIL, PASSWORD, startRest } from './rest-server.ts'

const KEY = 'a key of the settings that is long enough'
const OTHER = 'another key of settings that is as long'
const SECRET = 'the-secret-of-the-mail-server'
const SMTP = { smtp: { enabled: true, host: 'localhost', port: 25, username: 'u', password: SECRET } }

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-settings-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(dir, { recursive: true, force: true })
})

/** Which files of the folder have the secret. */
async function filesWithSecret(): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const bytes = await readFile(join(entry.parentPath, entry.name))
    if (bytes.includes(SECRET)) found.push(entry.name)
  }
  return found
}

/** The bytes of the database in a backup. */
async function unpacked(path: string): Promise<Buffer> {
  const archive = await Archive.open(path)
  const pieces: Uint8Array[] = []
  for await (const piece of archive.read('data.db')) pieces.push(piece)
  archive.close()
  return Buffer.concat(pieces)
}

const password = async (settingsKey?: string): Promise<string> => {
  const server = await startServer({ dir, app: settingsKey === undefined ? {} : { settingsKey } })
  const found = server.server.backend.settings.values.smtp.password
  await server.close()
  return found
}

test('settings are encrypted with the key, and only that key opens them', async () => {
  const server = await startRest({ dir, app: { settingsKey: KEY } })
  expect((await server.call('PATCH /settings', SMTP)).status).toBe(200)
  await server.call('POST /backups', { name: 'sealed.zip' })
  await server.close()
  expect(await filesWithSecret()).toEqual([])
  expect((await unpacked(join(dir, 'backups/sealed.zip'))).includes(SECRET)).toBe(false)
  expect(await password(KEY)).toBe(SECRET)
  await expect(password(OTHER)).rejects.toThrow('The settings are encrypted with another key.')
  await expect(password()).rejects.toThrow('The settings are encrypted. Give their key by PANNIER_ENCRYPTION_KEY')
  await expect(password('short')).rejects.toThrow('must have 32 characters or more, got 5.')
  expect(await password(KEY)).toBe(SECRET)
})

test('settings that were plain are encrypted by the first start with a key, and decrypted by a command', async () => {
  const server = await startRest({ dir })
  await server.call('PATCH /settings', SMTP)
  await server.call('POST /backups', { name: 'plain.zip' })
  await server.close()
  expect((await unpacked(join(dir, 'backups/plain.zip'))).includes(SECRET), 'the search finds it').toBe(true)
  const sealed = await startServer({ dir, app: { settingsKey: KEY } })
  const { backups, settings } = sealed.server.backend
  expect(settings.values.smtp.password).toBe(SECRET)
  await backups.create(SYSTEM, 'sealed.zip')
  await sealed.close()
  expect((await unpacked(join(dir, 'backups/sealed.zip'))).includes(SECRET)).toBe(false)
  await expect(password()).rejects.toThrow('The settings are encrypted.')

  const run = async (): Promise<readonly [number, string]> => {
    const { code, err } = await runCaptured(['settings', 'decrypt', '--dir', dir])
    return [code, err.trim()]
  }
  expect(await run()).toEqual([2, 'The environment has no variable PANNIER_ENCRYPTION_KEY.'])
  vi.stubEnv('PANNIER_ENCRYPTION_KEY', OTHER)
  expect(await run()).toEqual([1, expect.stringContaining('encrypted with another key')])
  vi.stubEnv('PANNIER_ENCRYPTION_KEY', KEY)
  expect(await run()).toEqual([0, 'The settings are no longer encrypted.'])
  expect(await password()).toBe(SECRET)
})

test('a backup is restored with the same key, and refused with another one or none', async () => {
  const server = await startRest({ dir, app: { settingsKey: KEY } })
  await server.call('PATCH /settings', SMTP)
  await server.call('POST /backups', { name: 'sealed.zip' })
  await server.call('PATCH /settings', { meta: { appName: 'Later' } })
  await server.close()
  const restore = async (): Promise<readonly [number, string]> => {
    const { code, err } = await runCaptured(['backup', 'restore', 'sealed.zip', '--dir', dir])
    return [code, err.trim()]
  }
  expect(await restore()).toEqual([1, expect.stringContaining('The settings are encrypted.')])
  vi.stubEnv('PANNIER_ENCRYPTION_KEY', OTHER)
  expect(await restore()).toEqual([1, expect.stringContaining('encrypted with another key')])
  const untouched = await startServer({ dir, app: { settingsKey: KEY } })
  expect(untouched.server.backend.settings.values.meta.appName).toBe('Later')
  await untouched.close()
  vi.stubEnv('PANNIER_ENCRYPTION_KEY', KEY)
  expect(await restore()).toEqual([0, expect.stringContaining('was restored.')])
  const restored = await startServer({ dir, app: { settingsKey: KEY } })
  const { meta, smtp } = restored.server.backend.settings.values
  expect([meta.appName, smtp.password]).toEqual(['Acme', SECRET])
  await restored.close()
})

test('a command finds the key in the environment, and a named variable must be there', async () => {
  const server = await startServer({ dir, app: { settingsKey: KEY } })
  await server.close()
  const upsert = ['superuser', 'upsert', EMAIL, PASSWORD, '--dir', dir]
  expect((await runCaptured(upsert)).code).toBe(0)
  const sealed = await startServer({ dir, app: { settingsKey: KEY } })
  await sealed.server.backend.settings.update(SYSTEM, SMTP)
  await sealed.close()
  expect((await runCaptured(upsert)).err).toContain('The settings are encrypted.')
  vi.stubEnv('PANNIER_ENCRYPTION_KEY', KEY)
  expect((await runCaptured(upsert)).code).toBe(0)
  const missing = await runCaptured(['serve', '--dir', dir, '--port', '0', '--encryption-key-env', 'NO_SUCH_KEY'])
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringContaining('the environment has no variable NO_SUCH_KEY'),
  ])
})
