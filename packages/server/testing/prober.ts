/**
 * Asks a server again and again: `GET /`, and the write of a small document. It is a thread of its own, so other work of its process is not in
 * the figures. It says 'ready' once it is known to the server; the parent says 'stop', and gets how long each took.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { setTimeout as sleep } from 'node:timers/promises'
import { LeanClient } from './lean-client.ts'

export interface ProberData {
  readonly url: string
  /** The name of the database that is written to. */
  readonly database: string
  /** Its documents begin with it: another prober of the database has another. */
  readonly prefix: string
  readonly authorization: string
}

/** Milliseconds of each request; `failures`: those that were answered with something else, or not at all. */
export interface Probes {
  readonly reads: number[]
  readonly writes: number[]
  readonly failures: string[]
}

const PAUSE_MS = 20

const { url, database, prefix, authorization } = workerData as ProberData
const probes: Probes = { reads: [], writes: [], failures: [] }
const state = { ended: false }
parentPort!.once('message', () => (state.ended = true))

const first = new LeanClient(url)
await first.get('/', authorization)
first.close()
parentPort!.postMessage('ready')
await Promise.all([
  probe(probes.reads, 200, (client) => client.get('/', authorization)),
  probe(probes.writes, 201, (client, n) => client.put(`/${database}/${prefix}-${n}`, authorization, '{"a":1}')),
])
parentPort!.postMessage(probes)

/** One after the other. */
async function probe(
  into: number[],
  expected: number,
  ask: (client: LeanClient, n: number) => Promise<number>,
): Promise<void> {
  let client = new LeanClient(url)
  for (let n = 0; !state.ended; n++) {
    const start = performance.now()
    try {
      const status = await ask(client, n)
      if (status !== expected) probes.failures.push(`answered ${status}`)
    } catch (error) {
      probes.failures.push((error as Error).message)
      client = new LeanClient(url)
    }
    into.push(performance.now() - start)
    await sleep(PAUSE_MS)
  }
  client.close()
}
