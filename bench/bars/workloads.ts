/**
 * The workloads as data: what each does with a contender, what it measures, and the answer that a contender must give
 * before its time counts. Phases group workloads by process. Each phase runs in a fresh browser or Node process, on the
 * files that the phase before has left.
 */
import type { Contender } from './contenders/contender.ts'
import {
  changePerson,
  checksum,
  makeId,
  makePeople,
  makePerson,
  sampleIds,
  someAges,
  someCity,
  someCountry,
} from '../documents.ts'
import { otherCity } from '../documents.ts'
import type { DataSet, Person } from '../documents.ts'
import { mean, median, quantile, time, timeEach, timeSustained, timeWarm } from '../measure.ts'

const PUTS = 1_000
const GETS = 1_000
const SUSTAINED_WRITES = 5_000
const PAGE_LIMIT = 20
const JSON_PAGE_BYTES = 30 * 1024
/** Documents; a little below Pannier's bounds of 1 MiB and 2,500 records, so that nothing empties the log. */
const LOG_TAIL = 2250

export interface Context {
  readonly contender: Contender
  readonly set: DataSet
  readonly place: string
}

export interface Outcome {
  /** The times in milliseconds by metric (bars.ts lists them). */
  readonly times: Readonly<Record<string, number>>
  /** Equal for all contenders, or none of it counts. */
  readonly answer: string
}

export interface Workload {
  readonly name: string
  /** Work that is neither timed nor profiled. */
  prepare?(context: Context): Promise<void>
  run(context: Context): Promise<Outcome>
}

export interface Phase {
  readonly name: string
  /** The secondary indexes are there from the start. */
  readonly indexed: boolean
  /** Ends with the death of the process rather than with `close()`. */
  readonly killed?: boolean
  readonly workloads: readonly Workload[]
}

/** Numbers of the documents that each workload adds. */
const extra = { puts: 0, inserts: PUTS, log: PUTS + SUSTAINED_WRITES } as const

/** Only between the two steps of `bulkInsert`: nothing else is measured with so much garbage to be. */
let peopleToInsert: readonly Person[] = []

const bulkInsert: Workload = {
  name: 'bulkInsert',
  async prepare({ contender, set, place }) {
    peopleToInsert = makePeople(set, 0, set.documents)
    await contender.open(place, false)
  },
  async run({ contender }) {
    const { milliseconds } = await time(() => contender.insertMany(peopleToInsert))
    peopleToInsert = []
    return { times: { bulkInsert: milliseconds }, answer: String(await contender.count()) }
  },
}

const buildIndexes: Workload = {
  name: 'buildIndexes',
  async run({ contender }) {
    const { milliseconds } = await time(() => contender.buildIndexes())
    return {
      times: { buildIndexes: milliseconds },
      answer: String(await contender.countAges(someAges.gte, someAges.lt)),
    }
  },
}

const widenIndex: Workload = {
  name: 'widenIndex',
  async run({ contender }) {
    const { milliseconds } = await time(() => contender.widenIndex?.())
    return {
      times: contender.widenIndex === undefined ? {} : { widenIndex: milliseconds },
      answer: String(await contender.countCity(someCity)),
    }
  },
}

const count = warm('count', ({ contender }) => contender.count(), String)
const rangeCount = provenCount('rangeCount', ({ contender }) => contender.countAges(someAges.gte, someAges.lt), {
  age: [someAges.gte, someAges.lt],
})
const valueCount = provenCount('valueCount', ({ contender }) => contender.countCity(someCity), { city: someCity })
const filter = warm('filter', ({ contender }) => contender.findByCountry(someCountry), idsOf)
const skipById = warm('skipById', ({ contender, set }) => contender.pageById(set.documents * 0.9, PAGE_LIMIT), idsOf)

