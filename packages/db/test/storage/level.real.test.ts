/** Goal: processes take turns with a LevelDB, and lose nothing; the contract in a part of one. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterAll, expect, test } from 'vitest'
import { level } from '../../src/storage/level/level.ts'
import { someRecord } from '../../testing/conformance/page-store-fixture.ts'
import { pageStoreSuite } from '../../testing/conformance/page-store.ts'
import { prefixed } from '../../testing/suite.ts'
import { classicLevel } from './classic-level.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-level-'))
afterAll(() => rmSync(folder, { recursive: true }))

const shared = new ClassicLevel(join(folder, 'shared'))
afterAll(() => shared.close())
pageStoreSuite({
  test: prefixed(test, 'a sublevel'),
  create: async () => ({ storage: level(shared.sublevel('pannier')), name: 'shop' }),
})

test('a second process learns that the database is in use, and gets it afterwards', async () => {
  const path = join(folder, 'used')
  const store = await classicLevel().open(path)
  await store.append(someRecord(1), 'relaxed')
  const answer = inOtherProcess(TRY_TO_OPEN, path)
  expect(answer).toContain('PANNIER_LOCKED')
  expect(answer).toContain(path)
  expect(inOtherProcess(TRY_TO_DESTROY, path)).toBe('PANNIER_LOCKED')
  await expect(classicLevel().open(path)).rejects.toMatchObject({ code: 'PANNIER_LOCKED' })
  await store.append(someRecord(2), 'relaxed')
  await store.close()
  expect(inOtherProcess(TRY_TO_OPEN, path)).toBe('opened')
  expect(inOtherProcess(TRY_TO_DESTROY, path)).toBe('destroyed')
})

/** Runs a script in another process, with the path as its argument; returns what it prints. */
function inOtherProcess(script: string, path: string): string {
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT_HEAD + script, path], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  expect(run.stderr).not.toContain('SyntaxError')
  return run.stdout.trim()
}

const LEVEL_URL = new URL('../../src/storage/level/level.ts', import.meta.url).href
const SCRIPT_HEAD = `
  import { ClassicLevel } from 'classic-level'
  import { level } from ${JSON.stringify(LEVEL_URL)}
  const path = process.argv[1]
  const storage = level((path) => new ClassicLevel(path))
`
const TRY_TO_OPEN = `await storage.open(path).then((store) => { console.log('opened'); return store.close() }, (e) => console.log(e.code, e.message))`
const TRY_TO_DESTROY = `await storage.destroy(path).then(() => console.log('destroyed'), (e) => console.log(e.code))`

test('what a killed process has acknowledged is there, and its lock is not', async () => {
  const path = join(folder, 'killed')
  const acknowledged = inOtherProcess(
    `const store = await storage.open(path)
     for (let sequence = 1; sequence <= 20; sequence++) await store.append({ sequence, bytes: new Uint8Array(9) }, 'relaxed')
     console.log('20')
     process.kill(process.pid, 'SIGKILL')`,
    path,
  )
  expect(acknowledged).toBe('20')
  const store = await classicLevel().open(path)
  expect((await store.read()).log.length).toBe(20)
  await store.close()
})
