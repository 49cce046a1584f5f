import { describe, expect, test } from 'vitest'
import { compareWithBudget, type Times } from './budget.ts'
import type { FileCost } from './setup/costs.ts'

const FOLDERS = ['btree', 'codec', 'index', 'kv', 'query']
const BUDGET: Times = {
  lanes: { pure: 50 },
  folders: Object.fromEntries(FOLDERS.map((name) => [`pure packages/db/test/${name}`, 10])),
}

describe('the budget of processor time', () => {
  test('costs as in the table pass', () => {
    expect(compareWithBudget(costs({}), ['pure'], BUDGET)).toMatchObject({ failed: 0 })
  })

  test('a machine half as fast passes', () => {
    const outcome = compareWithBudget(costs({}, 2), ['pure'], BUDGET)
    expect(outcome.failed).toBe(0)
    expect(outcome.notes).toEqual([
      'pure: 50 s of processor time (budget 50 s), and 2.00 times as long on this machine',
    ])
  })

  test('a folder that is as slow as before passes, on a machine on which the others are quicker', () => {
    expect(compareWithBudget(costs({ kv: 20 }, 0.5), ['pure'], BUDGET).failed).toBe(0)
  })

  test.for([1, 2])('a folder that has grown fails, on a machine that takes %s times as long', (slowness) => {
    const outcome = compareWithBudget(costs({ kv: 17 }, slowness), ['pure'], BUDGET)
    expect(outcome.failed).toBe(1)
    expect(outcome.failures?.[0]?.text).toMatch(/^ +\d+\.\d s {2}packages\/db\/test\/kv\/one\.test\.ts/)
  })

  test('a folder that the table does not have counts whole', () => {
    expect(compareWithBudget(costs({ view: 7 }), ['pure'], BUDGET).failed).toBe(1)
    expect(compareWithBudget(costs({ view: 3 }), ['pure'], BUDGET).failed).toBe(0)
  })
})

/** Ten seconds for each folder, and what is said for some, all times `slowness`. */
function costs(seconds: Readonly<Record<string, number>>, slowness = 1): FileCost[] {
  const all = { ...Object.fromEntries(FOLDERS.map((name) => [name, 10])), ...seconds }
  return Object.entries(all).map(([name, taken]) => ({
    file: `packages/db/test/${name}/one.test.ts`,
    cpuMs: taken * 1000 * slowness,
  }))
}