/** The comparison for a filter without an index: pages of JSON in memory, as full as Pannier's, each read and parsed. */
const parseAll: Workload = {
  name: 'parseAll',
  async run({ set }) {
    const pages: Uint8Array[] = []
    let text = ''
    for (let at = 0; at < set.documents; at++) {
      text += `${text === '' ? '[' : ','}${JSON.stringify(makePerson(set, at))}`
      if (text.length < JSON_PAGE_BYTES && at < set.documents - 1) continue
      pages.push(new TextEncoder().encode(`${text}]`))
      text = ''
    }
    const { milliseconds, result } = await timeWarm(() => {
      let found = 0
      for (const page of pages)
        for (const person of JSON.parse(new TextDecoder().decode(page)) as Person[])
          if (person.country === someCountry) found++
      return found
    })
    return { times: { parseAll: milliseconds }, answer: String(result) }
  },
}

/** Ties may come in any order, so only the ages are compared. */
const skipByAge = warm(
  'skipByAge',
  ({ contender, set }) => contender.pageByAge(set.documents * 0.9, PAGE_LIMIT),
  (people) => checksum(people.map((person) => String(person.age))),
)
const findWarm = warm('findWarm', ({ contender }) => contender.findByCity(someCity), idsOf)
const coveredWarm = warm('coveredWarm', ({ contender }) => contender.findScoresByCity(someCity), scoresOf)

const cachedGet: Workload = {
  name: 'cachedGet',
  async run({ contender, set }) {
    const ids = sampleIds(set, GETS, 1)
    const round = async (): Promise<string[]> => {
      const found: string[] = []
      for (const id of ids) found.push((await contender.get(id))!.email)
      return found
    }
    const { milliseconds, result } = await timeWarm(round)
    return { times: { cachedGet: milliseconds / GETS }, answer: checksum(result) }
  },
}

const puts: Workload = {
  name: 'puts',
  async run({ contender, set }) {
    const people = extraPeople(set, extra.puts, PUTS)
    const times = await timeEach(PUTS, (turn) => contender.insert(people[turn]!))
    return { times: { put: median(times), putP99: quantile(times, 0.99) }, answer: String(await contender.count()) }
  },
}

const openAndGet: Workload = {
  name: 'openAndGet',
  async run(context) {
    const { milliseconds, result } = await time(() => openAndGetOne(context))
    return { times: { coldOpen: milliseconds }, answer: checksum([result.email]) }
  },
}

const coldGets: Workload = {
  name: 'coldGets',
  async run({ contender, set }) {
    const ids = sampleIds(set, GETS, 2)
    const found: string[] = []
    const times = await timeEach(GETS, async (turn) => {
      found.push((await contender.get(ids[turn]!))!.email)
    })
    return { times: { coldGet: median(times), coldGetMean: mean(times) }, answer: checksum(found) }
  },
}

const findCold: Workload = {
  name: 'findCold',
  async run({ contender, place }) {
    await contender.open(place, true)
    const { milliseconds, result } = await time(() => contender.findByCity(otherCity))
    return { times: { findCold: milliseconds }, answer: idsOf(result) }
  },
}

const coveredCold: Workload = {
  name: 'coveredCold',
  async run({ contender, place }) {
    await contender.open(place, true)
    const { milliseconds, result } = await time(() => contender.findScoresByCity(otherCity))
    return { times: { coveredCold: milliseconds }, answer: scoresOf(result) }
  },
}

const inserts: Workload = {
  name: 'inserts',
  async run({ contender, set }) {
    const people = extraPeople(set, extra.inserts, SUSTAINED_WRITES)
    const sustained = await timeSustained(SUSTAINED_WRITES, (turn) => contender.insert(people[turn]!))
    return {
      times: {
        inserts: sustained.milliseconds,
        insertsLongest: sustained.longestOperation,
        insertsStall: sustained.longestStall,
      },
      answer: `${await contender.count()} ${await contender.countAges(someAges.gte, someAges.lt)}`,
    }
  },
}

