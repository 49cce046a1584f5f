/** The first sync of an account that sees a tenth of the tasks: what the server hands out, and what the client takes in. */
import { run, makeFolder, removeFolder } from '../../tools/processes.ts'
import { join } from 'node:path'
import { serveCopy, type Program, type Server } from '../pocketbase/servers.ts'
import { superuser, tokenOf } from './fill.ts'
import { BareReplica } from './replica.ts'
import { ANNA, ANNAS_PASSWORD, idOf, type World } from './world.ts'

/** The figures of a first sync, in milliseconds. */
export interface FirstSync {
  /** The index of a collection that was never synced is built by the first pull of all. */
  readonly indexMs: number
  /** The rows that the server hands out, to a reader that keeps nothing. */
  readonly server: {
    readonly rows: number
    readonly pages: number
    readonly firstMs: number
    readonly allMs: number
    readonly processorMs: number
  }
  readonly client: ClientSync
  /** Rows that came twice to a client that was killed at half, and started again. */
  readonly twice: number
}

interface ClientSync {
  /** Records that an earlier process has left. */
  readonly kept: number
  readonly received: number
  readonly records: number
  readonly firstMs: number
  readonly allMs: number
  readonly processorMs: number
}

const CLIENT = join(import.meta.dirname, 'client-process.ts')

export async function firstSync(program: Program, folder: string, world: World): Promise<FirstSync> {
  const server = await serveCopy(program, folder)
  try {
    const client = await superuser(server)
    const body = { password: ANNAS_PASSWORD, passwordConfirm: ANNAS_PASSWORD }
    await client.ask({ method: 'PATCH', path: `/api/collections/users/records/${idOf('user', ANNA)}`, body })
    const token = await tokenOf(client, ANNA)
    client.close()
    const { firstMs: indexMs } = await drain(server, token, 1)
    // Code that never ran does not count: a server has run.
    await drain(server, token)
    const before = server.processorMs()
    const handedOut = await drain(server, token)
    const processorMs = server.processorMs() - before
    check(handedOut.rows, world.visibleToAnna)
    const taken = await inClient(server, 0)
    check(taken.records, world.visibleToAnna)
    return { indexMs, server: { ...handedOut, processorMs }, client: taken, twice: await rowsTwice(server, taken) }
  } finally {
    await server.stop()
  }
}

async function drain({ url }: Server, token: string, pagesMax?: number): ReturnType<BareReplica['pull']> {
  const replica = new BareReplica(new URL(url), token)
  const pulled = await replica.pull(pagesMax)
  replica.close()
  return pulled
}

/** `whole`: a sync that nothing has stopped. */
async function rowsTwice(server: Server, whole: ClientSync): Promise<number> {
  const folder = makeFolder('sync-client')
  await inClient(server, whole.records / 2, folder).catch(() => {})
  const rest = await inClient(server, 0, folder)
  removeFolder(folder)
  check(rest.records, whole.records)
  const twice = rest.kept + rest.received - whole.received
  if (twice > 0.1 * whole.records) throw new Error(`It did not continue: ${twice} rows came again.`)
  return twice
}

async function inClient(
  { url }: Server,
  rowsMax: number,
  folder: string = makeFolder('sync-client'),
): Promise<ClientSync> {
  const { code, output } = await run(process.execPath, [CLIENT, url, folder, String(rowsMax)])
  if (code !== 0) throw new Error(`The client has ended with ${code}: ${output}`)
  return JSON.parse(output.trim().split('\n').at(-1)!) as ClientSync
}

export function check(got: number, wanted: number): void {
  if (got !== wanted) throw new Error(`Wrong answer: ${wanted} records were to come, got ${got}.`)
}
