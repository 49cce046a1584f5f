/** Goal: where a database can't be, or was not meant to be, `open` says so and what to do, and makes no file. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { sqlite } from '../../src/sqlite.ts'

let folder: string
let name: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pannier-place-'))
  name = join(folder, 'shop')
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

test.each([
  ['a simulated document', () => vi.stubGlobal('document', {}), /simulated in Node.*storage/],
  ['a page of Next.js', () => vi.stubEnv('NEXT_RUNTIME', 'nodejs'), /Next\.js renders on its server.*storage/],
  ['a build of Next.js', () => vi.stubEnv('NEXT_PHASE', 'phase-production-build'), /Next\.js/],
])('%s gets no file that nobody asked for', async (_what, arrange, message) => {
  arrange()
  await expect(open(name)).rejects.toMatchObject({
    code: 'PANNIER_UNAVAILABLE',
    message: expect.stringMatching(message) as string,
  })
  expect(existsSync(name)).toBe(false)
  for (const storage of [memory(), sqlite()]) await (await open(name, { storage })).close()
})

test('a Node without SQLite gets an error with the version it needs, and other storages work', async () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
  await expect(open(name)).rejects.toMatchObject({
    code: 'PANNIER_UNAVAILABLE',
    message: expect.stringContaining(`Node 22.13 or newer (24 is best); this is ${process.version}`) as string,
  })
  await (await open(name, { storage: memory() })).close()
})

test('a snapshot that can not be restored leaves no file', async () => {
  await expect(open(name, { from: new Uint8Array(10) })).rejects.toMatchObject({ code: 'PANNIER_FORMAT_WRONG' })
  expect(readdirSync(folder)).toEqual([])
})

test('the command says which Node it needs', () => {
  const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.20.2'}})`
  const program = join(import.meta.dirname, '../../bin/pannier.js')
  const { status, stderr } = spawnSync(process.execPath, ['--import', old, program, '--help'], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, expect.stringContaining('pannier needs Node 22.13 or newer')])
})
