/**
 * Goal: a module that can't be loaded loses nothing; the next call tries again. After `preload` nothing is loaded.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

/** In a process of its own, as in this one everything is loaded. */
function run(script: string): unknown {
  const path = join(import.meta.dirname, script)
  const printed = execFileSync(process.execPath, ['--conditions=pannier-source', path], { encoding: 'utf8' })
  return JSON.parse(printed) as unknown
}

test('modules that can not be loaded for a while', () => {
  const lost = 'PANNIER_MODULE_NOT_LOADED'
  expect(run('lost-modules.ts')).toEqual({
    planned: [lost, lost, 'done'],
    together: ['done', 'done', 'done'],
    day: 20,
    sorted: lost,
    found: 1,
    wrong: [],
  })
})

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

test('after preload nothing is loaded', () => {
  const { preloaded, after } = run('preloaded.ts') as { preloaded: number; after: string[] }
  expect(preloaded).toBeGreaterThan(50)
  expect(after).toEqual([])
})
