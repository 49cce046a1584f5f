/** Values of a page of Svelte, read as on a server. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { createCount, createLiveQuery } from '../src/index.ts'

export async function renderPage(): Promise<{ readonly html: string; readonly started: number }> {
  const db = await open('x', { storage: memory() })
  const query = db.collection<{ readonly name: string }>('people').find()
  let started = 0
  const live = query.live.bind(query)
  const counted = Object.assign(query, { live: () => (started++, live()) })
  const people = createLiveQuery(counted, { initial: [{ _id: 'ann', _rev: '1-a', name: 'Ann' }] })
  const all = createCount(undefined)
  const html = [people.rows[0]?.name, people.status, people.isPrevious, all.count].map(String).join(' ')
  await db.close()
  return { html, started }
}
