/**
 * Writes of a worker that is frozen in the midst: while it has its turn, and with its view about to become stale. It sleeps
 * in `Atomics.wait`, which stops its thread as a frozen tab's is stopped: nothing is answered, no timer runs.
 */
import type { Collection, Database } from '../../src/index.ts'
import type { Row } from './database.page.ts'

/** Where it is frozen. */
export type FrozenWrite = 'update' | 'transaction' | 'index build'

export const FROZEN_WRITES: readonly FrozenWrite[] = ['update', 'transaction', 'index build']

export interface FrozenWrites {
  /** A place in shared memory: 1 asks the thread that waits at it to go on. */
  makeSwitch(): SharedArrayBuffer
  /** Writes, and freezes the thread in the midst of it until the switch is turned. Gives how often the write was tried. */
  writeFrozen(where: FrozenWrite, place: SharedArrayBuffer): Promise<number>
  /** Resolves when a thread is frozen at the switch. */
  frozenAt(place: SharedArrayBuffer): Promise<void>
  thaw(place: SharedArrayBuffer): void
}

const RUNNING = 0
const FROZEN = 1
const THAWED = 2

export function frozenWrites(
  opened: () => { readonly database: Database; readonly rows: Collection<Row> },
): FrozenWrites {
  return {
    makeSwitch: () => new SharedArrayBuffer(4),
    async writeFrozen(where, place) {
      let tries = 0
      const freezeOnce = (): void => {
        tries++
        if (tries === 1) freeze(place)
      }
      const { database, rows } = opened()
      if (where === 'update') {
        await rows.update('counter', (row) => {
          freezeOnce()
          return { ...row, n: row.n + 1 }
        })
      } else if (where === 'transaction') {
        await database.transaction(async (tx) => {
          const inside = tx.collection<Row>('rows')
          const row = await inside.get('counter')
          await inside.upsert({ ...row!, n: row!.n + 1 })
          freezeOnce()
        })
      } else {
        await rows.update('counter', (row) => ({ ...row, n: row.n + 1 }))
        await database.collection('rows', { indexes: ['n'], onProgress: freezeOnce }).ready()
      }
      return tries
    },
    async frozenAt(place) {
      while (Atomics.load(new Int32Array(place), 0) !== FROZEN) await new Promise((resolve) => setTimeout(resolve, 5))
    },
    thaw(place) {
      const state = new Int32Array(place)
      Atomics.store(state, 0, THAWED)
      Atomics.notify(state, 0)
    },
  }
}

function freeze(place: SharedArrayBuffer): void {
  const state = new Int32Array(place)
  Atomics.compareExchange(state, 0, RUNNING, FROZEN)
  Atomics.wait(state, 0, FROZEN)
}
