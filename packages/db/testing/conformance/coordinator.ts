/**
 * What every coordinator has to do: src/storage/coordinator.ts as tests.
 *
 * `create` gives a function that makes handles of one database which has no others.
 */
import type { CommitSequence, Generation } from '../../src/base/brand.ts'
import type { Coordinator, Hint } from '../../src/storage/coordinator.ts'
import { assertEqual, assertRejects, assertTrue } from '../check.ts'
import { aMoment, eventually } from '../suite.ts'
import type { SuiteContext } from '../suite.ts'

export interface CoordinatorSuiteContext extends SuiteContext<() => () => Coordinator> {
  /** Handles tell one another nothing: they find commits where those are stored. */
  readonly isSilent?: boolean
}

export function coordinatorSuite(context: CoordinatorSuiteContext): void {
  leaseCases(context)
  closeCases(context)
  if (context.isSilent !== true) {
    newsCases(context)
    lateListenerCases(context)
  }
  pinCases(context)
}

/** Runs `body` with handles of one database, and closes them. */
async function withHandles(
  create: () => () => Coordinator,
  count: number,
  body: (...handles: Coordinator[]) => Promise<void>,
): Promise<void> {
  const make = create()
  const handles = Array.from({ length: count }, make)
  try {
    await body(...handles)
  } finally {
    for (const handle of handles) handle.close()
  }
}

function someHint(sequence: number): Hint {
  return { sequence: sequence as CommitSequence, generation: 1 as Generation }
}

function leaseCases({ test, create }: CoordinatorSuiteContext): void {
  test('a single handle gets the lease, and nobody wants it', () =>
    withHandles(create, 1, async (handle) => {
      const lease = await handle!.acquireWriter()
      await aMoment()
      assertEqual([lease.wanted, lease.lost], [false, false])
      lease.release()
      const again = await handle!.acquireWriter()
      assertEqual([again.wanted, again.lost], [false, false])
      again.release()
    }))

  test('a second handle makes the holder let go, and gets the lease when it has', () =>
    withHandles(create, 2, async (first, second) => {
      const lease = await first!.acquireWriter()
      let told = 0
      lease.onWanted(() => told++)
      let granted = false
      const next = second!.acquireWriter().then((other) => {
        granted = true
        return other
      })
      await eventually(() => lease.wanted)
      assertEqual(told, 1)
      lease.onWanted(() => told++)
      assertEqual(told, 2, 'who asks late is told at once')
      await aMoment()
      assertEqual(granted, false)
      lease.release()
      const other = await next
      assertEqual([other.wanted, other.lost, lease.lost], [false, false, false])
      other.release()
    }))

  test('releasing twice does not end the lease of another', () =>
    withHandles(create, 3, async (first, second, third) => {
      const lease = await first!.acquireWriter()
      const next = second!.acquireWriter()
      lease.release()
      const other = await next
      let granted = false
      const last = third!.acquireWriter().then((latest) => {
        granted = true
        return latest
      })
      await eventually(() => other.wanted)
      lease.release()
      await aMoment()
      assertEqual(granted, false)
      other.release()
      ;(await last).release()
    }))

  test('a holder that comes after others hears that still others wait', () =>
    withHandles(create, 3, async (first, second, third) => {
      const lease = await first!.acquireWriter()
      const next = second!.acquireWriter()
      await eventually(() => lease.wanted)
      const last = third!.acquireWriter()
      await aMoment()
      lease.release()
      const other = await next
      await eventually(() => other.wanted)
      other.release()
      ;(await last).release()
    }))

  test('many handles take the lease many times, one at a time, and none starves', () =>
    withHandles(create, 5, async (...handles) => {
      let holders = 0
      let working = handles.length
      const leases = handles.map(async (handle) => {
        for (let round = 0; round < 10; round++) {
          const lease = await handle.acquireWriter()
          assertEqual(++holders, 1, 'one holder at a time')
          // The last one that works is wanted by nobody.
          if (round % 3 === 0) await eventually(() => lease.wanted || working === 1)
          else await aMoment()
          holders--
          lease.release()
        }
        working--
        handle.close()
      })
      await Promise.all(leases)
    }))
}

