/** The workload "first rows" in Node, small: each process prints the rows that the model has. test/browser does the same with its pages. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import type { DataSet } from '../documents.ts'
import { checkRows } from '../first-rows/expected.ts'
import { Processes, TASKS } from '../first-rows/processes.ts'
import { MEASURABLE, STATES, variantsIn } from '../first-rows/variants.ts'

const SET: DataSet = { documents: 60, seed: 1, ids: 'random' }
const folder = makeFolder('first-rows')
const processes = new Processes(folder)

beforeAll(() => processes.install(false))
afterAll(() => removeFolder(folder))

test.each(variantsIn('node', MEASURABLE, STATES))('$name: the process prints what it read', async (variant) => {
  await processes.fill(variant, SET)
  for (const task of TASKS) {
    const { rows, values } = await processes.start(variant, task, SET)
    checkRows(rows, SET, task)
    expect(Object.values(values).every((milliseconds) => milliseconds > 0)).toBe(true)
  }
})
