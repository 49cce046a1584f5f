/**
 * The threads that hash passwords and read files yield to the one that answers: while many log in at once, lists do not
 * wait for a processor. Linux only: elsewhere a thread has no priority of its own.
 */
import { readdir, readFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'

const TASKS = '/proc/self/task'
/** The name that libuv gives the threads of its pool, which all of a process share. */
const POOL_THREAD = 'libuv-worker'
/** Added to what `nice` has set: a tenth of what the answering thread gets, where both want all of a processor. */
const CALM = 10
const CALM_MAX = 19

/** Once for a process. */
export async function calmThreads(): Promise<void> {
  if (process.platform !== 'linux') return
  const priority = Math.min(getPriority() + CALM, CALM_MAX)
  // Reading the folder begins the threads.
  for (const task of await readdir(TASKS).catch(() => [])) {
    const name = await readFile(`${TASKS}/${task}/comm`, 'utf8').catch(() => '')
    if (name.trim() !== POOL_THREAD) continue
    try {
      setPriority(Number(task), priority)
    } catch {
      // A sandbox may forbid it: the server is as it was.
    }
  }
}
