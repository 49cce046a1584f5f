/** Unit tests run from source: the condition `pannier-source` makes workspace packages resolve to their src/*.ts. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongFirst } from './tools/test/long-first.ts'
import { timeoutOf } from './tools/test/seeds.ts'

export default defineConfig({
  test: {
    include: ['packages/*/test/**/*.test.ts', 'tools/**/*.test.ts', 'bench/**/*.test.ts', 'demo/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/test/browser/**'],
    pool: 'forks',
    // Node loads the modules itself: a fifth less processor time than with those that vite has transformed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      '--conditions=pannier-source',
      `--import=${join(import.meta.dirname, 'tools/test/setup/modules.ts')}`,
      // Fewer collections: a twelfth less processor time.
      '--max-semi-space-size=64',
      // Both cores have a test: threads that help to collect take them from it. Another twelfth.
      '--single-threaded-gc',
    ],
    // What was asked for before is done before: so virtualEnvironment() knows when nothing is under way (testing/event-loop.ts).
    env: { UV_THREADPOOL_SIZE: '1' },
    // Files share a process and its modules: a quarter less processor time. What needs a fresh module asks for it.
    isolate: false,
    // One more than there are cores: tests wait for disks.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    // A second is too short for a machine that is busy.
    expect: { poll: { timeout: timeoutOf(55_000) } },
    setupFiles: ['tools/test/setup/common.ts', 'tools/test/setup/lane.ts'],
    // PouchDB looks after no failure of some of its own requests, when a test ends its server.
    onUnhandledError: ({ name, stack = '' }) =>
      name === 'FetchError' && stack.includes('node-fetch') ? false : undefined,
    allowOnly: false,
  },
})
