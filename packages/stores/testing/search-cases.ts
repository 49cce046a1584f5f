/** Cases of a search in a component. */
import { liveSearch } from '@pannier/stores'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { assertEqual, assertTrue } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding, Person } from './binding.ts'
import { aWhile, becomes, Fixture, last, shows, textOf } from './fixture.ts'

export function searchCases({ test, create }: SuiteContext<() => Binding>): void {
  const behaves = (name: string, body: (app: Fixture) => Promise<void>): void =>
    test(`search: ${name}`, () => Fixture.run(create(), body))
  const search = (app: Fixture, text: string) => ({ query: () => liveSearch(app.db, app.people, text, { limit: 2 }) })

  behaves('the documents with the word, and those that others write', async (app) => {
    const list = app.mount('live', search(app, 'ann'))
    await shows(list, 'live Ann')
    await app.put('eve', 'Ann Eve', 'Rome', await app.elsewhere())
    await becomes(() => last(list).rows.length, 2)
  })

  behaves('another text keeps the rows of the one before until it has its own', async (app) => {
    const list = app.mount('live', search(app, 'ann'))
    await shows(list, 'live Ann')
    const before = list.renders.length
    list.set(search(app, 'bob'))
    await shows(list, 'live Bob')
    assertTrue(!list.renders.slice(before).some(({ rows }) => rows.length === 0), 'no render is empty')
  })

  behaves('a text without words asks for nothing', async (app) => {
    const list = app.mount('live', search(app, ' '))
    await aWhile()
    assertEqual(textOf(last(list)), 'idle ')
  })

  behaves('the same rows after a commit make no render', async (app) => {
    const list = app.mount('live', search(app, 'ann'))
    await shows(list, 'live Ann')
    await aWhile()
    const before = list.renders.length
    await app.put('fay', 'Fay', 'Rome')
    await aWhile()
    assertEqual(list.renders.length, before)
  })

  behaves('a collection without a text index shows the error', async (app) => {
    const list = app.mount('live', { query: () => liveSearch(app.db, app.db.collection('plain') as never, 'ann') })
    await becomes(() => last(list).status, 'failed')
    assertEqual((last(list).error as { code?: string }).code, 'PANNIER_NOT_FOUND')
  })

  behaves('closing the database ends it, and the rows stay', async (app) => {
    const list = app.mount('live', search(app, 'ann'))
    await shows(list, 'live Ann')
    await app.close()
    await shows(list, 'ended Ann')
  })

  behaves('one of another database or account has its own rows, and never shows those before', async (app) => {
    const next = await open('y', { storage: memory() })
    let [db, people] = [app.db, app.people]
    const list = app.mount('live', { query: () => liveSearch(db, people, 'ann') })
    await shows(list, 'live Ann')
    db = next
    people = next.collection<Person>('people', { indexes: [{ on: ['name'], text: true }] })
    await people.insert({ _id: 'ann', name: 'Ann Other', city: 'Oslo' })
    const before = list.renders.length
    await app.close()
    await shows(list, 'live Ann Other')
    assertTrue(!list.renders.slice(before).some((render) => textOf(render).includes('previous')), 'none is of before')
    list.unmount()
    await next.close()
  })

  behaves('a collection that is another object in each render is searched once', async (app) => {
    let searches = 0
    const query = () => {
      const people = {
        search: (text: string) => (searches++, app.people.search(text)),
        find: app.people.find.bind(app.people),
      }
      return liveSearch(app.db, people, 'ann')
    }
    const list = app.mount('live', { query })
    await shows(list, 'live Ann')
    const before = searches
    list.set({ query })
    await aWhile()
    assertEqual([searches, textOf(last(list))], [before, 'live Ann'])
  })

  behaves('unmounting ends it', async (app) => {
    let searches = 0
    const people = {
      search: (text: string) => {
        searches++
        return app.people.search(text)
      },
      find: app.people.find.bind(app.people),
    }
    const list = app.mount('live', { query: () => liveSearch(app.db, people, 'ann') })
    await shows(list, 'live Ann')
    list.unmount()
    await aWhile()
    const before = searches
    await app.put('eve', 'Ann Eve', 'Rome')
    await aWhile()
    assertEqual(searches, before)
  })
}
