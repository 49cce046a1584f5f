/** People in a database in memory, and looks at what a component shows of them. */
import { open, type Collection, type Database, type LiveQuery, type Query } from 'pannier'
import { memory } from 'pannier/memory'
import type { DatabaseStorage } from 'pannier/storage'
import type { Live } from '@pannier/stores'
import { assertEqual } from '../../db/testing/check.ts'
import { aMoment } from '../../db/testing/suite.ts'
import type { Binding, HookName, Inputs, Mounted, Person, Shown, Waiting } from './binding.ts'

const MOMENTS_MAX = 5000

/** Waits until `look` gives what is expected. */
export async function becomes<T>(look: () => T, expected: T): Promise<void> {
  const isThere = (): boolean => JSON.stringify(look()) === JSON.stringify(expected)
  for (let moments = 0; moments < MOMENTS_MAX && !isThere(); moments++) await aMoment()
  assertEqual(look(), expected)
}

/** What would happen has happened by then. */
export async function aWhile(): Promise<void> {
  for (let moments = 0; moments < 20; moments++) await aMoment()
}

/** A database that is closed at the end of the case, with all that is mounted. */
export class Fixture {
  readonly people: Collection<Person>
  readonly #binding: Binding
  readonly #storage: DatabaseStorage
  readonly #databases: Database[]
  readonly #mounted: Pick<Mounted<HookName>, 'unmount'>[] = []
  readonly #started: Live<unknown>[] = []

  private constructor(binding: Binding, storage: DatabaseStorage, db: Database) {
    this.#binding = binding
    this.#storage = storage
    this.#databases = [db]
    this.people = peopleOf(db)
  }

  /** Calls `body` with Ann and Bob of Oslo, and Cid of Rome. */
  static async run(binding: Binding, body: (fixture: Fixture) => Promise<void>): Promise<void> {
    const storage = memory()
    const fixture = new Fixture(binding, storage, await open('x', { storage }))
    await fixture.people.insert([
      { _id: 'ann', name: 'Ann', city: 'Oslo' },
      { _id: 'bob', name: 'Bob', city: 'Oslo' },
      { _id: 'cid', name: 'Cid', city: 'Rome' },
    ])
    try {
      await body(fixture)
    } finally {
      for (const mounted of fixture.#mounted) mounted.unmount()
      await fixture.close()
    }
  }

  /** The same collection, in another tab. */
  async elsewhere(): Promise<Collection<Person>> {
    const db = await open('x', { storage: this.#storage })
    this.#databases.push(db)
    return peopleOf(db)
  }

  get db(): Database {
    return this.#databases[0]!
  }

  /** Live queries of `of` that were started, and how many of them are at work. */
  get queries(): { readonly started: number; readonly atWork: number } {
    const atWork = this.#started.filter(({ status }) => status === 'live' || status === 'loading')
    return { started: this.#started.length, atWork: atWork.length }
  }

  async close(): Promise<void> {
    for (const db of this.#databases) await db.close()
  }

  async put(_id: string, name: string, city: string, people: Collection<Person> = this.people): Promise<void> {
    await people.upsert({ _id, name, city })
  }

  /** The people of a city, by name. */
  of(city: string, limit = 10): Query<Person> {
    return this.watched(this.people.find({ city }).sort('name').limit(limit))
  }

  /** Notes what the query starts. */
  watched<Row extends object>(query: Query<Row>): Query<Row> {
    const note = <Started extends Live<unknown>>(live: Started): Started => {
      this.#started.push(live)
      return live
    }
    const [live, count] = [query.live.bind(query), query.liveCount.bind(query)]
    return Object.assign(query, { live: () => note(live()), liveCount: () => note(count()) })
  }

  mount<Name extends HookName>(hook: Name, inputs: Inputs[Name]): Mounted<Name> {
    const mounted = this.#binding.mount(hook, inputs)
    this.#mounted.push(mounted)
    return mounted
  }

  mountWaiting(live: LiveQuery<Person>): Waiting {
    const mounted = this.#binding.mountWaiting(live)
    this.#mounted.push(mounted)
    return mounted
  }
}

function peopleOf(db: Database): Collection<Person> {
  return db.collection<Person>('people', { indexes: ['city', { on: ['name'], text: true }] })
}

/** The last render. */
export function last<State>({
  renders,
  thrown,
}: Readonly<Record<'thrown', readonly unknown[]>> & {
  readonly renders: readonly State[]
}): State {
  if (renders.length === 0) throw thrown[0]
  return renders.at(-1)!
}

/** A render of rows as a text: 'live Ann,Bob'. */
export function textOf({ rows, status, isPrevious }: Shown['live']): string {
  return `${status} ${rows.map(({ name }) => name).join()}${isPrevious ? ' previous' : ''}`
}

/** Waits until the rows are shown so. */
export async function shows(mounted: Mounted<'live'>, expected: string): Promise<void> {
  await becomes(() => textOf(last(mounted)), expected)
}
