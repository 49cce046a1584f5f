/** Goal: `WL` is the app's own object with JSONStore added, for bundlers and in the file for `<script>`. Method: a fresh module, and a thread of its own. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Worker } from 'node:worker_threads'
import { memory } from 'pannier/memory'
import { expect, test, vi } from 'vitest'
import { buildScript } from '../../../tools/checks/build.ts'
import { root } from '../../../tools/checks/packages.ts'
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
  vi.resetModules()
  try {
    const { WL, JSONStore } = (await import('../src/index.ts')) as { WL: object; JSONStore: object }
    expect(WL).toBe(existing)
    expect(WL).toEqual({ Logger, JSONStore, constant: { TIMEOUT: 5, ASCENDING: 'asc', DESCENDING: 'desc' } })
  } finally {
    vi.unstubAllGlobals()
    vi.resetModules()
  }
})

test('the file for pages without a bundler makes the globals, and has all that it needs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pannier-script-'))
  try {
    const file = join(folder, 'jsonstore.min.js')
    await buildScript('packages/jsonstore/src/script.ts', relative(root, file))
    const script = readFileSync(file, 'utf8')
    expect(script).not.toMatch(/\b(?:import|require)\(["'`]/)
    const page = `globalThis.WL = { Client: 'kept' };
      (0, eval)(require('node:worker_threads').workerData)
      require('node:worker_threads').parentPort.postMessage([WL.Client, typeof JSONStore.init, WL.JSONStore === JSONStore])`
    const worker = new Worker(page, { eval: true, workerData: script })
    const [found] = (await once(worker, 'message')) as [unknown[]]
    expect(found).toEqual(['kept', 'function', true])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
