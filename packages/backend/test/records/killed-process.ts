/** Batches and cascades without a pause, in a process that is killed: `killed-process.ts FILE FIRST`. It sends what is acknowledged. */
import { open } from 'pannier'
import { Definitions } from '../../src/definitions/definitions.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { ADMIN, worldOf } from './world.ts'
import { KILLED_COLLECTIONS, TASKS_OF_TEAM, teamId } from './killed-collections.ts'

const [, , file = '', first = '0'] = process.argv
const database = await open(file)
const definitions = await Definitions.open(database)
for (const collection of KILLED_COLLECTIONS)
  if (definitions.find(collection.name) === undefined) await definitions.create(SYSTEM, collection)
const { writes } = worldOf(database, definitions)
/** Resolves when it is on its way: what waits in this process is lost with it. */
const tell = (message: object): Promise<unknown> => new Promise((resolve) => process.send!(message, resolve))

for (let n = Number(first); ; n++) {
  const team = teamId(n)
  const create = (collection: string, input: object) => ({
    action: 'create' as const,
    collection,
    input: { ...input },
    request: ADMIN.request,
  })
  const tasks = Array.from({ length: TASKS_OF_TEAM }, (_, task) => create('tasks', { team, name: `${n} ${task}` }))
  await writes.batch(SYSTEM, [create('teams', { id: team }), ...tasks], { workMsMax: 60_000 })
  await tell({ made: team })
  if (n % 2 === 0) continue
  await writes.delete(ADMIN, 'teams', team)
  await tell({ deleted: team })
}
