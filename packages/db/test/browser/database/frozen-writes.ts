/**
 * Writes of a thread that is frozen in the midst: while it holds the lease, so that its view is stale when it goes on.
 *
 * A worker sleeps in `Atomics.wait`, which stops it as a tab is stopped: nothing is answered, no timer runs. Where there is
 * no shared memory (WebKit on GTK), the thread is that of a page; it waits until its process was stopped and goes on again.
 */
import { ROWS, type Opened, type Row } from './rows.ts'

/** Where it is frozen. */
export type FrozenWrite = 'update' | 'transaction' | 'index build'

export const FROZEN_WRITES: readonly FrozenWrite[] = ['update', 'transaction', 'index build']

export interface FrozenWrites {
  /** Adds 1 to `n` of the row 'counter0', and is frozen in the midst. Gives how often the write was tried. */
  writeFrozen(where: FrozenWrite, place?: SharedArrayBuffer): Promise<number>
  /** Resolves when some page waits to be frozen in that write. */
  waitsToBeFrozen(where: FrozenWrite): Promise<void>
}

export function frozenWrites(opened: Opened): FrozenWrites {
  const channel = new BroadcastChannel('frozen-writes')
  const waiting = new Set<FrozenWrite>()
  channel.addEventListener('message', ({ data }: MessageEvent<FrozenWrite>) => void waiting.add(data))
  return {
    async writeFrozen(where, place) {
      let tries = 0
      const freezeOnce = (): void => {
        tries++
        if (tries > 1) return
        if (place !== undefined) return freeze(place)
        waitForStop(() => channel.postMessage(where))
      }
      await write(opened(), where, freezeOnce)
      return tries
    },
    async waitsToBeFrozen(where) {
      while (!waiting.has(where)) await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

async function write(
  { database, rows }: ReturnType<Opened>,
  where: FrozenWrite,
  freezeOnce: () => void,
): Promise<void> {
  if (where === 'update') {
    await rows.update('counter0', (row) => {
      freezeOnce()
      return { ...row, n: row.n + 1 }
    })
  } else if (where === 'transaction') {
    await database.transaction(async (tx) => {
      const inside = tx.collection<Row>(ROWS)
      const row = await inside.get('counter0')
      await inside.upsert({ ...row!, n: row!.n + 1 })
      freezeOnce()
    })
  } else {
    await rows.update('counter0', (row) => ({ ...row, n: row.n + 1 }))
    await database.collection(ROWS, { indexes: ['n'], onProgress: freezeOnce }).ready()
  }
}

const RUNNING = 0
const FROZEN = 1
const THAWED = 2

function freeze(place: SharedArrayBuffer): void {
  const state = new Int32Array(place)
  Atomics.compareExchange(state, 0, RUNNING, FROZEN)
  Atomics.wait(state, 0, FROZEN)
}

/** A step that takes so long was interrupted by a stop. */
const STOP_MS_MIN = 2000

/** On a busy machine the stop may come before `ask` has returned: the first step begins before that. */
function waitForStop(ask: () => void): void {
  let before = performance.now()
  ask()
  for (let now = performance.now(); now - before < STOP_MS_MIN; now = performance.now()) before = now
}

/** Resolves when a thread is frozen at that place. */
export async function frozenAt(place: SharedArrayBuffer): Promise<void> {
  while (Atomics.load(new Int32Array(place), 0) !== FROZEN) await new Promise((resolve) => setTimeout(resolve, 5))
}

export function thaw(place: SharedArrayBuffer): void {
  const state = new Int32Array(place)
  Atomics.store(state, 0, THAWED)
  Atomics.notify(state, 0)
}
