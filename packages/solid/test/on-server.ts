/** A page of Solid, rendered as on a server. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { renderToString } from 'solid-js/web'
import { createCount, createLiveQuery } from '../src/index.ts'

export async function renderPage(): Promise<{ readonly html: string; readonly started: number }> {
  const db = await open('x', { storage: memory() })
  const query = db.collection<{ readonly name: string }>('people').find()
  let started = 0
  const live = query.live.bind(query)
  const counted = Object.assign(query, { live: () => (started++, live()) })
  const html = renderToString(() => {
    const people = createLiveQuery(counted, { initial: [{ _id: 'ann', _rev: '1-a', name: 'Ann' }] })
    const all = createCount(undefined)
    return [people.rows[0]?.name, people.status, people.isPrevious, all.count].map(String).join(' ')
  })
  await db.close()
  return { html, started }
}
