/** Goal: components of Angular render on a server, where nothing is live: what a server has read is shown until the page has its own. */
import { Injector, PLATFORM_ID, runInInjectionContext, ɵR3Injector as R3Injector } from '@angular/core'
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { injectCount, injectLiveQuery } from '../src/index.ts'

test('on a server no query starts, and initial rows are rendered', async () => {
  const db = await open('x', { storage: memory() })
  const query = db.collection<{ readonly name: string }>('people').find()
  let started = 0
  const live = query.live.bind(query)
  const counted = Object.assign(query, { live: () => (started++, live()) })
  const server = [{ provide: PLATFORM_ID, useValue: 'server' }]
  const injector = new R3Injector(server, Injector.NULL, 'server', new Set(['environment', 'root', 'platform']))
  const shown = runInInjectionContext(injector, () => {
    const people = injectLiveQuery(counted, { initial: [{ _id: 'ann', _rev: '1-a', name: 'Ann' }] })
    const all = injectCount(undefined)
    return [people.rows()[0]?.name, people.status(), people.isPrevious(), all.count()]
  })
  expect(shown).toEqual(['Ann', 'loading', true, undefined])
  expect(started).toBe(0)
  injector.destroy()
  await db.close()
})