const updates: Workload = {
  name: 'updates',
  async run({ contender, set }) {
    const ids = sampleIds(set, SUSTAINED_WRITES, 3)
    const sustained = await timeSustained(SUSTAINED_WRITES, (turn) =>
      contender.rewrite(ids[turn]!, (person) => changePerson(person, turn)),
    )
    const changed: string[] = []
    for (const id of ids.slice(0, 50)) changed.push(JSON.stringify(changeable((await contender.get(id))!)))
    return {
      times: {
        updates: sustained.milliseconds,
        updatesLongest: sustained.longestOperation,
        updatesStall: sustained.longestStall,
      },
      answer: `${await contender.countAges(someAges.gte, someAges.lt)} ${checksum(changed)}`,
    }
  },
}

/** Not part of any bar, but nothing may be hidden in it either. */
const closeAfterWrites: Workload = {
  name: 'closeAfterWrites',
  async run({ contender }) {
    const { milliseconds } = await time(() => contender.close())
    return { times: { closeAfterWrites: milliseconds }, answer: '' }
  },
}

const close: Workload = {
  name: 'close',
  async run({ contender }) {
    await contender.close()
    return { times: {}, answer: '' }
  },
}

const fillLog: Workload = {
  name: 'fillLog',
  async run({ contender, set, place }) {
    await contender.open(place, true)
    await contender.emptyLog?.()
    for (const person of extraPeople(set, extra.log, LOG_TAIL)) await contender.insert(person)
    return { times: {}, answer: String(await contender.count()) }
  },
}

const openFullLog: Workload = {
  name: 'openFullLog',
  async run(context) {
    const { milliseconds, result } = await time(() => openAndGetOne(context))
    const answer = `${checksum([result.email])} ${await context.contender.count()}`
    return { times: { openFullLog: milliseconds }, answer }
  },
}

export const phases: readonly Phase[] = [
  {
    name: 'load',
    indexed: false,
    workloads: [
      bulkInsert,
      count,
      filter,
      parseAll,
      skipById,
      cachedGet,
      puts,
      buildIndexes,
      widenIndex,
      rangeCount,
      valueCount,
      skipByAge,
      findWarm,
      coveredWarm,
      close,
    ],
  },
  { name: 'open', indexed: true, workloads: [openAndGet, coldGets, close] },
  { name: 'find', indexed: true, workloads: [findCold, close] },
  { name: 'write', indexed: true, killed: true, workloads: [coveredCold, inserts, updates, closeAfterWrites, fillLog] },
  { name: 'reopen', indexed: true, workloads: [openFullLog, close] },
]

async function openAndGetOne({ contender, set, place }: Context): Promise<Person> {
  await contender.open(place, true)
  return (await contender.get(makeId(set, 1)))!
}

/** A read, run several times; the median counts. */
function warm<T>(name: string, run: (context: Context) => T | Promise<T>, describe: (result: T) => string): Workload {
  return {
    name,
    async run(context) {
      const { milliseconds, result } = await timeWarm(() => run(context))
      return { times: { [name]: milliseconds }, answer: describe(result) }
    },
  }
}

/** A count that an index answers. A contender that can tell must know it without a walk. */
function provenCount(
  name: string,
  run: (context: Context) => number | Promise<number>,
  query: Parameters<NonNullable<Contender['provenCount']>>[0],
): Workload {
  const { run: measure } = warm(name, run, String)
  return {
    name,
    async run(context) {
      const { contender } = context
      const outcome = await measure(context)
      const proven = (await contender.provenCount?.(query)) ?? (contender.provenCount && 'none')
      if (proven !== undefined && String(proven) !== outcome.answer)
        throw new Error(`${name} is not known without a walk`)
      return outcome
    },
  }
}

/** The fields that `changePerson` may have changed. */
function changeable({ _id, age, bio }: Person): unknown {
  return [_id, age, bio]
}

function extraPeople(set: DataSet, from: number, count: number): Person[] {
  return makePeople(set, set.documents + from, set.documents + from + count)
}

function idsOf(people: readonly Person[]): string {
  return checksum(people.map((person) => person._id + person.bio))
}

function scoresOf(rows: readonly { readonly city: string; readonly score: number }[]): string {
  return checksum(rows.map((row) => `${row.city} ${row.score}`))
}
