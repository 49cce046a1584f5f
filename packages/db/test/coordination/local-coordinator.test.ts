import { expect, test } from 'vitest'
import { localCoordinator } from '../../src/database/coordination/local-coordinator.ts'
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { coordinatorSuite } from '../../testing/conformance/coordinator.ts'

const environment = systemEnvironment()
let keys = 0

coordinatorSuite({
  test,
  create: () => {
    const key = `database-${++keys}`
    return () => localCoordinator({ key, environment })
  },
})

test('the lease is given first come, first served', async () => {
  const handles = Array.from({ length: 4 }, () => localCoordinator({ key: 'queue', environment }))
  const order: number[] = []
  const leases = [2, 0, 3, 1].map(async (index) => {
    const lease = await handles[index]!.acquireWriter()
    order.push(index)
    lease.release()
  })
  await Promise.all(leases)
  expect(order).toEqual([2, 0, 3, 1])
  for (const handle of handles) handle.close()
})

test('handles of different databases do not meet', async () => {
  const [one, other] = ['one', 'other'].map((key) => localCoordinator({ key, environment }))
  await one!.acquireWriter()
  const lease = await other!.acquireWriter()
  expect(lease.wanted).toBe(false)
  one!.close()
  other!.close()
})
