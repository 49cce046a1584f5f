/** Goal: whoever writes or queries before what does so is loaded notices nothing; where it can't be loaded nothing is lost. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** In a process of its own, as in this one everything is loaded. */
function run(script: string): unknown {
  const path = join(import.meta.dirname, script)
  const printed = execFileSync(process.execPath, ['--conditions=pannier-source', path], { encoding: 'utf8' })
  return JSON.parse(printed) as unknown
}

test('writes that are asked for before anything that writes is loaded', () => {
  const order = ['insert', 'update', 'put']
  expect(run('early-writes.ts')).toEqual({ order, days: [2, 5], wrong: [] })
})

test('modules that can not be loaded for a while', () => {
  const lost = 'PANNIER_MODULE_NOT_LOADED'
  expect(run('lost-modules.ts')).toEqual({
    written: lost,
    planned: [lost, lost, 'done'],
    together: ['done', 'done', 'done'],
    day: 20,
    queried: lost,
    found: 1,
    wrong: [],
  })
})
