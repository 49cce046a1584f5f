/** Goal: a server that is killed in the midst of a replication of `_replicator` continues it after the next start, and misses nothing. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { kill } from '../../../../tools/processes.ts'
import { pouchServer } from '../../testing/pouchdb-server.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, send, until } from '../test-server.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
const DOCUMENTS = 4000

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function serve(dir: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const admin = `${ADMIN_NAME}:${ADMIN_PASSWORD}`
  const parameters = ['serve', '--dir', dir, '--port', '0', '--couch-admin', admin, '--replicate-with', '127.0.0.1']
  const child = spawn(process.execPath, ['--conditions=pannier-source', MAIN, ...parameters])
  opened.push({ close: () => kill(child) })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.resume()
  await until(() => out.includes('\n'))
  return { child, url: /http:\/\/\S+/.exec(out)![0] }
}

test('killed three times on its way', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-kill-'))
  opened.push({ close: () => rm(dir, { recursive: true, force: true }) })
  const other = await pouchServer()
  opened.push(other)
  // PouchDB counts a document twice in `info()` when it is written twice at the same time.
  const written = async (): Promise<number> => (await other.database('remote').allDocs()).rows.length
  let { child, url } = await serve(dir)
  await send(url, 'PUT /a')
  await send(url, 'PUT /_replicator')
  const docs = Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: `doc-${n}`, text: 'x'.repeat(2000) }))
  await send(url, 'POST /a/_bulk_docs', { docs })
  const body = { source: 'a', target: `${other.url}/remote`, create_target: true, continuous: true }
  expect((await send(url, 'PUT /_replicator/r', body)).status).toBe(201)
  for (let kills = 0; kills < 3; kills++) {
    const before = kills === 0 ? 0 : await written()
    await until(async () => (await written()) > before || before === DOCUMENTS)
    child.kill('SIGKILL')
    await once(child, 'close')
    ;({ child, url } = await serve(dir))
  }
  const state = async (): Promise<unknown> => [
    await written(),
    (await send(url, 'GET /_scheduler/docs/_replicator/r')).json,
  ]
  await until(async () => (await written()) === DOCUMENTS, state)
  await send(url, 'PUT /a/later', {})
  await until(async () => (await written()) === DOCUMENTS + 1, state)
  expect((await send(url, 'GET /_scheduler/docs/_replicator/r')).json).toMatchObject({ state: 'running' })
})
