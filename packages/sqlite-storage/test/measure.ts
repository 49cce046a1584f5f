/**
 * What a storage costs beside `sqlite()`, in Node: `npm run node -- packages/sqlite-storage/test/measure.ts`. Prints medians of five
 * runs, in milliseconds of the processor.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'pannier'
import { sqlite } from 'pannier/sqlite'
import type { DatabaseStorage } from 'pannier/storage'
import { durableObject, expoSqlite, opSqlite, sqliteStorage } from '../src/index.ts'
import { durableShape, expoShape, nodeDriver, opShape } from './shapes.ts'

const RUNS = 5
const DOCUMENTS = 2000
const folder = mkdtempSync(join(tmpdir(), 'pannier-measure-'))

const STORAGES: readonly (readonly [string, DatabaseStorage, string])[] = [
  ['sqlite() of Node', sqlite(), `${folder}/`],
  ['sqliteStorage(node:sqlite)', sqliteStorage(nodeDriver), `${folder}/`],
  ['expoSqlite, its shape', expoSqlite(expoShape(folder)), ''],
  ['opSqlite, its shape', opSqlite(opShape(folder)), ''],
  ['durableObject, its shape', durableObject(durableShape()), ''],
]

async function timed(body: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage()
  await body()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

async function measure(storage: DatabaseStorage, name: string): Promise<readonly number[]> {
  const db = await open(name, { storage })
  const people = db.collection<{ name: string; age: number }>('people')
  const bulk = await timed(() =>
    people.insert(Array.from({ length: DOCUMENTS }, (_, n) => ({ _id: `p${n}`, name: `Person ${n}`, age: n % 90 }))),
  )
  const puts = await timed(async () => {
    for (let n = 0; n < 500; n++) await people.insert({ name: `More ${n}`, age: n % 90 })
  })
  await db.close()
  const opened = await timed(async () => (await open(name, { storage })).close())
  const again = await open(name, { storage })
  const found = await timed(() => again.collection('people').find({ age: 42 }).toArray())
  await again.destroy()
  return [opened, puts / 500, bulk, found]
}

console.log('storage | open ms | put ms | 2,000 documents ms | find in a fresh handle ms')
const rows = new Map<string, number[][]>()
for (let run = 0; run < RUNS; run++)
  for (const [kind, storage, prefix] of STORAGES) {
    const figures = await measure(storage, `${prefix}m${run}.db`)
    rows.set(kind, [...(rows.get(kind) ?? []), [...figures]])
  }
for (const [kind, runs] of rows) {
  const medians = [0, 1, 2, 3].map((at) => runs.map((run) => run[at]!).toSorted((a, b) => a - b)[RUNS >> 1]!)
  console.log([kind, ...medians.map((ms) => ms.toFixed(2))].join(' | '))
}
rmSync(folder, { recursive: true })
