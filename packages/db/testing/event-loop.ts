/**
 * Says when a process has nothing left to do. In Node this is exact for all that the process does by itself: files, cryptography,
 * compression, and sockets that have both ends in it. Other processes and threads, and sockets to them, do not count.
 *
 * Relies on: a pool of one thread (`UV_THREADPOOL_SIZE=1`), where a job is done when all that came before it are done.
 */
import type * as hooks from 'node:async_hooks'
import type * as files from 'node:fs'

/** The number of turns without a call from Node that are idleness: what one socket writes, another reads in the next turn. */
const QUIET_TURNS = 4
/** Requests that Node waits for, among its active resources: files, look-ups of names, connections. */
const REQUEST = /Req/

interface NodeProcess {
  getActiveResourcesInfo(): string[]
  getBuiltinModule(name: 'node:async_hooks'): typeof hooks
  getBuiltinModule(name: 'node:fs'): typeof files
}

const node = (globalThis as { readonly process?: Partial<NodeProcess> }).process

/** Resolves when nothing is left to do. `turn`: a turn of the event loop. In pages turns alone count. */
export async function quietLoop(turn: () => Promise<void>): Promise<void> {
  if (node?.getBuiltinModule === undefined) {
    for (let turns = 0; turns < QUIET_TURNS; turns++) await turn()
    return
  }
  const { getActiveResourcesInfo, getBuiltinModule } = node as NodeProcess
  const { createHook, executionAsyncResource } = getBuiltinModule('node:async_hooks')
  const { access } = getBuiltinModule('node:fs')
  let calls = 0
  const before = (): void => {
    // The continuation of a promise runs within a turn.
    if (!(executionAsyncResource() instanceof Promise)) calls++
  }
  const hook = createHook({ before, trackPromises: false }).enable()
  try {
    for (let quiet = 0; quiet < QUIET_TURNS;) {
      calls = 0
      await turn()
      const waits = getActiveResourcesInfo().some((name) => REQUEST.test(name))
      await new Promise<void>((resolve) => access('.', () => resolve()))
      quiet = waits || calls > OWN_CALLS ? 0 : quiet + 1
    }
  } finally {
    hook.disable()
  }
}

/** The calls that the turn and the job in the pool make. */
const OWN_CALLS = 2
