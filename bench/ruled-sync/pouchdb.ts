/**
 * PouchDB as its users sync by user. One way is a database for each user, which somebody has to fill. The other is one database for
 * all, and a filter that the server asks about every document. Server: express-pouchdb in a process of its own, on LevelDB.
 */
import { join } from 'node:path'
import PouchDB from 'pouchdb'
import { startProcess, type ServerProcess } from '../../packages/server/testing/processes.ts'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import { check } from './first-sync.ts'
import { ANNA, idOf, membersOf, SMALL_PROJECTS, type World } from './world.ts'

/** A first sync, and how many documents were looked at for it. */
export interface PouchSync {
  readonly way: 'a database for each user' | 'a filter'
  readonly rows: number
  readonly allMs: number
  /** Milliseconds of the server's. */
  readonly processorMs: number
}

const DOCUMENTS_AT_ONCE = 1000
const BATCH = 1000
/** Runs at the server, for each document. */
const BY_PROJECTS = 'function (doc, request) { return request.query.projects.split(",").indexOf(doc.project) >= 0 }'

export async function pouchSyncs(world: World): Promise<PouchSync[]> {
  const folder = makeFolder('sync-pouchdb')
  const server = await startProcess('pouchdb-process.ts', [join(folder)])
  try {
    const anna = annasProjects()
    const isAnnas = (at: number): boolean => anna.has(idOf('proj', world.projectOf(at)))
    await fill(`${server.url}/anna`, world, isAnnas)
    await fill(`${server.url}/all`, world, () => true)
    await new PouchDB(`${server.url}/all`).put({ _id: '_design/by', filters: { projects: BY_PROJECTS } })
    const filter = { filter: 'by/projects', query_params: { projects: [...anna].join() } }
    return [
      await sync(server, 'a database for each user', join(folder, 'one'), world, {}),
      await sync(server, 'a filter', join(folder, 'two'), world, filter),
    ]
  } finally {
    await server.close()
    removeFolder(folder)
  }
}

function annasProjects(): ReadonlySet<string> {
  const anna = idOf('user', ANNA)
  const projects = Array.from({ length: SMALL_PROJECTS + 1 }, (_, at) => at)
  return new Set(projects.filter((at) => membersOf(at).includes(anna)).map((at) => idOf('proj', at)))
}

async function fill(url: string, world: World, isWanted: (task: number) => boolean): Promise<void> {
  const database = new PouchDB(url)
  let some: { _id: string }[] = []
  for (let at = 0; at < world.tasks; at++) {
    if (isWanted(at)) {
      const { id, ...task } = world.task(at)
      some.push({ _id: id as string, ...task })
    }
    if (some.length < DOCUMENTS_AT_ONCE && at < world.tasks - 1) continue
    await database.bulkDocs(some)
    some = []
  }
  await database.close()
}

async function sync(
  server: ServerProcess,
  way: PouchSync['way'],
  file: string,
  world: World,
  options: object,
): Promise<PouchSync> {
  const local = new PouchDB(file)
  const before = await server.cpuMs()
  const started = performance.now()
  const remote = `${server.url}/${way === 'a filter' ? 'all' : 'anna'}`
  await local.replicate.from(remote, { batch_size: BATCH, ...options })
  const allMs = performance.now() - started
  const processorMs = (await server.cpuMs()) - before
  const { doc_count: rows } = await local.info()
  check(rows, world.visibleToAnna)
  await local.close()
  return { way, rows, allMs, processorMs }
}
