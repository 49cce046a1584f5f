/** Measured figures of docs/internals/scale.md, with their bars. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { open } from 'pannier'
import { postgres } from '@pannier/postgres'
import { makeFolder, removeFolder, spawnTracked, stop } from '../../tools/processes.ts'
import { startProcess } from '../../packages/server/testing/processes.ts'
import { EMAIL, PASSWORD } from '../../packages/server/test/rest/rest-server.ts'
import { Serving } from '../../packages/server/test/servers/serving.ts'
import { formatNumber } from '../bars/table.ts'
import { makePeople, makePerson, sampleIds, type DataSet, type Person } from '../documents.ts'
import { median, quantile, time, timeEach, timeWarm } from '../measure.ts'
import { JsonbContender, PannierContender, type Contender } from './contenders.ts'
import { CouchContender } from './over-http.ts'

export interface World {
  readonly url: string
  /** For files of SQLite. */
  readonly folder: string
  readonly set: DataSet
  readonly repeats: number
}

export interface Figure {
  readonly what: string
  /** By contender, in `unit`. */
  readonly values: Readonly<Record<string, number>>
  readonly unit: string
  readonly bar: string
}

const BULK = 'bulk insert'
const WRITERS = 64
const SINGLE_WRITES = 150
const GROUPED_WRITES = 64 * 30
const COLD_GETS = 100
const NEWS = 200
const TURNS = 100

/** Statements and documents a statement. */
export async function costs({ url, set }: World): Promise<Figure[]> {
  const contender = await PannierContender.onPostgres(url, true)
  const { storage, people } = contender
  const quiet = async (work: () => Promise<unknown>): Promise<number> => {
    const before = storage.counts.statements
    await work()
    return storage.counts.statements - before
  }
  const persons = makePeople(set, 0, 1000 + GROUPED_WRITES)
  await contender.insertMany(persons.slice(0, 999))
  await people.get(persons[0]!._id)
  const reads = await quiet(() => people.get(persons[0]!._id))
  const writes = await quiet(() => writersOf(persons.slice(1000), (person) => contender.insert(person)))
  await contender.close()
  return [
    figure('statements of a cached read', { 'pannier, postgres': reads }, '', '0'),
    figure(`documents a statement, ${WRITERS} writers`, { 'pannier, postgres': GROUPED_WRITES / writes }, '', '>= 20'),
  ]
}

export async function writes(world: World): Promise<Figure[]> {
  const { url, folder, set, repeats } = world
  const single: Samples = {}
  const grouped: Samples = {}
  for (let repeat = 0; repeat < repeats; repeat++) {
    const contenders = [
      await PannierContender.onPostgres(url, true),
      await PannierContender.onSqlite(folder, true),
      await JsonbContender.open(url, WRITERS, true),
    ]
    for (const contender of contenders) {
      const people = makePeople(set, 0, 50 + SINGLE_WRITES + GROUPED_WRITES)
      for (const person of people.splice(0, 50)) await contender.insert(person)
      const some = people.splice(0, SINGLE_WRITES)
      note(single, contender, median(await timeEach(SINGLE_WRITES, (turn) => contender.insert(some[turn]!))))
      const { milliseconds } = await time(() => writersOf(people, (person) => contender.insert(person)))
      note(grouped, contender, (GROUPED_WRITES / milliseconds) * 1000)
    }
    for (const contender of contenders) await contender.close()
  }
  return [
    figure('one durable write', medians(single), 'ms', '<= 1.5x sqlite, <= 1.8x jsonb'),
    figure(`writes a second, ${WRITERS} writers`, medians(grouped), '', '>= 2x jsonb'),
  ]
}

export function questions(world: World): Promise<Figure[]> {
  const { url, folder } = world
  const makers = [
    () => PannierContender.onPostgres(url),
    () => PannierContender.onSqlite(folder),
    () => JsonbContender.open(url, 1),
  ]
  return compare(world, makers, (what) => (what === BULK ? 'first; <= 2.5x sqlite' : 'first'))
}

/** Over CouchDB's protocol. The peer is PouchDB Server on LevelDB, which syncs no write to disk. */
export async function couch(world: World): Promise<Figure[]> {
  await using serving = await Serving.start(world.url, ['--durability', 'strict'])
  const folder = makeFolder('bench-pouchdb')
  const peer = await startProcess('pouchdb-process.ts', [folder])
  const makers = [
    () => CouchContender.make('pannier, postgres', serving.url, `${EMAIL}:${PASSWORD}`),
    () => CouchContender.make('PouchDB Server', peer.url, ''),
  ]
  const figures = await compare(world, makers, () => 'first')
  await peer.kill()
  removeFolder(folder)
  return figures.map((one) => ({ ...one, what: `${one.what}, by CouchDB's protocol` }))
}

/**
 * Compares contenders, which take turns to be first. A round with few documents comes before, and does not count: code that never ran is
 * slow.
 */
async function compare(
  world: World,
  makers: readonly (() => Promise<Contender>)[],
  barOf: (what: string) => string,
): Promise<Figure[]> {
  await askAll({ ...world, set: { ...world.set, documents: Math.ceil(world.set.documents / 20) } }, makers, 0, {})
  const samples: Record<string, Samples> = {}
  for (let repeat = 0; repeat < world.repeats; repeat++) await askAll(world, makers, repeat, samples)
  return Object.entries(samples).map(([what, times]) => figure(what, medians(times), 'ms', barOf(what)))
}

