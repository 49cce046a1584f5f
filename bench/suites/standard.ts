/** The standard workloads of the lab. */
import type { Context, Phase, Suite, Workload } from './suite.ts'
import { cellOf, extraPeople, idsOf, keptIds, milliseconds, warmRead } from './suite.ts'
import { checksum, makeId, makePeople, otherCity, someAges, someCity, someCountry } from '../documents.ts'
import type { Person } from '../documents.ts'
import { median, quantile, time, timeEach } from '../measure.ts'

const GETS = 200
const WRITES = 200
const WRITES_AT_ONCE = 100
const DELETES = 50
const DELETED_SHARE = 0.1
const MIXED_OPERATIONS = 500
const PAGE_LIMIT = 20
const SKIPPED_SHARE = 0.9
const REPLICATED_MAX = 10_000

/** Numbers of the documents that each workload adds. */
const extra = { single: 0, together: WRITES, mixed: WRITES + WRITES_AT_ONCE } as const

/** Only between the two steps of `bulkInsert`: nothing else is measured with so much garbage to be. */
let peopleToInsert: readonly Person[] = []

const bulkInsert: Workload = {
  name: 'bulkInsert',
  needs: ['insertMany'],
  metrics: [milliseconds('bulkInsert', 'bulk insert')],
  stage: true,
  async prepare({ cell }) {
    peopleToInsert = makePeople(cell, 0, cell.documents)
  },
  async run({ contender }) {
    const { milliseconds: value } = await time(() => contender.insertMany(peopleToInsert))
    peopleToInsert = []
    return { values: { bulkInsert: value }, answer: idsOf(await contender.findByCountry(someCountry)) }
  },
}

const buildIndexes: Workload = {
  name: 'buildIndexes',
  needs: ['buildIndexes'],
  metrics: [milliseconds('buildIndexes', 'two indexes on existing data')],
  stage: true,
  async run({ contender }) {
    const { milliseconds: value } = await time(() => contender.buildIndexes())
    return { values: { buildIndexes: value }, answer: String(await contender.countAges(someAges.gte, someAges.lt)) }
  },
}

const durableWrite: Workload = {
  name: 'durableWrite',
  needs: ['insert', 'count'],
  metrics: [
    milliseconds('durableWrite', 'one awaited insert, p50'),
    milliseconds('durableWriteP99', 'one awaited insert, p99'),
  ],
  async run({ contender, cell }) {
    const people = extraPeople(cell, extra.single, WRITES)
    const times = await timeEach(WRITES, (turn) => contender.insert(people[turn]!))
    return {
      values: { durableWrite: median(times), durableWriteP99: quantile(times, 0.99) },
      answer: String(await contender.count()),
    }
  },
}

const concurrentWrites: Workload = {
  name: 'concurrentWrites',
  needs: ['insert', 'count'],
  metrics: [milliseconds('concurrentWrites', `${WRITES_AT_ONCE} inserts issued together`)],
  async run({ contender, cell }) {
    const people = extraPeople(cell, extra.together, WRITES_AT_ONCE)
    const { milliseconds: value } = await time(() =>
      Promise.all(people.map(async (person) => contender.insert(person))),
    )
    return { values: { concurrentWrites: value }, answer: String(await contender.count()) }
  },
}

const update: Workload = {
  name: 'update',
  needs: ['update', 'get'],
  metrics: [milliseconds('update', 'one awaited update, p50')],
  async run({ contender, cell }) {
    const ids = keptIds(cell, WRITES, 3)
    const times = await timeEach(WRITES, (turn) =>
      contender.update(ids[turn]!, { age: 18 + turn, name: `New ${turn}` }),
    )
    const changed: string[] = []
    for (const id of ids) changed.push(await describe(contender.get(id)))
    return { values: { update: median(times) }, answer: checksum(changed) }
  },
}

const deleteOne: Workload = {
  name: 'deleteOne',
  needs: ['delete', 'count'],
  metrics: [milliseconds('deleteOne', 'one awaited delete, p50')],
  async run({ contender, cell }) {
    const times = await timeEach(DELETES, (turn) => contender.delete(makeId(cell, turn)))
    return { values: { deleteOne: median(times) }, answer: String(await contender.count()) }
  },
}

