/** PocketBase's substitute for a first sync: all pages of a list, which a client asks for again after each change of its rights. */
import { serveCopy, type Program } from '../pocketbase/servers.ts'
import { check } from './first-sync.ts'
import { superuser, tokenOf } from './fill.ts'
import { ANNA, type World } from './world.ts'

export interface Listed {
  readonly rows: number
  readonly firstMs: number
  readonly allMs: number
  readonly processorMs: number
}

const PER_PAGE = 1000

/** Pages by id, as each of them would count what comes before it otherwise. */
export async function listAll(program: Program, folder: string, world: World): Promise<Listed> {
  const server = await serveCopy(program, folder)
  try {
    const client = await superuser(server)
    const token = await tokenOf(client, ANNA)
    const before = server.processorMs()
    const started = performance.now()
    let [rows, firstMs, last] = [0, 0, '']
    for (;;) {
      const query = new URLSearchParams({
        perPage: `${PER_PAGE}`,
        sort: 'id',
        skipTotal: '1',
        filter: `id > '${last}'`,
      })
      const answer = await client.ask({ path: `/api/collections/tasks/records?${query}`, token })
      const items = answer['items'] as readonly { readonly id: string }[]
      if (firstMs === 0) firstMs = performance.now() - started
      rows += items.length
      if (items.length < PER_PAGE) break
      last = items.at(-1)!.id
    }
    const figures = { rows, firstMs, allMs: performance.now() - started, processorMs: server.processorMs() - before }
    client.close()
    check(rows, world.visibleToAnna)
    return figures
  } finally {
    await server.stop()
  }
}
