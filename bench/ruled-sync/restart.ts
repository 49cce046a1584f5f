/** A server that starts again: all clients open their streams and pull, at once. */
import { cpSync } from 'node:fs'
import { freePort, makeFolder, removeFolder } from '../../tools/processes.ts'
import { serve, type Program } from '../pocketbase/servers.ts'
import { check } from './first-sync.ts'
import { superuser } from './fill.ts'
import { tokensOf } from './live.ts'
import { BareReplica } from './replica.ts'
import { Sessions } from './sessions.ts'
import { idOf, MEMBERS, type World } from './world.ts'

export interface Restart {
  readonly clients: number
  /** From the first answer of the server until all clients have what was written meanwhile. */
  readonly allMs: number
  readonly processorMs: number
  /** Bytes of the server's memory then. */
  readonly memory: number
}

/** The number of clients at once. Each client opens connections of its own. */
const AT_ONCE = 200
const CHANGED_PROJECTS = 100

export async function restart(program: Program, folder: string, world: World, clients: number): Promise<Restart> {
  const dir = makeFolder('sync-restart')
  cpSync(folder, dir, { recursive: true })
  const port = await freePort()
  let server = await serve(program, dir, port)
  try {
    const tokens = await tokensOf(server, clients)
    const replicas = tokens.map((token) => new Replicated(server.url, token))
    const changed = Math.min(CHANGED_PROJECTS, clients / MEMBERS)
    check(await inParallel(replicas, (replica) => replica.pull()), clients * world.visibleToUser)
    const client = await superuser(server)
    for (let project = 0; project < changed; project++) {
      const path = `/api/collections/tasks/records/${idOf('task', project)}`
      await client.ask({ method: 'PATCH', path, body: { title: 'changed before the restart' } })
    }
    client.close()
    await server.stop()
    server = await serve(program, dir, port)
    const sessions = new Sessions(server.url, program.name)
    const started = performance.now()
    const rows = await inParallel(replicas, async (replica, user) => {
      await sessions.open(user, tokens[user]!)
      return replica.pull()
    })
    const allMs = performance.now() - started
    check(rows, changed * MEMBERS)
    check(sessions.lost, 0)
    const figures = { clients, allMs, processorMs: server.processorMs(), memory: server.memory().now }
    sessions.close()
    return figures
  } finally {
    await server.stop()
    removeFolder(dir)
  }
}

/** The state that a client keeps when its connection ends. */
class Replicated {
  readonly #url: URL
  readonly #session: string
  #token: string | null = null

  constructor(url: string, session: string) {
    this.#url = new URL(url)
    this.#session = session
  }

  async pull(): Promise<number> {
    const replica = new BareReplica(this.#url, this.#session)
    replica.token = this.#token
    const { rows } = await replica.pull()
    this.#token = replica.token
    replica.close()
    return rows
  }
}

async function inParallel<T>(all: readonly T[], run: (one: T, at: number) => Promise<number>): Promise<number> {
  let next = 0
  let sum = 0
  const work = async (): Promise<void> => {
    while (next < all.length) {
      const at = next++
      const rows = await run(all[at]!, at)
      sum += rows
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return sum
}