const deleteMany: Workload = {
  name: 'deleteMany',
  needs: ['deleteMany', 'count'],
  metrics: [milliseconds('deleteMany', 'delete 10% at once')],
  async run({ contender, cell }) {
    const count = Math.floor(cell.documents * DELETED_SHARE)
    const ids = Array.from({ length: count }, (_, i) => makeId(cell, DELETES + i))
    const { milliseconds: value } = await time(() => contender.deleteMany(ids))
    return { values: { deleteMany: value }, answer: String(await contender.count()) }
  },
}

const mixed: Workload = {
  name: 'mixed',
  needs: ['get', 'update', 'insert', 'count'],
  metrics: [milliseconds('mixed', `${MIXED_OPERATIONS} operations: 70% get, 20% update, 10% insert`)],
  async run({ contender, cell }) {
    const ids = keptIds(cell, MIXED_OPERATIONS, 5)
    const people = extraPeople(cell, extra.mixed, MIXED_OPERATIONS / 10)
    const found: string[] = []
    const operation = async (turn: number): Promise<void> => {
      const kind = turn % 10
      if (kind === 0) await contender.insert(people[turn / 10]!)
      else if (kind <= 2) await contender.update(ids[turn]!, { name: `Mixed ${turn}` })
      else found.push((await contender.get(ids[turn]!))?.email ?? 'missing')
    }
    const { milliseconds: value } = await time(() => timeEach(MIXED_OPERATIONS, operation))
    return { values: { mixed: value }, answer: `${checksum(found)} ${await contender.count()}` }
  },
}

const memoryAfterLoad: Workload = {
  name: 'memoryAfterLoad',
  needs: ['insertMany'],
  metrics: [{ name: 'memoryAfterLoad', title: 'memory after load', unit: 'bytes' }],
  async run() {
    const bytes = memoryBytes()
    return { values: bytes === undefined ? {} : { memoryAfterLoad: bytes }, answer: '' }
  },
}

const coldOpen: Workload = {
  name: 'coldOpen',
  needs: ['keep', 'get'],
  metrics: [milliseconds('coldOpen', 'open and first get, cold')],
  opens: true,
  async run({ contender, cell, place }) {
    const [id] = keptIds(cell, 1, 7)
    const { milliseconds: value, result } = await time(async () => {
      await contender.open(place, true)
      return contender.get(id!)
    })
    return { values: { coldOpen: value }, answer: await describe(result) }
  },
}

const getCold: Workload = {
  name: 'getCold',
  needs: ['keep', 'get'],
  metrics: [milliseconds('getCold', 'get by id, cold, mean')],
  async run(context) {
    const { milliseconds: value, result } = await time(() => getAll(context, keptIds(context.cell, GETS, 2)))
    return { values: { getCold: value / GETS }, answer: checksum(result) }
  },
}

const findIndexedCold: Workload = {
  name: 'findIndexedCold',
  needs: ['keep', 'findByCity'],
  metrics: [milliseconds('findIndexedCold', 'indexed find of 2%, cold')],
  async run({ contender }) {
    const { milliseconds: value, result } = await time(() => contender.findByCity(otherCity))
    return { values: { findIndexedCold: value }, answer: idsOf(result) }
  },
}

const dropStore: Workload = {
  name: 'dropStore',
  needs: ['keep', 'dropStore'],
  metrics: [milliseconds('dropStore', 'drop the store, close, open')],
  async run({ contender, place }) {
    const { milliseconds: value } = await time(async () => {
      await contender.dropStore()
      await contender.close()
      await contender.open(place, false)
    })
    return { values: { dropStore: value }, answer: String((await contender.findByCountry(someCountry)).length) }
  },
}

