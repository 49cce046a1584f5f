/** Goal: `WL` is the app's own object with JSONStore added, for bundlers and in the file for `<script>`. Method: fresh worlds of node:vm and modules. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import { buildScript } from '../../../tools/checks/build.ts'
import { root } from '../../../tools/checks/packages.ts'

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
    const Client = {}
    const world = createContext({
      WL: { Client },
      console,
      setTimeout,
      clearTimeout,
      queueMicrotask,
      crypto,
      performance,
    })
    runInContext(script, world)
    const found = runInContext('[WL.Client, typeof JSONStore.init, WL.JSONStore === JSONStore]', world) as unknown[]
    expect([...found]).toEqual([Client, 'function', true])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
