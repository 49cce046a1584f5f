/** Goal: `pannier superuser` does what PocketBase's does, on a file and through a server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/outcome.ts'
import { call, tokenFor } from '../rest/rest-server.ts'
import { startServer } from '../test-server.ts'
import type { Answer } from '../test-server.ts'
import { runCaptured } from './run-captured.ts'

const EMAIL = 'root@example.com'
const PASSWORD = 'the password'
const LOGIN = 'POST /collections/_superusers/auth-with-password'
let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-superuser-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function logIn(url: string, printed: string): Promise<Answer> {
  const [otpId, password] = printed.trim().split(' ')
  const first = await call(url, LOGIN, { identity: EMAIL, password: PASSWORD }, '')
  const second = { otpId, password, mfaId: first.json['mfaId'] }
  return call(url, 'POST /collections/_superusers/auth-with-otp', second, '')
}

async function run(parameters: readonly string[], input?: string): Promise<[code: number, text: string]> {
  const { code, err } = await runCaptured(['superuser', ...parameters], input === undefined ? {} : { input })
  return [code, err.trim()]
}

test('makes, changes and deletes superusers in the file of a server that does not run', async () => {
  const where = ['--dir', dir]
  expect(await run(['upsert', EMAIL, PASSWORD, ...where])).toEqual([EXIT.done, `Superuser ${EMAIL} saved.`])
  expect(await run(['create', EMAIL, PASSWORD, ...where])).toEqual([
    EXIT.failed,
    'Failed to create record. email: Value must be unique.',
  ])
  expect(await run(['create', 'b@example.com', 'short', ...where])).toEqual([
    EXIT.failed,
    'Failed to create record. password: Must be at least 8 character(s).',
  ])
  expect(await run(['update', 'b@example.com', PASSWORD, ...where])).toEqual([
    EXIT.failed,
    'There is no superuser b@example.com.',
  ])
  expect((await run(['delete', EMAIL, ...where]))[1]).toContain("can't delete the only existing superuser")
  expect(await run(['create', 'b@example.com', ...where], `${PASSWORD}\n`)).toEqual([
    EXIT.done,
    'Superuser b@example.com made.',
  ])
  expect(await run(['delete', 'b@example.com', ...where])).toEqual([EXIT.done, 'Superuser b@example.com deleted.'])
  expect(await run(['delete', 'b@example.com', ...where])).toEqual([EXIT.done, 'There is no superuser b@example.com.'])
  expect(await run(['upsert', EMAIL, 'another password', ...where])).toEqual([EXIT.done, `Superuser ${EMAIL} saved.`])
  const server = await startServer({ dir })
  try {
    await expect(tokenFor(server.url, '_superusers', EMAIL, PASSWORD)).rejects.toThrow('Failed to authenticate.')
    expect(await tokenFor(server.url, '_superusers', EMAIL, 'another password')).toBeDefined()
  } finally {
    await server.close()
  }
})

test('works through a server that runs', async () => {
  const folder = join(dir, 'new')
  await run(['upsert', EMAIL, PASSWORD, '--dir', folder])
  const server = await startServer({ dir: folder })
  try {
    const where = ['--url', server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)]
    expect(await run(['create', 'b@example.com', PASSWORD, ...where])).toEqual([
      EXIT.done,
      'Superuser b@example.com made.',
    ])
    expect(await run(['upsert', 'b@example.com', 'another password', ...where])).toEqual([
      EXIT.done,
      'Superuser b@example.com saved.',
    ])
    expect(await tokenFor(server.url, '_superusers', 'b@example.com', 'another password')).toBeDefined()
    expect(await run(['delete', 'b@example.com', ...where])).toEqual([EXIT.done, 'Superuser b@example.com deleted.'])
    const wrong = server.url.replace('//', '//a%40b.cd:x@')
    expect(await run(['delete', EMAIL, '--url', wrong])).toEqual([
      EXIT.failed,
      `a@b.cd can't log in at ${server.url}. Failed to authenticate.`,
    ])
  } finally {
    await server.close()
  }
})

test('makes one-time passwords, and says from where superusers act', async () => {
  const folder = join(dir, 'new')
  const file = ['--dir', folder]
  await run(['upsert', EMAIL, PASSWORD, ...file])
  expect(await run(['otp', EMAIL, ...file])).toEqual([
    EXIT.failed,
    'The collection is not configured to allow OTP authentication.',
  ])
  const server = await startServer({ dir: folder })
  try {
    const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
    const where = ['--url', server.url.replace('//', `//${encodeURIComponent(EMAIL)}:${encodeURIComponent(PASSWORD)}@`)]
    expect(await run(['ips', '127.0.0.0/8', '10.0.0.1', ...where])).toEqual([
      EXIT.done,
      'Superusers act from 127.0.0.0/8, 10.0.0.1.',
    ])
    expect((await call(server.url, 'GET /settings', undefined, token)).json['superuserIPs']).toEqual([
      '127.0.0.0/8',
      '10.0.0.1',
    ])
    expect((await run(['ips', 'nowhere', ...where]))[0]).toBe(EXIT.failed)
    await call(server.url, 'PATCH /collections/_superusers', { otp: { enabled: true } }, token)
    const definition = await call(server.url, 'GET /collections/_superusers', undefined, token)
    expect(definition.json['mfa']).toMatchObject({ enabled: true })
  } finally {
    await server.close()
  }
  const made = await runCaptured(['superuser', 'otp', EMAIL, ...file])
  expect(made.code).toBe(EXIT.done)
  expect(made.out).toMatch(/^[a-z0-9]{15} \d{8}\n$/)
  expect((await run(['ips', '10.0.0.1', ...file]))[1]).toBe('Superusers act from 10.0.0.1.')
  const away = await startServer({ dir: folder })
  const refused = await call(away.url, LOGIN, { identity: EMAIL, password: PASSWORD }, '')
  await away.close()
  expect(refused.status).toBe(403)
  expect((await run(['ips', ...file]))[1]).toBe('Superusers act from everywhere.')
  const again = await startServer({ dir: folder })
  try {
    expect((await logIn(again.url, made.out)).status).toBe(200)
  } finally {
    await again.close()
  }
})

test('says what is missing', async () => {
  expect(await run(['upsert', 'x', 'y', '--dir', dir])).toEqual([
    EXIT.usage,
    'A superuser has an e-mail address, got x.',
  ])
  expect(await run(['upsert', EMAIL, PASSWORD])).toEqual([EXIT.usage, 'Where? Give --dir or --url.'])
})
