/** Goal: a commit to known collections learns no names; listeners still hear the name of each, as it was when the commit was made. */
import { afterEach, expect, test, vi } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { Catalog } from '../../src/document/catalog.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'

afterEach(() => vi.restoreAllMocks())

test('names are learnt when collections come and go, and not with each commit', async () => {
  const environment = virtualEnvironment()
  await using db = await open('names', { storage: memory(), environment, collections: { posts: {} } })
  const posts = db.collection<{ readonly at?: number }>('posts')
  const heard: string[][] = []
  db.subscribe(
    ({ collections }) => void heard.push([...collections].map(([name, { dropped }]) => `${name}${dropped ? '!' : ''}`)),
  )
  await posts.insert({ _id: 'a', at: -1 })
  // The first update makes the tree of revisions.
  await posts.upsert({ _id: 'a', at: -2 })
  await environment.idle()
  const learnt = vi.spyOn(Catalog.prototype, 'names')
  for (let at = 0; at < 10; at++) await posts.upsert({ _id: 'a', at })
  await environment.idle()
  expect(learnt).not.toHaveBeenCalled()
  await db.collection<{ readonly at?: number }>('notes').insert({ _id: 'b' })
  await db.dropCollection('notes')
  await db.collection<{ readonly at?: number }>('notes').insert({ _id: 'c' })
  await environment.idle()
  expect(heard.flat().filter((name) => name === 'posts')).toHaveLength(12)
  expect(heard.flat().slice(12)).toEqual(['notes', 'notes!', 'notes'])
})
