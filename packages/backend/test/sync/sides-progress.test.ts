/** Goal: the log says how far an index is that takes long to make, and nothing of others. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { updateSides } from '../../src/sync/feed/sides-view.ts'
import { syncRules } from '../../src/sync/rules/sync-rules.ts'
import { makeWorld } from '../records/read/read-world.ts'

const DOCS = {
  id: 'pbc_docs',
  name: 'docs',
  type: 'base',
  listRule: 'owner = @request.auth.id',
  fields: [{ name: 'owner', type: 'text' }],
}

test('an index that takes long to make is noted in the log, after each fifth', async () => {
  let [ms, stepMs] = [0, 100]
  const now = (): number => (ms += stepMs)
  const environment = { ...virtualEnvironment(), now }
  const docs = Array.from({ length: 1000 }, (_, at) => ({ id: `d${at}`, owner: `u${at % 7}` }))
  await using world = await makeWorld([DOCS], { docs }, open('world', { storage: memory(), environment }))
  const entries: LogEntry[] = []
  const host = { database: world.database, environment, logs: { write: (entry: LogEntry) => void entries.push(entry) } }
  const definition = world.definitions.find('docs')!
  const rules = syncRules(world.definitions, definition)!
  await updateSides(host, definition, rules)
  const parts = entries.map(({ message }) =>
    Number(/^The index of "docs" for sync is made to (\d+) %\.$/.exec(message)![1]),
  )
  expect(parts).toEqual(parts.toSorted((one, other) => one - other))
  expect(parts.length).toBeGreaterThan(3)
  expect(parts.length).toBeLessThanOrEqual(6)
  expect(parts.at(-1)).toBe(100)
  stepMs = 0
  await world.database.collection('$records_pbc_docs').upsert({ _id: 'd1', owner: 'u9' })
  await updateSides(host, definition, rules)
  expect(entries.length).toBe(parts.length)
})
