/**
 * @cloudant/couchbackup from npm, unmodified: its commands and its library back up a database and restore it into another. It comes with
 * bench.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

interface Library {
  backup(url: string, target: NodeJS.WritableStream, options: object, done: (error: Error | null) => void): unknown
  restore(source: NodeJS.ReadableStream, url: string, options: object, done: (error: Error | null) => void): unknown
}

const require = createRequire(new URL('../../../../bench/package.json', import.meta.url))
const library = require('@cloudant/couchbackup') as Library
const programs = join(dirname(require.resolve('@cloudant/couchbackup/package.json')), 'bin')
const DOCUMENTS = 2500

let running: TestServer
let dir: string

beforeAll(async () => {
  running = await startServer()
  dir = await mkdtemp(join(tmpdir(), 'pannier-couchbackup-'))
  for (const name of ['source', 'shallow', 'by-command', 'by-library']) await send('PUT', `/${name}`)
  const docs: object[] = Array.from({ length: DOCUMENTS }, (_, n) => ({
    _id: `d${n}`,
    n,
    text: `ü ${'x'.repeat(n % 300)}`,
  }))
  await send('POST', '/source/_bulk_docs', { docs })
  // A conflict, a deletion, a design document.
  const forked = ['1-a', '1-b'].map((_rev) => ({ _id: 'forked', _rev, side: _rev }))
  await send('POST', '/source/_bulk_docs', { new_edits: false, docs: forked })
  const { rev } = (await send('PUT', '/source/gone', {})) as { rev: string }
  await send('DELETE', `/source/gone?rev=${rev}`)
  await send('PUT', '/source/_design/app', { views: { all: { map: 'function (doc) { emit(doc.n) }' } } })
})
afterAll(async () => {
  await running.close()
  await rm(dir, { recursive: true, force: true })
})

test('couchbackup and couchrestore', async () => {
  const file = join(dir, 'command.txt')
  const backup = ['--url', running.adminUrl, '--db', 'source', '--output', file, '--log', join(dir, 'log')]
  await run('couchbackup.bin.js', [...backup, '--quiet'])
  await start('couchrestore.bin.js', ['--url', running.adminUrl, '--db', 'by-command', '--quiet'], file)
  await same('by-command')
  // An old backup is not written over what is there.
  await expect(start('couchrestore.bin.js', ['--url', running.adminUrl, '--db', 'by-command'], file)).rejects.toThrow(
    /not empty/i,
  )
})

test('the library', async () => {
  const file = join(dir, 'library.txt')
  const source = `${running.adminUrl}/source`
  await called((done) =>
    library.backup(source, createWriteStream(file), { log: join(dir, 'log2'), parallelism: 3 }, done),
  )
  expect(await readFile(file, 'utf8')).toContain('"_id":"forked"')
  await called((done) => library.restore(createReadStream(file), `${running.adminUrl}/by-library`, {}, done))
  await same('by-library')
})

test('the library, shallow: winners only', async () => {
  const file = join(dir, 'shallow.txt')
  await called((done) =>
    library.backup(`${running.adminUrl}/source`, createWriteStream(file), { mode: 'shallow' }, done),
  )
  await called((done) => library.restore(createReadStream(file), `${running.adminUrl}/shallow`, {}, done))
  expect(await send('GET', '/shallow')).toMatchObject({ doc_count: DOCUMENTS + 2 })
  expect(await send('GET', '/shallow/forked?conflicts=true')).toEqual({ _id: 'forked', _rev: '1-b', side: '1-b' })
})

/** Every leaf of every document, and its content. */
async function same(name: string): Promise<void> {
  const feed = async (db: string): Promise<Map<string, unknown>> => {
    const answer = (await send('GET', `/${db}/_changes?style=all_docs&include_docs=true`)) as { results: Row[] }
    return new Map(
      answer.results
        .map(({ id, changes, doc }): [string, unknown] => [id, [changes.map(({ rev }) => rev).sort(), doc]])
        .sort(([left], [right]) => (left < right ? -1 : 1)),
    )
  }
  const [source, copy] = [await feed('source'), await feed(name)]
  expect(copy.size).toBe(DOCUMENTS + 3)
  expect(copy).toEqual(source)
}

interface Row {
  readonly id: string
  readonly changes: readonly { readonly rev: string }[]
  readonly doc: unknown
}

function called(call: (done: (error: Error | null) => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    call((error) => (error === null || error === undefined ? resolve() : reject(error)))
  })
}

async function run(program: string, parameters: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(programs, program), ...parameters])
}

/** With a file as its standard input. @throws what it has written to the standard error, if it fails */
function start(program: string, parameters: readonly string[], input: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [join(programs, program), ...parameters], (error, _output, errors) => {
      if (error === null) resolve()
      else reject(new Error(errors))
    })
    child.stdin!.on('error', () => {})
    createReadStream(input).pipe(child.stdin!)
  })
}

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(running.url + path, {
    method,
    headers: { authorization: ADMIN, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return answer.json()
}
