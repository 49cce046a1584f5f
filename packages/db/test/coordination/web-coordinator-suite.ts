/** Goal: what only the coordinator of tabs can meet: holders that are frozen, and leases that are taken away. */
import { systemEnvironment } from '../../src/database/lifecycle/environment.ts'
import { webCoordinator } from '../../src/database/coordination/web-coordinator.ts'
import { assertEqual } from '../../testing/check.ts'
import { coordinatorSuite } from '../../testing/conformance/coordinator.ts'
import { eventually } from '../../testing/suite.ts'
import type { Test } from '../../testing/suite.ts'

let databases = 0

export function webCoordinatorSuite({ test }: { readonly test: Test }): void {
  const environment = systemEnvironment()
  const newName = (): string => `coordination-${++databases}`

  coordinatorSuite({
    test,
    create: () => {
      const name = newName()
      return () => webCoordinator({ name, environment })!
    },
  })

  // That they lose patience one after another saves needless theft, but nothing can promise that there is none.
  test('a holder that gives no sign of life loses its lease, and each that waits gets it', async () => {
    const name = newName()
    // As a frozen tab does: it holds the lock and answers nothing.
    let taken = false
    const frozen = navigator.locks
      .request(`pannier:${name}:writer`, () => new Promise(() => {}))
      .catch(() => (taken = true))
    const handles = Array.from({ length: 3 }, () => webCoordinator({ name, environment })!)
    let leases = 0
    await Promise.all(
      handles.map(async (handle) => {
        const lease = await handle.acquireWriter()
        leases++
        lease.release()
      }),
    )
    await frozen
    assertEqual([taken, leases], [true, 3])
    for (const handle of handles) handle.close()
  })

  test('a holder learns that its lease was taken away, and can ask again', async () => {
    const name = newName()
    const handle = webCoordinator({ name, environment })!
    const lease = await handle.acquireWriter()
    let told = false
    lease.onWanted(() => (told = true))
    await navigator.locks.request(`pannier:${name}:writer`, { steal: true }, () => {})
    await eventually(() => lease.lost)
    assertEqual([lease.wanted, told], [true, true])
    lease.release()
    const again = await handle.acquireWriter()
    assertEqual([again.wanted, again.lost], [false, false])
    handle.close()
  })

  // What it is told while the lock is on its way it does not know of, and who has said it would wait in vain.
  test('a handle that gets the lock at once says so, so that others ask it again for the lock', async () => {
    const name = newName()
    const handle = webCoordinator({ name, environment })!
    const other = new BroadcastChannel(`pannier:${name}`)
    other.addEventListener('message', ({ data }) => {
      if (data === 'held') other.postMessage('want')
    })
    const known = new Promise((resolve) => other.addEventListener('message', resolve, { once: true }))
    other.postMessage('hello')
    await known
    const lease = await handle.acquireWriter()
    await eventually(() => lease.wanted)
    other.close()
    handle.close()
  })
}
