/** Goal: `pannier superuser` does what PocketBase's does, on a file and through a server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EXIT } from '../../src/cli/outcome.ts'
import { tokenFor } from '../rest/rest-server.ts'
import { startServer } from '../test-server.ts'
import { runCaptured } from './run-captured.ts'

const EMAIL = 'root@example.com'
const PASSWORD = 'the password'
let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-superuser-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

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
    expect(await run(['delete', EMAIL, '--url', wrong])).toEqual([EXIT.failed, 'Failed to authenticate.'])
  } finally {
    await server.close()
  }
})

test('says what is missing', async () => {
  expect(await run(['upsert', 'x', 'y', '--dir', dir])).toEqual([
    EXIT.usage,
    'A superuser has an e-mail address, got x.',
  ])
  expect(await run(['upsert', EMAIL, PASSWORD])).toEqual([EXIT.usage, 'Where? Give --dir or --url.'])
})
