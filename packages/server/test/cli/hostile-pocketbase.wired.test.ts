/** Goal: an import from a PocketBase that lies or never ends fails, says why, and reads nothing beside its folder. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { systemEnvironment } from 'pannier/internal'
import { FolderSource } from '../../src/cli/from-pocketbase/folder-source.ts'
import { HttpSource } from '../../src/cli/from-pocketbase/http-source.ts'
import { SuperuserApi } from '../../src/cli/superuser-api.ts'
import { printLine } from '../../src/cli/terminal.ts'
import { runCaptured } from './run-captured.ts'

let folder: string
let hostile: Server | undefined
let source: HttpSource | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'))
})
afterEach(async () => {
  await source?.close()
  hostile?.closeAllConnections()
  hostile?.close()
  await rm(folder, { recursive: true, force: true })
})

/** A server that lets everybody log in, and answers statements as it likes. */
async function sourceThat(answers: (response: ServerResponse) => void): Promise<HttpSource> {
  hostile = createServer((request, response) => {
    if (request.url === '/api/sql') answers(response)
    else response.end(JSON.stringify({ token: 'token' }))
  })
  await new Promise<void>((resolve) => void hostile!.listen(0, '127.0.0.1', resolve))
  const { port } = hostile.address() as AddressInfo
  const url = new URL(`http://root:password@127.0.0.1:${port}`)
  source = await HttpSource.open(systemEnvironment(), new SuperuserApi(url, new AbortController().signal))
  return source
}

async function allOf(pages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of pages);
}

test.each([
  ['no JSON', 'hello'],
  ['null', 'null'],
  ['no lists', '{"columns":"no","rows":{"a":1}}'],
  ['rows that are no lists', '{"columns":[{"name":"id"}],"rows":[null,5]}'],
  ['columns that are no objects', '{"columns":[null],"rows":[["x"]]}'],
])('an answer with %s is told as such', async (_, text) => {
  const lying = await sourceThat((response) => response.end(text))
  await expect(lying.query('SELECT 1')).rejects.toThrow(/does not answer as PocketBase does/)
})

test.each([[['1']], [['2', '1']], [[null]], [['1 OR 1=1']]])(
  'rows with the ids %j, which never get further, end the import',
  async (ids) => {
    const rows = ids.map((id) => [id])
    const looping = await sourceThat((response) =>
      response.end(JSON.stringify({ columns: [{ name: '@rowid' }], rows })),
    )
    await expect(allOf(looping.pages('posts'))).rejects.toThrow(/Rows of posts come again/)
  },
)

test('an answer that never ends is given up', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'a')
  const endless = await sourceThat((response) => {
    const forever = Readable.from(
      (function* () {
        for (;;) yield piece
      })(),
    )
    void pipeline(forever, response).catch(() => {})
  })
  await expect(endless.query('SELECT * FROM _collections')).rejects.toThrow(/more than 134217728 bytes/)
  await expect(allOf(endless.pages('posts'))).rejects.toThrow(/more than 134217728 bytes/)
})

test('an answer that is cut ends the import in words', async () => {
  const cutting = await sourceThat((response) => {
    response.setHeader('content-length', 100)
    response.write('{"columns":[],', () => response.destroy())
  })
  await expect(cutting.query('SELECT 1')).rejects.toThrow(/did not come whole/)
})

test('an import from a wrong folder leaves nothing on the disk', async () => {
  await sourceThat(() => {})
  await source!.close()
  const { port } = hostile!.address() as AddressInfo
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const from = `http://root:password@127.0.0.1:${port}`
  const { code, err } = await runCaptured(['import', '--from-pocketbase', from, '--data', folder, '--dir', folder])
  expect([code, err]).toEqual([2, expect.stringContaining('takes the folder pb_data of a PocketBase')])
  expect(await readdir(folder)).toEqual([])
})

test('a link that leads out of the folder, a pipe and a folder are no files of it', async () => {
  new DatabaseSync(join(folder, 'data.db')).close()
  const storage = join(folder, 'storage', 'posts', 'one')
  await mkdir(join(storage, 'folder'), { recursive: true })
  await writeFile(join(folder, 'data.txt'), 'beside the storage')
  await writeFile(join(storage, 'own.txt'), 'own')
  await symlink(join(folder, 'data.txt'), join(storage, 'link.txt'))
  await symlink(folder, join(folder, 'storage', 'posts', 'two'))
  await promisify(execFile)('mkfifo', [join(storage, 'pipe')])
  const taken = FolderSource.open(systemEnvironment(), folder)
  const found = async (record: string, name: string): Promise<boolean> =>
    (await taken.file('posts', record, name)) !== undefined
  expect(await found('one', 'own.txt')).toBe(true)
  for (const name of ['link.txt', 'pipe', 'folder', 'none']) expect(await found('one', name), name).toBe(false)
  expect(await found('two', 'data.txt')).toBe(false)
  await taken.close()
})

test('names command no terminal', () => {
  const out = new PassThrough()
  printLine(out, 'lo\u001B[2J\u009B31m\u0007ot\ttab\nline')
  expect(String(out.read())).toBe('lo\\x1b[2J\\x9b31m\\x07ot\ttab\nline\n')
})
