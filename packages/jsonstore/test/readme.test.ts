/** Goal: the app in the README does what it says, with nothing changed but where its store is kept. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { createJSONStore } from '../src/index.ts'

test('the app that is moved over', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const [, example] = /```js\n([^]*?)```/.exec(readme)!
  const code = example!.replace(/^import .*$/m, '')
  expect(code).not.toBe(example)

  const clock = virtualEnvironment()
  const calls: unknown[] = []
  const invokeProcedure = async (call: object): Promise<unknown> => {
    calls.push(call)
    return await Promise.resolve({ status: 200 })
  }
  const JSONStore = createJSONStore({ storage: memory(), invokeProcedure, environment: clock })
  const failures: unknown[] = []
  const shown: unknown[] = []
  // The query at the end is asked once the store is open, as it is in an app.
  const [opening, asking] = code.split('\nconst part =') as [string, string]
  const run = (text: string): void => {
    // oxlint-disable-next-line no-implied-eval -- the README is the test.
    new Function('WL', 'show', 'report', text)(
      { JSONStore, constant: { ASCENDING: 'asc', DESCENDING: 'desc' } },
      (found: unknown) => shown.push(found),
      (...failure: unknown[]) => failures.push(failure),
    )
  }
  run(opening)
  await clock.idle()
  expect(calls).toHaveLength(2)
  run(`const part =${asking}`)
  await clock.idle()
  expect(failures).toEqual([])
  expect(shown).toEqual([[{ _id: 2, json: { name: 'Ann', age: 31 } }], [{ _id: 1, json: { name: 'Carlos', age: 99 } }]])
  expect(calls[0]).toEqual({ adapter: 'people', procedure: 'addPerson', parameters: ['{"name":"Carlos","age":99}'] })
  await JSONStore.destroy()
})
