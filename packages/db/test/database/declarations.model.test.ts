/**
 * Goal: once `ready()` has resolved, what this handle has declared is there, whatever any handle has dropped before; and a search
 * answers by it. Method: handles that declare, drop, write, drop collections and are opened again, at random, some of it without
 * waiting; over a memory storage and over one that answers late.
 */
import { expect, test } from 'vitest'
import type { Collection } from '../../src/database/collection/collection.ts'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/index.ts'
import type { IndexInput } from '../../src/index/index-definition.ts'
import { memory } from '../../src/memory.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const STEPS = 60
const WORDS = ['fox', 'dog', 'cat']

interface Item {
  readonly n: number
  readonly t: string
}

const INDEXES: Readonly<Record<string, IndexInput<'n' | 't'>>> = {
  words: { on: 't', text: true, name: 'words' },
  n: 'n',
  key: { on: ['t', 'n'], name: 'key' },
}

/** A handle, and what its application has declared and not dropped since. */
interface Handle {
  db: Database
  readonly declared: Set<string>
}

for (const seed of seedsOf('model')) {
  for (const late of [false, true])
    test(`declare and drop${late ? ', slowly' : ''}, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () =>
      declareAndDrop(seededRandom(seed), late))
}

async function declareAndDrop(random: Random, late: boolean): Promise<void> {
  const storage = late ? slow(memory(), random) : memory()
  const handles: Handle[] = []
  for (let at = 0; at < 2; at++) handles.push({ db: await open('x', { storage }), declared: new Set() })
  const texts = new Map<string, string>()
  let ids = 0
  const itemsOf = ({ db }: Handle): Collection<Item> => db.collection<Item>('items')
  const declare = (handle: Handle): void => {
    const names = Object.keys(INDEXES).filter(() => random.chance(0.6))
    for (const name of names) handle.declared.add(name)
    handle.db.collection<Item>('items', { indexes: names.map((name) => INDEXES[name]!) })
  }
  for (let step = 0; step < STEPS; step++) {
    const handle = random.pick(handles)
    const items = itemsOf(handle)
    const asked: Promise<unknown>[] = []
    for (let steps = 1 + random.below(3); steps > 0; steps--) {
      const kind = random.below(10)
      if (kind < 3) declare(handle)
      else if (kind < 6) {
        const name = random.pick(Object.keys(INDEXES))
        handle.declared.delete(name)
        asked.push(items.dropIndex(name))
      } else if (kind < 9) {
        const added = Array.from({ length: 1 + random.below(40) }, () => ({
          _id: `d${ids++}`,
          n: ids,
          t: random.pick(WORDS),
        }))
        for (const { _id, t } of added) texts.set(_id, t)
        asked.push(items.insert(added))
      } else {
        texts.clear()
        asked.push(handle.db.dropCollection('items'))
      }
      if (random.chance(0.4)) await Promise.all(asked)
    }
    if (random.chance(0.5)) await Promise.all(asked)
    if (random.chance(0.7)) {
      await items.ready()
      await Promise.all(asked)
      await check(handle)
    }
    await Promise.all(asked)
    if (random.chance(0.05)) {
      await handle.db.close()
      handle.db = await open('x', { storage })
      handle.declared.clear()
    }
  }
  for (const handle of handles) {
    await itemsOf(handle).ready()
    await check(handle)
    expect((await handle.db.check()).problems).toEqual([])
  }
  for (const { db } of handles) await db.close()

  async function check(handle: Handle): Promise<void> {
    const items = itemsOf(handle)
    const there = (await items.indexes()).filter(({ ready }) => ready).map(({ name }) => name)
    // A collection that is not there yet has no indexes yet.
    if (there.length > 0 || texts.size > 0) expect(there).toEqual(expect.arrayContaining([...handle.declared]))
    if (!handle.declared.has('words')) return
    for (const word of WORDS) {
      const expected = [...texts.values()].filter((text) => text === word).length
      expect(await items.search(word).count()).toBe(expected)
    }
  }
}
