/** A worker with a Durable Object that runs the suites on its own SQLite: for `workerd test`, which calls `test`. */
import { DurableObject } from 'cloudflare:workers'
import { destroy, open } from 'pannier'
import { durableObject, type DurableObjectStorage } from '../src/index.ts'
import { runSuites, type Outcome } from './run-suites.ts'

interface Suites {
  run(): Promise<Outcome>
  visits(): Promise<number>
  left(): Promise<string[]>
}

export class SuitesObject extends DurableObject implements Suites {
  declare readonly ctx: { readonly storage: DurableObjectStorage }

  run(): Promise<Outcome> {
    return runSuites(durableObject(this.ctx.storage))
  }

  /** What an app does in a request. */
  async visits(): Promise<number> {
    const db = await open('visits', { storage: durableObject(this.ctx.storage), durability: 'strict' })
    await db.collection('visits').insert({ at: Date.now() })
    const count = await db.collection('visits').find().count()
    await db.close()
    return count
  }

  /** The tables that are left when the app has destroyed its database. */
  async left(): Promise<string[]> {
    await destroy('visits', { storage: durableObject(this.ctx.storage) })
    const rows = this.ctx.storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'pannier%'").toArray()
    return rows.map(({ name }) => name as string)
  }
}

interface Bindings {
  readonly SUITES: { getByName(name: string): Suites }
}

// oxlint-disable-next-line import/no-default-export -- a worker is the default export of its module
export default {
  async test(_: unknown, { SUITES }: Bindings): Promise<void> {
    const { passed, failed } = await SUITES.getByName('suites').run()
    const visits: number[] = []
    for (const name of ['one', 'two', 'one']) visits.push(await SUITES.getByName(name).visits())
    const together = await Promise.all(['three', 'four'].map((name) => SUITES.getByName(name).visits()))
    const left = await SUITES.getByName('one').left()
    console.log(JSON.stringify({ passed, failed, left, visits, together }))
  },
}
