/** Goal: a request ends when it has read too many rows, or takes too long. */
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { RequestBudget } from '../../../src/records/read/request-budget.ts'

test('a request has a number of rows, and half a minute', async () => {
  const environment = virtualEnvironment()
  const budget = new RequestBudget(environment, 10)
  budget.spend(9)
  expect(() => budget.spend(1)).toThrow('reads too many rows')
  const slow = new RequestBudget(environment)
  slow.check()
  await environment.advance(30_000)
  expect(() => slow.check()).toThrow('takes longer than 30 seconds')
})
