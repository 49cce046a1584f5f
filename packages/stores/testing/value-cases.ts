/** Cases of a count and of a document in a component. */
import { assertEqual, assertTrue } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding, Mounted } from './binding.ts'
import { aWhile, becomes, Fixture, last } from './fixture.ts'

export function valueCases({ test, create }: SuiteContext<() => Binding>): void {
  const behaves = (name: string, body: (app: Fixture) => Promise<void>): void =>
    test(name, () => Fixture.run(create(), body))

  behaves('count: undefined at first, then the number, whatever the limit', async (app) => {
    const count = app.mount('count', { query: () => app.of('Oslo', 1) })
    assertEqual(count.renders[0]!.count, undefined)
    await counts(count, 'live 2')
  })

  behaves('count: writes change it', async (app) => {
    const count = app.mount('count', { query: () => app.of('Oslo') })
    await counts(count, 'live 2')
    await app.put('eve', 'Eve', 'Oslo', await app.elsewhere())
    await counts(count, 'live 3')
  })

  behaves('count: another query keeps the number until it has its own', async (app) => {
    const count = app.mount('count', { query: () => app.of('Oslo') })
    await counts(count, 'live 2')
    const before = count.renders.length
    count.set({ query: () => app.of('Rome') })
    await counts(count, 'live 1')
    assertTrue(
      count.renders.slice(before).every((render) => render.count !== undefined),
      'no render is empty',
    )
  })

  behaves('count: one that is live already is shown at once, and not closed', async (app) => {
    const live = app.of('Oslo').liveCount()
    await live.ready
    const count = app.mount('count', { query: () => live })
    assertEqual(count.renders[0]!.count, 2)
    count.unmount()
    await aWhile()
    assertEqual(live.status, 'live')
  })

  behaves('count: unmounting ends it', async (app) => {
    const count = app.mount('count', { query: () => app.of('Oslo') })
    await counts(count, 'live 2')
    count.unmount()
    await becomes(() => app.queries.atWork, 0)
  })

  behaves('count: without a query nothing is asked for, and an initial number is shown', async (app) => {
    const count = app.mount('count', { query: () => undefined, initial: 7 })
    assertEqual([last(count).status, last(count).count], ['idle', 7])
  })

  behaves('document: it is shown, and a change of it', async (app) => {
    const one = app.mount('document', { collection: app.people, id: 'ann' })
    await names(one, 'live Ann')
    await app.put('ann', 'Anna', 'Oslo', await app.elsewhere())
    await names(one, 'live Anna')
  })

  behaves('document: a missing one is live and undefined, until it is there', async (app) => {
    const one = app.mount('document', { collection: app.people, id: 'eve' })
    await names(one, 'live -')
    await app.put('eve', 'Eve', 'Oslo')
    await names(one, 'live Eve')
    await app.people.delete('eve')
    await names(one, 'live -')
  })

  behaves('document: another id never shows the document of the one before', async (app) => {
    const one = app.mount('document', { collection: app.people, id: 'ann' })
    await names(one, 'live Ann')
    const before = one.renders.length
    one.set({ collection: app.people, id: 'bob' })
    await names(one, 'live Bob')
    const texts = one.renders.slice(before).map(nameOf)
    assertTrue(!texts.some((text) => text.endsWith('Ann')), texts.join('; '))
  })

  behaves('document: without an id, or a collection, nothing is asked for', async (app) => {
    const one = app.mount('document', { collection: app.people, id: undefined })
    const other = app.mount('document', { collection: undefined, id: 'ann' })
    await aWhile()
    assertEqual([nameOf(last(one)), nameOf(last(other))], ['idle -', 'idle -'])
    one.set({ collection: app.people, id: 'ann' })
    await names(one, 'live Ann')
  })

  behaves('document: an initial one is shown until the database has it', async (app) => {
    const initial = { _id: 'ann', name: 'Ann of the server', city: 'Oslo' }
    const one = app.mount('document', { collection: undefined, id: 'ann', initial })
    assertEqual(nameOf(one.renders[0]!), 'idle Ann of the server')
    one.set({ collection: app.people, id: 'ann', initial })
    await names(one, 'live Ann')
    assertTrue(
      one.renders.every((render) => render.document !== undefined),
      'no render is empty',
    )
  })
}

async function counts(mounted: Mounted<'count'>, expected: string): Promise<void> {
  await becomes(() => `${last(mounted).status} ${last(mounted).count}`, expected)
}

async function names(mounted: Mounted<'document'>, expected: string): Promise<void> {
  await becomes(() => nameOf(last(mounted)), expected)
}

function nameOf({ status, document }: { readonly status: string; readonly document: { name: string } | undefined }) {
  return `${status} ${document?.name ?? '-'}`
}
