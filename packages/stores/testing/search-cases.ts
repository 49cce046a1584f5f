/** Cases of a search in a component. */
import { liveSearch } from '@pannier/stores'
import { assertEqual, assertTrue } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding } from './binding.ts'
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

  behaves('unmounting ends it', async (app) => {
    let searches = 0
    const people = {
      search: (text: string) => {
        searches++
        return app.people.search(text)
      },
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
