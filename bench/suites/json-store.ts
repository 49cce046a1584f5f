/**
 * The operations and sizes of IBM's report "JSONStore performance". Encrypted stores are contenders of their own
 * (`jsonstore-encrypted`, `pannier-encrypted`); their time to open includes the derivation of a key.
 */
import type { Suite, Workload } from './suite.ts'
import { cellOf, extraPeople, idsOf, keptIds, milliseconds, warmRead } from './suite.ts'
import { makeId, makePeople, someCity } from '../documents.ts'
import { time } from '../measure.ts'

/** The report's advice: chunks of 500 to 1,000. */
const CHUNK = 1_000
const SIZES_QUICK = [2_000]
const SIZES_FULL = [1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 100_000]

const add: Workload = {
  name: 'add',
  needs: ['insertMany', 'count'],
  metrics: [milliseconds('add', 'add, in chunks of 1,000')],
  stage: true,
  async run({ contender, cell }) {
    let spent = 0
    for (let from = 0; from < cell.documents; from += CHUNK) {
      const people = makePeople(cell, from, Math.min(from + CHUNK, cell.documents))
      spent += (await time(() => contender.insertMany(people))).milliseconds
    }
    return { values: { add: spent }, answer: String(await contender.count()) }
  },
}

const index: Workload = {
  name: 'searchFields',
  needs: ['buildIndexes'],
  metrics: [],
  stage: true,
  async run({ contender }) {
    await contender.buildIndexes()
    return { values: {}, answer: '' }
  },
}

const remove: Workload = {
  name: 'remove',
  needs: ['delete', 'count'],
  metrics: [milliseconds('remove', 'remove one')],
  async run({ contender, cell }) {
    const { milliseconds: value } = await time(() => contender.delete(makeId(cell, 0)))
    return { values: { remove: value }, answer: String(await contender.count()) }
  },
}

const replace: Workload = {
  name: 'replace',
  needs: ['update', 'get'],
  metrics: [milliseconds('replace', 'replace one')],
  async run({ contender, cell }) {
    const [id] = keptIds(cell, 1, 1)
    const [{ _id, ...fields } = { _id: '' }] = extraPeople(cell, 0, 1)
    const { milliseconds: value } = await time(() => contender.update(id!, fields))
    return { values: { replace: value }, answer: (await contender.get(id!))?.email ?? 'missing' }
  },
}

const init: Workload = {
  name: 'init',
  needs: ['keep'],
  metrics: [milliseconds('init', 'init')],
  opens: true,
  async run({ contender, place }) {
    const { milliseconds: value } = await time(() => contender.open(place, true))
    return { values: { init: value }, answer: '' }
  },
}

const destroy: Workload = {
  name: 'destroy',
  needs: ['keep', 'destroy'],
  metrics: [milliseconds('closeAll', 'closeAll'), milliseconds('destroy', 'destroy')],
  after: 'init',
  async run({ contender, place }) {
    const { milliseconds: closing } = await time(() => contender.close())
    const { milliseconds: destroying } = await time(() => contender.destroy(place))
    // The phase closes what it has opened.
    await contender.open(place, false)
    return { values: { closeAll: closing, destroy: destroying }, answer: '' }
  },
}

export const jsonStoreSuite: Suite = {
  name: 'json-store',
  title: 'JSONStore performance (IBM, 2014)',
  source: 'add 2,000 to 8,000; find by query, by id, count, remove, replace at 1,000 to 100,000',
  phases: [
    {
      name: 'load',
      indexed: false,
      workloads: [
        add,
        index,
        warmRead(
          milliseconds('findByQuery', 'find by query'),
          ['findByCity'],
          ({ contender }) => contender.findByCity(someCity),
          idsOf,
        ),
        warmRead(
          milliseconds('findById', 'find by id'),
          ['get'],
          ({ contender, cell }) => contender.get(keptIds(cell, 1, 2)[0]!),
          (person) => person?.email ?? 'missing',
        ),
        warmRead(milliseconds('countAll', 'count'), ['count'], ({ contender }) => contender.count(), String),
        remove,
        replace,
      ],
    },
    { name: 'open', indexed: true, workloads: [init, destroy] },
  ],
  left: [],
  cells: ({ full, seed }) => (full ? SIZES_FULL : SIZES_QUICK).map((size) => cellOf(size, seed)),
}
