/**
 * Goal: a module that can't be loaded loses nothing; the next call tries again. After `preload` nothing is loaded.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
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

test('after preload nothing is loaded', () => {
  const { preloaded, after } = run('preloaded.ts') as { preloaded: number; after: string[] }
  expect(preloaded).toBeGreaterThan(50)
  expect(after).toEqual([])
})
