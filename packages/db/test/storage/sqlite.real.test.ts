/** Goal: processes take turns with an SQLite file, and lose nothing. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { someRecord } from '../../testing/conformance/page-store-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'pannier-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a script in another process, with the path as its argument; returns what it prints. */
function inOtherProcess(script: string, path: string): string {
  const url = new URL('../../src/storage/sqlite/sqlite.ts', import.meta.url)
  const head = `import { sqlite } from ${JSON.stringify(url.href)}; const path = process.argv[1];`
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', head + script, path], { encoding: 'utf8' })
  expect(run.stderr).not.toContain('SyntaxError')
  return run.stdout.trim()
}

const TRY_TO_OPEN = `await sqlite().open(path).then(() => console.log('opened'), (e) => console.log(e.code, e.message))`
const TRY_TO_DESTROY = `await sqlite().destroy(path).then(() => console.log('destroyed'), (e) => console.log(e.code))`

test('a second process learns that the file is in use, and gets it afterwards', async () => {
  const path = join(folder, 'used')
  const store = await sqlite().open(path)
  await store.append(someRecord(1), 'relaxed')
  const answer = inOtherProcess(TRY_TO_OPEN, path)
  expect(answer).toContain('PANNIER_LOCKED')
  expect(answer).toContain(path)
  expect(inOtherProcess(TRY_TO_DESTROY, path)).toBe('PANNIER_LOCKED')
  await store.append(someRecord(2), 'relaxed')
  await store.close()
  expect(inOtherProcess(TRY_TO_OPEN, path)).toBe('opened')
  expect(inOtherProcess(TRY_TO_DESTROY, path)).toBe('destroyed')
  expect(existsSync(path)).toBe(false)
})

test('what a killed process has acknowledged is there, and its lock is not', async () => {
  const path = join(folder, 'killed')
  const acknowledged = inOtherProcess(
    `const store = await sqlite().open(path)
     for (let sequence = 1; sequence <= 20; sequence++) store.append({ sequence, bytes: new Uint8Array(9) }, 'relaxed')
     console.log('20')
     process.kill(process.pid, 'SIGKILL')`,
    path,
  )
  expect(acknowledged).toBe('20')
  const store = await sqlite().open(path)
  expect((await store.read()).log.length).toBe(20)
  await store.close()
  await sqlite().destroy(path)
})
