/** Goal: after `pannier import --from-pocketbase` our server answers as the real PocketBase does, about everything. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  needPocketBase,
  needTestData,
  PASSWORD,
  PocketBaseServer,
  SUPERUSER,
} from '../../../../tools/test/pocketbase.ts'
import { EXIT } from '../../src/cli/outcome.ts'
import { differences, everyAnswer, type OldLogin } from '../../testing/pocketbase/questions.ts'
import { startRest, EMAIL, PASSWORD as ROOT_PASSWORD } from '../rest/rest-server.ts'
import { startServer } from '../test-server.ts'
import { runCaptured } from './run-captured.ts'

const TIMEOUT_MS = 600_000
const MATERIAL = join(import.meta.dirname, '../../testing/pocketbase/golden')
/** Of PocketBase's test data. */
const LOGINS: readonly OldLogin[] = [
  { collection: 'users', identity: 'test@example.com', password: PASSWORD },
  { collection: 'users', identity: 'test2@example.com', password: PASSWORD },
  { collection: 'clients', identity: 'test@example.com', password: PASSWORD },
  { collection: 'clients', identity: 'test2@example.com', password: PASSWORD },
]

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-moved-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const root = (url: string) => ({ url, identity: SUPERUSER, password: PASSWORD })
const login = (url: string, identity: string, password: string): string =>
  url.replace('//', `//${encodeURIComponent(identity)}:${encodeURIComponent(password)}@`)

test('the test data of PocketBase come from its folder into a folder', { timeout: TIMEOUT_MS }, async (context) => {
  await using peer = await PocketBaseServer.start(needPocketBase(context), needTestData(context))
  const run = ['import', '--from-pocketbase', '--data', peer.folder, '--dir', dir, '--superusers']
  const { code, err } = await runCaptured(run)
  expect([code, err]).toEqual([EXIT.done, ''])
  const server = await startServer({ dir })
  try {
    const expected = await everyAnswer(root(peer.url), LOGINS)
    expect(differences(expected, await everyAnswer(root(server.url), LOGINS))).toEqual([])
    // Again, now that passwords have been hashed again.
    expect(differences(expected, await everyAnswer(root(server.url), LOGINS))).toEqual([])
  } finally {
    await server.close()
  }
})

test(
  'what a PocketBase has that runs comes into a server that runs, twice',
  { timeout: TIMEOUT_MS },
  async (context) => {
    await using peer = await PocketBaseServer.start(needPocketBase(context))
    const load = [
      'load-dataset.mjs',
      '--base',
      peer.url,
      '--dataset',
      'dataset.json',
      '--out-map',
      join(dir, 'map.json'),
    ]
    execFileSync(process.execPath, load, { cwd: MATERIAL, stdio: 'ignore' })
    const server = await startRest()
    try {
      const from = login(peer.url, SUPERUSER, PASSWORD)
      const to = login(server.url, EMAIL, ROOT_PASSWORD)
      const run = ['import', '--from-pocketbase', from, '--url', to]
      for (const time of ['first', 'second']) {
        const { code, out, err } = await runCaptured(run)
        expect([time, code, err]).toEqual([time, EXIT.done, ''])
        if (time === 'second') expect(out).not.toMatch(/^\w+ +\d+ +[1-9]/m)
      }
      const expected = await everyAnswer(root(peer.url), LOGINS)
      const moved = await everyAnswer({ url: server.url, identity: EMAIL, password: ROOT_PASSWORD }, LOGINS)
      expect(differences(expected, moved)).toEqual([])
    } finally {
      await server.close()
    }
  },
)
