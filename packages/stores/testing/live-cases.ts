/** Cases of a live query in a component. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { assertEqual, assertTrue } from '../../db/testing/check.ts'
import { aMoment, type SuiteContext } from '../../db/testing/suite.ts'
import type { Binding, Mounted, Person } from './binding.ts'
import { aWhile, becomes, Fixture, last, shows, textOf } from './fixture.ts'

/** Angular takes more changes in one task for a loop without end. */
const STEPS_AT_ONCE = 20

export function liveCases({ test, create }: SuiteContext<() => Binding>, mounts: number): void {
  const behaves = (name: string, body: (app: Fixture) => Promise<void>): void =>
    test(`live query: ${name}`, () => Fixture.run(create(), body))

  behaves('without a query nothing is asked for', async (app) => {
    const list = app.mount('live', { query: () => undefined })
    await aWhile()
    assertEqual(textOf(last(list)), 'idle ')
  })

  behaves('the first render is loading, then the rows are there', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    assertEqual(textOf(list.renders[0]!), 'loading ')
    await shows(list, 'live Ann,Bob')
  })

  behaves('a write from here is shown', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    await app.put('eve', 'Eve', 'Oslo')
    await shows(list, 'live Ann,Bob,Eve')
  })

  behaves('a write from another tab is shown', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    await app.put('eve', 'Eve', 'Oslo', await app.elsewhere())
    await shows(list, 'live Ann,Bob,Eve')
  })

  behaves('a deletion is shown', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    await (await app.elsewhere()).delete('ann')
    await shows(list, 'live Bob')
  })

  behaves('a row that did not change is the same object', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    const [ann, bob] = last(list).rows
    await app.put('ann', 'Anna', 'Oslo')
    await shows(list, 'live Anna,Bob')
    assertTrue(last(list).rows[1] === bob, 'Bob is the same')
    assertTrue(last(list).rows[0] !== ann, 'Ann is another one')
  })

  behaves('a commit that changes nothing that is shown renders nothing', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    await aWhile()
    const before = list.renders.length
    await app.put('dan', 'Dan', 'Rome')
    await aWhile()
    assertEqual(list.renders.length, before)
  })

  behaves('one transaction is one render', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    await aWhile()
    const before = list.renders.length
    await app.people.insert([
      { _id: 'eve', name: 'Eve', city: 'Oslo' },
      { _id: 'fay', name: 'Fay', city: 'Oslo' },
    ])
    await shows(list, 'live Ann,Bob,Eve,Fay')
    await aWhile()
    assertEqual(list.renders.length, before + 1)
  })

  behaves('another query keeps the rows of the one before until it has its own', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo', 1) })
    await shows(list, 'live Ann')
    const before = list.renders.length
    list.set({ query: () => app.of('Oslo', 2) })
    await shows(list, 'live Ann,Bob')
    const texts = list.renders.slice(before).map(textOf)
    assertTrue(texts.includes('loading Ann previous'), `the rows stay: ${texts.join('; ')}`)
    assertTrue(!texts.includes('loading '), 'no render is empty')
  })

  behaves('another query ends the one before', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    list.set({ query: () => app.of('Rome') })
    await shows(list, 'live Cid')
    await becomes(() => app.queries.atWork, 1)
    await app.put('eve', 'Eve', 'Oslo')
    await app.put('dan', 'Dan', 'Rome')
    await shows(list, 'live Cid,Dan')
  })

  behaves('a query that asks for the same continues', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    const { started } = app.queries
    list.set({ query: () => app.of('Oslo') })
    await aWhile()
    assertEqual(textOf(last(list)), 'live Ann,Bob')
    assertEqual(app.queries.started, started)
  })

  behaves('100 rapid changes end with the rows of the last query, and one query at work', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    for (let step = 0; step < 100; step++) {
      list.set({ query: () => app.of(step % 2 === 0 ? 'Oslo' : 'Rome', 1 + (step % 7)) })
      if (step % STEPS_AT_ONCE === 0) await aMoment()
    }
    await shows(list, 'live Cid')
    await becomes(() => app.queries.atWork, 1)
  })

  behaves('the end of a query shows no rows', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    list.set({ query: () => undefined })
    await shows(list, 'idle ')
    await becomes(() => app.queries.atWork, 0)
    list.set({ query: () => app.of('Rome') })
    await shows(list, 'live Cid')
  })

  behaves('unmounting ends it', async (app) => {
    const list = app.mount('live', { query: () => app.of('Oslo') })
    await shows(list, 'live Ann,Bob')
    const before = list.renders.length
    list.unmount()
    await becomes(() => app.queries.atWork, 0)
    await app.put('eve', 'Eve', 'Oslo')
    await aWhile()
    assertEqual(list.renders.length, before)
  })

  behaves('unmounting before the rows are there ends it', async (app) => {
    app.mount('live', { query: () => app.of('Oslo') }).unmount()
    await becomes(() => app.queries.atWork, 0)
  })

  behaves('two components that ask for the same show the same', async (app) => {
    const lists = [1, 2].map(() => app.mount('live', { query: () => app.of('Oslo') }))
    for (const list of lists) await shows(list, 'live Ann,Bob')
    lists[0]!.unmount()
    await app.put('eve', 'Eve', 'Oslo')
    await shows(lists[1]!, 'live Ann,Bob,Eve')
  })

  behaves(
    'a module that is loaded again: the old query ends, and the new component has its rows and what comes',
    async (app) => {
      let list = app.mount('live', { query: () => app.of('Oslo') })
      await shows(list, 'live Ann,Bob')
      for (const isMountedFirst of [true, false, true]) {
        const old = list
        if (!isMountedFirst) old.unmount()
        list = app.mount('live', { query: () => app.of('Oslo') })
        if (isMountedFirst) old.unmount()
        await shows(list, 'live Ann,Bob')
        await becomes(() => app.queries.atWork, 1)
      }
      await app.put('eve', 'Eve', 'Oslo')
      await shows(list, 'live Ann,Bob,Eve')
    },
  )

  behaves('many mounts leave no query behind', async (app) => {
    const mount = (): Mounted<'live'> => app.mount('live', { query: () => app.of('Oslo') })
    for (let step = 0; step < mounts; step++) {
      mount().unmount()
      if (step % STEPS_AT_ONCE === 0) await aMoment()
    }
    const list = mount()
    await shows(list, 'live Ann,Bob')
    await becomes(() => app.queries.atWork, 1)
  })

  behaves('one that is live already is shown by the first render, and not closed', async (app) => {
    const live = app.of('Oslo').live()
    await live.ready
    const list = app.mount('live', { query: () => live })
    assertEqual(textOf(list.renders[0]!), 'live Ann,Bob')
    await app.put('eve', 'Eve', 'Oslo')
    await shows(list, 'live Ann,Bob,Eve')
    list.unmount()
    await aWhile()
    assertEqual(live.status, 'live')
  })

  behaves('an error is shown', async (app) => {
    const error = new Error('of the storage')
    const live = { value: undefined, status: 'failed', error, subscribe: () => () => {}, close: () => {} } as const
    const list = app.mount('live', { query: () => ({ live: () => live, isSame: () => true }) })
    await shows(list, 'failed ')
    assertTrue(last(list).error === error, 'the error is that of the query')
  })

  behaves('closing the database ends it, and the rows stay', async (app) => {
    const query = app.of('Oslo')
    const list = app.mount('live', { query: () => query })
    await shows(list, 'live Ann,Bob')
    await app.close()
    await shows(list, 'ended Ann,Bob')
  })

  behaves('a query that has ended is made again: another database may be open by then', async (app) => {
    const next = await open('y', { storage: memory() })
    let people = app.people
    const list = app.mount('live', { query: () => people.find({ city: 'Oslo' }).sort('name') })
    await shows(list, 'live Ann,Bob')
    people = next.collection<Person>('people')
    await people.insert({ _id: 'zoe', name: 'Zoe', city: 'Oslo' })
    const before = list.renders.length
    await app.close()
    await shows(list, 'live Zoe')
    const texts = list.renders.slice(before).map(textOf)
    assertTrue(!texts.some((text) => text.includes('previous')), 'rows of another account are not shown')
    list.unmount()
    await next.close()
  })

  behaves('what is no query is an error that names it', async (app) => {
    const list = app.mount('live', { query: () => 'people' as never })
    await becomes(() => list.thrown.length > 0, true)
    const message = String(list.thrown[0])
    assertTrue(message.includes("query must return a query, or undefined, got 'people'"), message)
  })

  behaves('an error of the function comes through', async (app) => {
    const error = new Error('of the component')
    const list = app.mount('live', {
      query: () => {
        throw error
      },
    })
    await becomes(() => list.thrown.includes(error), true)
  })

  behaves('initial rows are shown until its own are there', async (app) => {
    const initial = [{ _id: 'ann', name: 'Ann of the server', city: 'Oslo' }]
    const list = app.mount('live', { query: () => app.of('Oslo'), initial })
    assertEqual(textOf(list.renders[0]!), 'loading Ann of the server previous')
    await shows(list, 'live Ann,Bob')
  })

  behaves('initial rows are shown while there is no query yet', async (app) => {
    const initial = [{ _id: 'ann', name: 'Ann of the server', city: 'Oslo' }]
    const list = app.mount('live', { query: () => undefined, initial })
    assertEqual(textOf(list.renders[0]!), 'idle Ann of the server previous')
    list.set({ query: () => app.of('Oslo'), initial })
    await shows(list, 'live Ann,Bob')
    const texts = list.renders.map(textOf)
    assertTrue(!texts.includes('loading '), `no render is empty: ${texts.join('; ')}`)
  })
}
