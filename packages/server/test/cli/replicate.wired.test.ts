/** Goal: `pannier replicate` between files and servers, as people type it. */
import { afterEach, expect, test } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { virtualEnvironment } from 'pannier/testing'
import { send, startServer, STRANGER } from '../test-server.ts'
import { runCaptured } from './run-captured.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'pannier-cli-replicate-'))
  opened.push({ close: () => rm(dir, { recursive: true, force: true }) })
  return dir
}

async function filled(dir: string): Promise<string> {
  const file = join(dir, 'a.sqlite')
  const db = await open(file)
  await db.collection('people').insert([
    { _id: 'ann', age: 31 },
    { _id: 'bob', age: 17 },
    { _id: 'eve', age: 50 },
  ])
  await db.close()
  return file
}

async function ids(file: string, collection: string): Promise<string[]> {
  const db = await open(file)
  const found = (await db.collection(collection).list().toArray()).map(({ id }) => id)
  await db.close()
  return found
}

test('file to server to file, with a selector, ids; it continues where it was', async () => {
  const dir = await folder()
  const file = await filled(dir)
  const server = await startServer()
  opened.push(server)
  const url = `${server.adminUrl}/people`
  const pushed = await runCaptured(['replicate', `${file}#people`, url, '--selector', '{"age":{"$gte":18}}'])
  expect(pushed).toMatchObject({ code: 0, out: '', err: '2 revisions written, 2 read.\n' })
  expect((await send(server.url, 'GET /people')).json['doc_count']).toBe(2)
  const back = join(dir, 'b.sqlite')
  expect((await runCaptured(['replicate', url, `${back}#copy`, '--ids', 'eve,zoe'])).code).toBe(0)
  expect(await ids(back, 'copy')).toEqual(['eve'])
  expect(await runCaptured(['replicate', `${file}#people`, `${back}#copy`])).toMatchObject({
    code: 0,
    err: '2 revisions written, 2 read.\n',
  })
  expect(await runCaptured(['replicate', `${file}#people`, `${back}#copy`])).toMatchObject({
    code: 0,
    err: '0 revisions written, 0 read.\n',
  })
})

test('live: until Ctrl-C', async () => {
  const file = await filled(await folder())
  const clock = virtualEnvironment()
  const server = await startServer({ environment: clock })
  opened.push(server)
  const stop = new AbortController()
  const running = runCaptured(['replicate', `${file}#people`, `${server.adminUrl}/people`, '--live'], {
    signal: stop.signal,
    environment: clock,
  })
  // It knows that they are there when it has written its replication checkpoint.
  await clock.until(async () =>
    (await send(server.url, 'GET /people/_local_docs?include_docs=true')).text.includes('last_seq'),
  )
  expect((await send(server.url, 'GET /people')).json['doc_count']).toBe(3)
  stop.abort()
  expect(await running).toMatchObject({ code: 130, err: '3 revisions written, 3 read.\nStopped.\n' })
})

test('failures are reported with exit codes and without passwords', async () => {
  const dir = await folder()
  const file = await filled(dir)
  const server = await startServer()
  opened.push(server)
  const wrong = `${server.url.replace('//', '//ann:the-secret@')}/people`
  const unauthorized = await runCaptured(['replicate', `${file}#people`, wrong])
  expect(unauthorized).toMatchObject({ code: 1, err: expect.stringContaining('unauthorized') })
  expect(unauthorized.err).not.toContain('the-secret')
  expect((await send(server.url, 'GET /people', undefined, STRANGER)).status).toBe(401)
  const missing = await runCaptured(['replicate', `${file}#people`, `${server.adminUrl}/none`, '--no-create'])
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('PANNIER_NOT_FOUND') })
  for (const parameters of [
    ['nowhere', 'https://example.org/a'],
    [`${file}#none`, `${file}#b`],
    [`${join(dir, 'none')}#a`, `${file}#b`],
    [`${file}#people`, `${file}#b`, '--filter', 'design/name'],
    [`${file}#people`, 'http://['],
    [`${file}#people`, `${file}#b`, '--selector', '{'],
  ])
    expect([parameters, (await runCaptured(['replicate', ...parameters])).code]).toEqual([parameters, 2])
})
