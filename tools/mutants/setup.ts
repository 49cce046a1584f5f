/** Vitest loads it before each test file: what the file starts is changed as well, and what it reaches is noted under its name. */
import { join } from 'node:path'

interface Globals {
  /** The worker of vitest. */
  readonly __vitest_worker__: { readonly filepath: string }
  readonly mutantTest: (reachedFile: string) => void
}

const { __vitest_worker__: worker, mutantTest } = globalThis as unknown as Globals
const hook = `--import=${join(import.meta.dirname, 'hook.ts')}`
const { NODE_OPTIONS = '', MUTANT_REACHED } = process.env
if (!NODE_OPTIONS.includes(hook)) process.env['NODE_OPTIONS'] = `${NODE_OPTIONS} ${hook}`.trim()
if (MUTANT_REACHED !== undefined) mutantTest(join(MUTANT_REACHED, encodeURIComponent(worker.filepath)))
