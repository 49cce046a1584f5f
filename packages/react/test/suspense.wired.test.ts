/** Goal: a component waits for the first rows below a Suspense, and its first render has them. React shows them after a timer. */
import { createElement, Suspense, use, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { open, type LiveQuery } from 'pannier'
import { memory } from 'pannier/memory'
import { afterAll, expect, test, vi } from 'vitest'
import { eventually } from '../../db/testing/suite.ts'
import { aWhile } from '../../stores/testing/fixture.ts'
import { useLiveQuery } from '../src/index.ts'
import { host, NoElement } from './no-element.ts'

vi.stubGlobal('window', { HTMLIFrameElement: NoElement })
// React ends the effects of what was unmounted a moment later.
afterAll(aWhile)

test('below a Suspense the first render has the rows, and those that come are shown', async () => {
  const db = await open('x', { storage: memory() })
  const people = db.collection<{ readonly name: string }>('people')
  await people.insert({ _id: 'ann', name: 'Ann' })
  const live = people.find().sort('name').live()
  const renders: string[] = []
  function People({ shown }: { readonly shown: LiveQuery<{ readonly name: string }> }): ReactNode {
    use(shown.ready)
    const { rows, status } = useLiveQuery(shown)
    renders.push(`${status} ${rows.map(({ name }) => name).join()}`)
    return null
  }
  const root = createRoot(host())
  root.render(createElement(Suspense, null, createElement(People, { shown: live })))
  await eventually(() => renders.length > 0)
  expect(renders[0]).toBe('live Ann')
  await people.insert({ _id: 'bob', name: 'Bob' })
  await eventually(() => renders.at(-1) === 'live Ann,Bob')
  root.unmount()
  expect(live.status).toBe('live')
  live.close()
  await db.close()
})