const dropDatabase: Workload = {
  name: 'dropDatabase',
  needs: ['keep', 'destroy', 'insertMany'],
  metrics: [milliseconds('dropDatabase', 'close, drop the database, open')],
  async prepare({ contender, cell }) {
    await contender.insertMany(makePeople(cell, 0, cell.documents))
  },
  async run({ contender, place }) {
    const { milliseconds: value } = await time(async () => {
      await contender.close()
      await contender.destroy(place)
      await contender.open(place, false)
    })
    return { values: { dropDatabase: value }, answer: String((await contender.findByCountry(someCountry)).length) }
  },
}

const replicate: Workload = {
  name: 'replicate',
  needs: ['keep', 'replicas'],
  metrics: [
    milliseconds('replicate', `replicate all (at most ${REPLICATED_MAX.toLocaleString('en-US')}) to a new database`),
  ],
  async prepare({ contender, cell, place }) {
    await contender.replicas!.fill(`${place}-source`, makePeople(cell, 0, Math.min(cell.documents, REPLICATED_MAX)))
  },
  async run({ contender, place }) {
    const { replicas } = contender
    const { milliseconds: value } = await time(() => replicas!.copy(`${place}-source`, `${place}-replica`))
    const copied = await replicas!.take(`${place}-replica`)
    await replicas!.take(`${place}-source`)
    return { values: { replicate: value }, answer: idsOf(copied) }
  },
}

const getWarm = warmRead(
  milliseconds('getWarm', `${GETS} gets by id, warm`),
  ['get'],
  (context) => getAll(context, keptIds(context.cell, GETS, 1)),
  checksum,
)
const count = warmRead(milliseconds('count', 'count all'), ['count'], ({ contender }) => contender.count(), String)
const rangeCount = warmRead(
  milliseconds('rangeCount', 'count of an index range'),
  ['countAges'],
  ({ contender }) => contender.countAges(someAges.gte, someAges.lt),
  String,
)
const findUnindexed = warmRead(
  milliseconds('findUnindexed', 'find of 1% without an index'),
  ['findByCountry'],
  ({ contender }) => contender.findByCountry(someCountry),
  idsOf,
)
const findIndexedWarm = warmRead(
  milliseconds('findIndexedWarm', 'indexed find of 2%, warm'),
  ['findByCity'],
  ({ contender }) => contender.findByCity(someCity),
  idsOf,
)
const deepSkip = warmRead(
  milliseconds('deepSkip', 'skip 90%, take 20'),
  ['pageById'],
  ({ contender, cell }) => contender.pageById(Math.floor(cell.documents * SKIPPED_SHARE), PAGE_LIMIT),
  idsOf,
)

const phases: readonly Phase[] = [
  {
    name: 'load',
    indexed: false,
    workloads: [
      bulkInsert,
      memoryAfterLoad,
      count,
      findUnindexed,
      deepSkip,
      getWarm,
      durableWrite,
      buildIndexes,
      rangeCount,
      findIndexedWarm,
      concurrentWrites,
      update,
      deleteOne,
      deleteMany,
      mixed,
    ],
  },
  { name: 'open', indexed: true, workloads: [coldOpen, getCold] },
  { name: 'find', indexed: true, workloads: [findIndexedCold, dropStore, dropDatabase, replicate] },
]

export const standardSuite: Suite = {
  name: 'standard',
  title: 'Workloads of the lab',
  source: 'bench/suites/standard.ts',
  phases,
  left: [],
  cells: ({ documents, seed }) => documents.map((size) => cellOf(size, seed)),
}

async function getAll({ contender }: Context, ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const id of ids) found.push((await contender.get(id))?.email ?? 'missing')
  return found
}

/** The fields that no contender may lose or change. */
async function describe(promised: Person | undefined | Promise<Person | undefined>): Promise<string> {
  const person = await promised
  return person === undefined ? 'missing' : JSON.stringify([person._id, person.name, person.age, person.tags])
}

/** The memory in bytes: Node reports it, Chromium in coarse steps, others not at all. */
function memoryBytes(): number | undefined {
  if (typeof process === 'object') return process.memoryUsage().rss
  return (performance as { readonly memory?: { readonly usedJSHeapSize: number } }).memory?.usedJSHeapSize
}
