/** Cases of a component that waits for the first rows: below a Suspense, or as is usual in its framework. */
import { assertEqual } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding } from './binding.ts'
import { aWhile, becomes, Fixture, last, textOf } from './fixture.ts'

export function waitingCases({ test, create }: SuiteContext<() => Binding>): void {
  const behaves = (name: string, body: (app: Fixture) => Promise<void>): void =>
    test(`waiting: ${name}`, () => Fixture.run(create(), body))

  behaves('the first render has the rows, and those that come are shown', async (app) => {
    const live = app.of('Oslo').live()
    const list = app.mountWaiting(live)
    await becomes(() => list.renders.length > 0, true)
    assertEqual(textOf(list.renders[0]!), 'live Ann,Bob')
    await app.put('eve', 'Eve', 'Oslo')
    await becomes(() => textOf(last(list)), 'live Ann,Bob,Eve')
    list.unmount()
    await aWhile()
    assertEqual(live.status, 'live')
  })

  behaves('a component that is unmounted while it waits renders nothing, and the query is not closed', async (app) => {
    const live = app.of('Oslo').live()
    const list = app.mountWaiting(live)
    list.unmount()
    await live.ready
    await aWhile()
    assertEqual([list.renders.length, list.thrown.length, live.status], [0, 0, 'live'])
  })
}
