/** Goal: whatever one client sends, another one is next but one in a queue. */
import { expect, test } from 'vitest'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { WorkQueue } from '../../src/gateway/work-queue.ts'

test('clients take turns, and one has a quarter of the room', async () => {
  const queue = new WorkQueue({ concurrencyMax: 1, waitingMax: 8 }, () => new ServiceError('TOO_MANY_REQUESTS', ''))
  const done: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.run(() => gate.promise, 'attacker')
  const flood = Array.from({ length: 10 }, (_, n) =>
    queue.run(async () => void done.push(`attacker ${n}`), 'attacker').catch(() => 'refused'),
  )
  const user = queue.run(async () => void done.push('user'), 'user')
  const other = queue.run(async () => void done.push('other'), 'other')
  gate.resolve()
  const outcomes = await Promise.all(flood)
  await Promise.all([first, user, other])
  expect(outcomes.filter((outcome) => outcome === 'refused').length).toBe(8)
  expect(done[0]).toBe('user')
  expect(done.indexOf('other')).toBeLessThanOrEqual(2)
})
