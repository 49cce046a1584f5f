/** Goal: components render on a server, where nothing is live; and a render that is thrown away starts nothing. */
import { createElement, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { useCount, useDocument, useLiveQuery } from '../src/index.ts'

test('on a server a query is loading, and a query without input is idle', async () => {
  const db = await open('x', { storage: memory() })
  const people = db.collection<{ readonly n: number }>('people')
  await people.insert({ _id: 'ann', n: 1 })
  const query = people.find()
  let started = 0
  const live = query.live.bind(query)
  query.live = (options) => {
    started++
    return live(options)
  }
  // Started by the application; what it knows is shown once the page is live in a browser.
  const running = people.find().live()
  await running.ready
  function Page(): ReactNode {
    const list = useLiveQuery(query)
    const none = useLiveQuery(undefined)
    const { status } = useDocument(people, 'ann')
    const shown = useLiveQuery(running)
    const { count } = useCount(running.status === 'live' ? query : undefined)
    const initial = ['a', 'b'].map((_id) => ({ _id, _rev: '1-a', n: 1 }))
    const early = useLiveQuery(query, undefined, { initial })
    const states = [list.status, list.rows.length, none.status, status, shown.status, shown.rows.length, count]
    states.push(early.rows.length, early.isPrevious ? 1 : 0)
    return createElement('p', null, states.join(' '))
  }
  expect(renderToString(createElement(Page))).toBe('<p>loading 0 idle loading loading 0  2 1</p>')
  expect(started).toBe(0)
  expect(running.status).toBe('live')
  await db.close()
})

test('a function that gives no query is an error that says so, and what it throws is kept', () => {
  const rendered = (query: unknown, hook: (query: never) => unknown): string => {
    const Page = (): ReactNode => {
      hook(query as never)
      return null
    }
    return renderToString(createElement(Page))
  }
  const own = new Error('of the component')
  for (const [name, hook] of [
    ['useLiveQuery()', useLiveQuery],
    ['useCount()', useCount],
  ] as const) {
    expect(() => rendered(async () => undefined, hook)).toThrow(`${name}: query must be synchronous`)
    for (const wrong of [null, false, 0, '', {}, []]) {
      const must = `${name}: query must return a query, or undefined`
      expect(() => rendered(() => wrong, hook)).toThrow(must)
      expect(() => rendered(wrong, hook)).toThrow(must)
    }
    expect(() =>
      rendered(() => {
        throw own
      }, hook),
    ).toThrow(own)
    expect(rendered(() => undefined, hook)).toBe('')
  }
})
