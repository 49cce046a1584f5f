/** Goal: a store takes its clock from the settings. */
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { createJSONStore } from '../src/index.ts'

test('documents become dirty by the clock of the store, later ones later also when it is set back', async () => {
  const clock = virtualEnvironment({ startMs: 1_000_000 })
  const store = createJSONStore({ storage: memory(), environment: clock })
  const { people } = await store.init({ people: { searchFields: { name: 'string' } } })
  await people.add({ name: 'Ann' })
  await clock.advance(5000)
  await people.add({ name: 'Ben' })
  clock.jump(-60_000)
  await people.add({ name: 'Cid' })
  const dirty = await people.getAllDirty()
  expect(dirty.map(({ json, _dirty }) => [json['name'], _dirty])).toEqual([
    ['Ann', 1_000_000],
    ['Ben', 1_005_000],
    ['Cid', 1_005_001],
  ])
  expect(await store.destroy()).toBe(0)
})
