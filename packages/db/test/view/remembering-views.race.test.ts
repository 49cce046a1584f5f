/**
 * Goal: a view that remembers and is built while documents are written, in several steps, cancelled and continued, has exactly the rows
 * of the documents. Method: each pause lets a random write happen first; another handle continues what was cancelled.
 */
import { expect, test } from 'vitest'
import type { Environment } from '../../src/base/environment.ts'
import { rememberedRows } from '../../src/database/records/remembering-views.ts'
import { readSnapshot } from '../../src/database/records/read-snapshot.ts'
import { Catalog } from '../../src/document/catalog.ts'
import { checkedView, type Emit } from '../../src/view/view-definition.ts'
import { ViewEngine } from '../../src/view/view-engine.ts'
import { countingEnvironment, databaseOver } from '../../testing/model-database.ts'
import { modelKeyValueStore } from '../../testing/model-key-value-store.ts'
import { seededRandom } from '../../testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

interface Task {
  readonly _id: string
  readonly group: number
}

const DOCUMENTS = 400
const GROUPS = 5
/** A build can catch up with as many. */
const WRITES_MAX = 60

for (const seed of seedsOf('race', 2))
  test(`writes while it is built are not lost, seed ${seed}`, async () => {
    const random = seededRandom(seed)
    const store = modelKeyValueStore({ seed, missChance: (seed % 2) * 0.3 })
    const base = countingEnvironment()
    const db = databaseOver(store, base)
    const tasks = db.collection<Task>('tasks')
    const expected = new Map<string, number>()
    const write = async (): Promise<void> => {
      const _id = `t${random.below(DOCUMENTS + 50)}`
      if (random.chance(0.75)) {
        expected.set(_id, random.below(GROUPS))
        await tasks.upsert({ _id, group: expected.get(_id)! })
      } else if (expected.delete(_id)) await (random.chance(0.5) ? tasks.delete(_id) : tasks.purge(_id))
    }
    for (let at = 0; at < DOCUMENTS; at++) expected.set(`t${at}`, at % GROUPS)
    await tasks.insert(Array.from(expected, ([_id, group]) => ({ _id, group })))
    let time = 0
    let writes = 0
    const environment: Environment = {
      ...base,
      now: () => (time += 100),
      yield: async () => {
        if (++writes < WRITES_MAX) await write()
      },
    }
    const map = ({ group }: Task, emit: Emit): void => emit(['of', group], null)
    const view = checkedView({ map, version: '1', remembers: true } as never, 'groups')
    const handle = (): ViewEngine =>
      new ViewEngine(
        {
          store,
          catalog: new Catalog(() => base.randomId()),
          environment,
          name: 'tasks',
          closing: new AbortController().signal,
          // A step takes some 60 documents.
          rowBytesMax: 15_000,
          openRows: () => Promise.reject(new Error('not needed')),
        },
        view,
        store,
      )
    const cancelling = new AbortController()
    const cancelAt = (1 + random.below(8)) / 10
    const onProgress = (done: number): void => {
      if (done >= cancelAt) cancelling.abort()
    }
    await expect(handle().update({ signal: cancelling.signal, onProgress })).rejects.toThrow('cancelled')
    await handle().update()
    expect(writes).toBeGreaterThan(10)
    // What came behind the end of the last step.
    writes = WRITES_MAX
    await handle().update()
    const rows = await readSnapshot(db, (reader) =>
      reader.read((guard) => {
        const remembered = rememberedRows(guard, 'tasks', 'groups')!
        return Array.from({ length: GROUPS }, (_, group) => [...remembered.rows(['of'], { gte: group, lte: group })])
      }),
    )
    const found = rows.flatMap((some, group) => some.map(({ id }): [string, number] => [id, group]))
    expect(new Map(found)).toEqual(expected)
    expect(found.length).toBe(expected.size)
    expect((await db.check()).problems).toEqual([])
    await db.close()
  })
