/** Goal: the file for `<script>` has all that it needs. Method: a thread of its own. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Worker } from 'node:worker_threads'
import { stop } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { buildScript } from '../../../tools/checks/build.ts'
import { root } from '../../../tools/checks/packages.ts'

// It waits for the next build.
afterAll(stop)

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
    await worker.terminate()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
