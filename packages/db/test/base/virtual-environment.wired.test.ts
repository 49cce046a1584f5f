/** Goal: what tests build on. Timers fire in order, and each sees what those before it have begun. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'

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

test('idle waits for files that are read and written', async () => {
  const clock = virtualEnvironment()
  const folder = await mkdtemp(join(tmpdir(), 'pannier-clock-'))
  try {
    let text = ''
    const work = async (): Promise<void> => {
      for (let at = 0; at < 5; at++)
        await writeFile(join(folder, 'file'), `${await readFile(join(folder, 'file'), 'utf8').catch(() => '')}x`)
      text = await readFile(join(folder, 'file'), 'utf8')
    }
    const done = work()
    await clock.idle()
    expect(text).toBe('xxxxx')
    await done
  } finally {
    await rm(folder, { recursive: true })
  }
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
