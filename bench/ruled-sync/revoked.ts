/** A project that is taken from its only member: what the commit costs, and how soon a replica has forgotten the tasks. */
import { median } from '../measure.ts'
import { serveCopy, type Program } from '../pocketbase/servers.ts'
import { check } from './first-sync.ts'
import { superuser, tokenOf } from './fill.ts'
import { BareReplica, type Pulled } from './replica.ts'
import { ANNA, BIG_PROJECT, idOf, type World } from './world.ts'

export interface Revoked {
  /** Milliseconds of an update of the project's name, and of the one that takes its member away. */
  readonly ordinaryMs: number
  readonly revokingMs: number
  readonly pull: Pulled
  /** The pull after the right was given back. */
  readonly again: Pulled
}

const UPDATES = 101

export async function revoked(program: Program, folder: string, world: World): Promise<Revoked> {
  const server = await serveCopy(program, folder)
  try {
    const client = await superuser(server)
    const anna = new BareReplica(new URL(server.url), await tokenOf(client, ANNA))
    check((await anna.pull()).rows, world.visibleToAnna)
    const path = `/api/collections/projects/records/${idOf('proj', BIG_PROJECT)}`
    const update = async (body: object): Promise<number> => {
      const started = performance.now()
      await client.ask({ method: 'PATCH', path, body })
      return performance.now() - started
    }
    const ordinary: number[] = []
    for (let at = 0; at < UPDATES; at++) ordinary.push(await update({ name: `name ${at}` }))
    // Twice, as code that never ran takes longer; the second time counts.
    let revokingMs = 0
    let [pull, again]: (Pulled | undefined)[] = []
    for (let round = 0; round < 2; round++) {
      revokingMs = await update({ members: [] })
      pull = await anna.pull()
      check(pull.rows, world.bigTasks)
      await update({ members: [idOf('user', ANNA)] })
      again = await anna.pull()
      check(again.rows, world.bigTasks)
    }
    anna.close()
    client.close()
    return { ordinaryMs: median(ordinary), revokingMs, pull: pull!, again: again! }
  } finally {
    await server.stop()
  }
}
