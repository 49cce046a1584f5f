/** Goal: `WL` is the app's own object with JSONStore added. Method: a fresh module. */
import { memory } from 'pannier/memory'
import { expect, test, vi } from 'vitest'
import { importAgain } from '../../../tools/test/mutants.ts'
import { createJSONStore } from '../src/index.ts'

test('a misspelt setting is named; options that IBM does not have are ignored, as in JSONStore', async () => {
  expect(() => createJSONStore({ storag: memory() } as never)).toThrow("did you mean 'storage'?")
  const store = createJSONStore({ storage: memory() })
  await store.init({ people: { searchFields: { name: 'string' } } }, { usrname: 'ann' } as never)
  await store.get('people')!.add({ name: 'ann' }, { markdirty: false } as never)
  expect(await store.get('people')!.count({}, { exakt: true } as never)).toBe(1)
  await store.closeAll()
})

test('the WL of the app keeps what it has', async () => {
  const Logger = { debug: () => 'logged' }
  const existing = { Logger, constant: { TIMEOUT: 5 } }
  vi.stubGlobal('WL', existing)
  try {
    const { WL, JSONStore } = await importAgain<{ WL: object; JSONStore: object }>('packages/jsonstore/src/index.ts', [
      'packages/jsonstore/src',
    ])
    expect(WL).toBe(existing)
    expect(WL).toEqual({ Logger, JSONStore, constant: { TIMEOUT: 5, ASCENDING: 'asc', DESCENDING: 'desc' } })
  } finally {
    vi.unstubAllGlobals()
    vi.resetModules()
  }
})
