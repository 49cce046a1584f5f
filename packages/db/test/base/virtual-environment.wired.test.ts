/** Goal: what tests build on. Timers fire in order, and each sees what those before it have begun. */
import { pbkdf2 } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { expect, test } from 'vitest'
import { importAgain } from '../../../../tools/test/mutants.ts'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'

const compressed = promisify(gzip)
const derived = promisify(pbkdf2)
/** Takes some milliseconds, in another thread. */
const hashed = (text: string): Promise<Buffer> => derived(text, 'salt', 20_000, 32, 'sha256')

test('timers fire in the order of their times, and the clock shows each time', async () => {
  const clock = virtualEnvironment()
  const fired: (readonly [name: string, at: number])[] = []
  const note = (name: string) => (): void => void fired.push([name, clock.now()])
  clock.after(20, note('later'))
  clock.after(10, note('first'))
  clock.after(10, note('second'))
  clock.after(15, note('never'))()
  await clock.advance(12)
  expect(fired).toEqual([
    ['first', 10],
    ['second', 10],
  ])
  expect(clock.now()).toBe(12)
  await clock.advance(100)
  expect(fired.at(-1)).toEqual(['later', 20])
  expect(clock.timerCount).toBe(0)
})

test('a timer that a timer sets fires in the same move', async () => {
  const clock = virtualEnvironment()
  let rounds = 0
  const again = (): void => {
    rounds++
    clock.after(1000, again)
  }
  clock.after(1000, again)
  await clock.advance(10_000)
  expect(rounds).toBe(10)
})

test('idle waits for files, cryptography, compression and answers, however long each takes', async () => {
  const clock = virtualEnvironment()
  const folder = await mkdtemp(join(tmpdir(), 'pannier-clock-'))
  const server = createServer((_, response) => void hashed('of the server').then((bytes) => response.end(bytes)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const done: string[] = []
  const work = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await writeFile(join(folder, 'file'), await hashed('of the client'))
      await crypto.subtle.digest('SHA-256', await readFile(join(folder, 'file')))
      await compressed(Buffer.alloc(1_000_000))
      await (await fetch(`http://127.0.0.1:${port}`)).bytes()
      done.push(`round ${round}`)
    }
  }
  try {
    const working = work()
    await clock.idle()
    expect(done).toEqual(['round 0', 'round 1', 'round 2'])
    await working
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  }
})

test('idle waits for a module that is loaded on demand', async () => {
  const clock = virtualEnvironment()
  let loaded: unknown
  const loading = importAgain('packages/db/src/query/query.ts', ['packages/db/src/query']).then(
    (module) => (loaded = module),
  )
  await clock.idle()
  expect(loaded).toBeDefined()
  await loading
})

test('until moves the clock as far as it must, and says when it does not come to that', async () => {
  const clock = virtualEnvironment()
  let count = 0
  const again = (): void => void clock.after(60_000, () => (count++, again()))
  again()
  await clock.until(() => count === 3)
  expect(clock.now()).toBe(180_000)
  await expect(clock.until(() => count === 10, 60_000)).rejects.toThrow('It has not come to that in 60000 ms.')
  await expect(virtualEnvironment().until(() => false)).rejects.toThrow('No timer is left')
})

test('the wall clock jumps both ways, and the other one does not', async () => {
  const clock = virtualEnvironment({ startMs: 1_000_000 })
  await clock.advance(5)
  clock.jump(-500)
  expect(clock.wallClock()).toBe(999_505)
  expect(clock.now()).toBe(5)
})

test('a database takes its ids from the seed', async () => {
  const insert = async (seed: number): Promise<string> => {
    await using db = await open('seeded', { storage: memory(), environment: virtualEnvironment({ seed }) })
    const notes = db.collection<{ text: string }>('notes')
    await notes.insert({ text: 'some' })
    return (await notes.find().first())!._id
  }
  expect(await insert(3)).toBe(await insert(3))
  expect(await insert(3)).not.toBe(await insert(4))
})
