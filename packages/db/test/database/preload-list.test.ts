/** Goal: `preload` loads all that is loaded on demand. Method: the sources are searched for `import()`. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const SOURCE = join(import.meta.dirname, '../../src')
const PRELOADING = ['database/lifecycle/preload.ts', 'database/lifecycle/modules-on-demand.ts']
/** Loaded whenever a database in OPFS is opened by a worker, so that it is there before anything else is. */
const WITH_OPFS = ['storage/opfs/own-thread.ts']

/** What a file of the library imports on demand. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(SOURCE, file), 'utf8').replaceAll(/^ *\*.*$/gm, '')
  return [...code.matchAll(/\bimport\('([^']+)'\)/g)].map(([, path]) =>
    relative(SOURCE, join(SOURCE, dirname(file), path!)),
  )
}

test('preload knows every module that is loaded on demand', () => {
  const files = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !PRELOADING.includes(file))
  const wanted = new Set(files.flatMap(importsOf).filter((file) => !WITH_OPFS.includes(file)))
  expect(importsOf('database/lifecycle/modules-on-demand.ts').sort()).toEqual([...wanted].sort())
})