function closeCases({ test, create }: CoordinatorSuiteContext): void {
  test('closing ends the lease', () =>
    withHandles(create, 2, async (first, second) => {
      await first!.acquireWriter()
      const next = second!.acquireWriter()
      first!.close()
      first!.close()
      ;(await next).release()
    }))

  test('closing ends the wait for the lease', () =>
    withHandles(create, 3, async (first, second, third) => {
      const lease = await first!.acquireWriter()
      const refused = assertRejects(second!.acquireWriter(), 'PANNIER_CLOSED')
      const next = third!.acquireWriter()
      second!.close()
      await refused
      lease.release()
      ;(await next).release()
      await assertRejects(second!.acquireWriter(), 'PANNIER_CLOSED')
    }))
}

function newsCases({ test, create }: CoordinatorSuiteContext): void {
  test('a hint reaches every other handle that is open, and not the one that gave it', () =>
    withHandles(create, 4, async (...handles) => {
      const heard = handles.map(() => 0)
      /** The newest hint that each handle was given. */
      const given = handles.map(() => 0)
      const announce = (from: number, sequence: number): void => {
        for (const other of given.keys()) if (other !== from) given[other] = sequence
        handles[from]!.announce(someHint(sequence))
      }
      handles.forEach((handle, index) => {
        handle.onHint((hint) => {
          // A handle that has just begun to listen is only asked to look: what came before is not repeated.
          heard[index] = Math.max(heard[index]!, hint?.sequence ?? given[index]!)
        })
      })
      handles[3]!.close()
      for (let sequence = 1; sequence <= 5; sequence++) announce(0, sequence)
      await eventually(() => heard[1] === 5 && heard[2] === 5)
      announce(1, 6)
      await eventually(() => heard[0] === 6 && heard[2] === 6)
      assertEqual(heard, [6, 5, 6, 0])
      announce(3, 7)
    }))
}

function lateListenerCases({ test, create }: CoordinatorSuiteContext): void {
  test('a handle that listens late hears that something came before', () =>
    withHandles(create, 3, async (first, early, late) => {
      let [heardEarly, heardLate] = [false, false]
      early!.onHint(() => (heardEarly = true))
      first!.announce(someHint(1))
      await eventually(() => heardEarly)
      late!.onHint(() => (heardLate = true))
      await eventually(() => heardLate)
    }))
}

function pinCases({ test, create }: CoordinatorSuiteContext): void {
  test('the oldest pin of all handles is known to each', () =>
    withHandles(create, 3, async (first, second, third) => {
      assertEqual(await first!.oldestPinned(), undefined)
      await first!.pin(9 as Generation)
      assertEqual(await first!.oldestPinned(), 9 as Generation, 'its own counts')
      await second!.pin(12 as Generation)
      await third!.pin(10 as Generation)
      assertEqual(await second!.oldestPinned(), 9 as Generation)
      await first!.pin(11 as Generation)
      await eventually(async () => (await second!.oldestPinned()) === 10)
      third!.close()
      await eventually(async () => (await second!.oldestPinned()) === 11)
    }))

  test('a pin replaces the one before, whatever their order', () =>
    withHandles(create, 2, async (first, second) => {
      await Promise.all([5, 7, 6, 6].map((generation) => first!.pin(generation as Generation)))
      await eventually(async () => (await second!.oldestPinned()) === 6)
      await first!.pin(6 as Generation)
      assertTrue((await second!.oldestPinned()) === 6, 'pinning again changes nothing')
      first!.close()
      await eventually(async () => (await second!.oldestPinned()) === undefined)
      await first!.pin(3 as Generation)
      assertEqual(await second!.oldestPinned(), undefined, 'a closed handle pins nothing')
    }))
}