async function askAll(
  { set }: World,
  makers: readonly (() => Promise<Contender>)[],
  first: number,
  samples: Record<string, Samples>,
): Promise<void> {
  const answers = new Map<string, string>()
  const people = makePeople(set, 0, set.documents)
  for (const at of makers.keys()) {
    const contender: Contender = await makers[(first + at) % makers.length]!()
    note((samples[BULK] ??= {}), contender, (await time(() => contender.insertMany(people))).milliseconds)
    await contender.prepare()
    for (const [what, ask] of Object.entries(questionsOf(set, people))) {
      const { milliseconds, result } = await timeWarm(() => ask(contender))
      const answer = JSON.stringify(result)
      if ((answers.get(what) ?? answer) !== answer) throw new Error(`${what}: ${contender.name} answers otherwise.`)
      answers.set(what, answer)
      note((samples[what] ??= {}), contender, milliseconds)
    }
    await contender.close()
  }
}

function questionsOf(
  set: DataSet,
  people: readonly Person[],
): Record<string, (contender: Contender) => Promise<unknown>> {
  const { city } = people[7]!
  return {
    'count of a city': (contender) => contender.countCity(city),
    'count of a range': (contender) => contender.countAges(30, 50),
    'page after a deep skip': (contender) => contender.deepPage(Math.floor(set.documents / 2)),
    'group reduce': (contender) => contender.groups(),
    'page of 20, sorted': (contender) => contender.bestOf(city),
  }
}

/** A document that is in no cache of the process. */
export async function coldGets({ url, folder, set }: World): Promise<Figure[]> {
  const people = makePeople(set, 0, set.documents)
  const samples: Samples = {}
  const storages = [
    ['pannier, postgres', await PannierContender.onPostgres(url, true), () => postgres(url)],
    ['pannier, sqlite', await PannierContender.onSqlite(folder, true), undefined],
  ] as const
  for (const [name, contender, storage] of storages) {
    await contender.insertMany(people)
    await contender.close()
    const again = await open(contender.database.name, {
      storage: storage?.() ?? (await import('pannier/sqlite')).sqlite(),
    })
    const ids = sampleIds(set, COLD_GETS, 1)
    const times = await timeEach(COLD_GETS, (turn) => again.collection<Person>('people').get(ids[turn]!))
    note(samples, { name }, median(times))
    await again.close()
  }
  return [figure('cold get', medians(samples), 'ms', 'some 10x sqlite: said')]
}

/** Servers among themselves. Two names of the host: handles behind one URL in one process are of one server. */
export async function servers({ url, set }: World): Promise<Figure[]> {
  const name = randomUUID()
  await using one = await open(name, { storage: postgres(url), durability: 'strict' })
  await using two = await open(name, { storage: postgres(url.replace('127.0.0.1', 'localhost')), durability: 'strict' })
  const at = (n: number): Person => makePerson(set, n)
  let n = 0
  const hearing: number[] = []
  await one.collection<Person>('people').insert(at(n++))
  for (let turn = 0; turn < NEWS; turn++) {
    const heard = new Promise<void>((resolve) => {
      const end = two.subscribe(() => (end(), resolve()))
    })
    await one.collection<Person>('people').insert(at(n++))
    const committed = performance.now()
    await heard
    hearing.push(performance.now() - committed)
  }
  const alone = median(await timeEach(TURNS, () => one.collection<Person>('people').insert(at(n++))))
  const turns = await timeEach(TURNS, (turn) =>
    (turn % 2 === 0 ? one : two).collection<Person>('people').insert(at(n++)),
  )
  const handOver = quantile(turns, 0.5) - alone
  return [
    figure('news at another server, p95', { 'pannier, postgres': quantile(hearing, 0.95) }, 'ms', '<= 10'),
    figure('turn from a live server, more than a write', { 'pannier, postgres': handOver }, 'ms', '<= 5'),
    figure('turn from a dead server', { 'pannier, postgres': await turnOfTheDead(url, set) }, 'ms', '<= 3500'),
  ]
}

async function turnOfTheDead(url: string, set: DataSet): Promise<number> {
  const name = randomUUID()
  const script = join(import.meta.dirname, 'holder.ts')
  const holder = spawnTracked(process.execPath, ['--conditions=pannier-source', script, url, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout!, 'data')
  await using db = await open(name, { storage: postgres(url), durability: 'strict' })
  await stop(holder, 'SIGKILL')
  return (await time(() => db.collection<Person>('people').insert(makePerson(set, 0)))).milliseconds
}

type Samples = Record<string, number[]>

function note(samples: Samples, { name }: { readonly name: string }, value: number): void {
  ;(samples[name] ??= []).push(value)
}

function medians(samples: Samples): Record<string, number> {
  return Object.fromEntries(Object.entries(samples).map(([name, values]) => [name, median(values)]))
}

function figure(what: string, values: Readonly<Record<string, number>>, unit: string, bar: string): Figure {
  return { what, values, unit, bar }
}

/** Many writers at the same time. Each waits for its write before the next one. */
async function writersOf(people: readonly Person[], write: (person: Person) => Promise<unknown>): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < people.length) await write(people[next++]!)
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

export function valueOf({ values, unit }: Figure, name: string): string {
  const value = values[name]
  return value === undefined ? '' : `${formatNumber(value)}${unit === '' ? '' : ` ${unit}`}`
}
