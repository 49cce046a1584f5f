/** Goal: a component sees how a replication is and what is not sent, offline too, and each change of that; nothing listens after it. */
import { createElement, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { open } from 'pannier'
import type { NetworkStatus } from 'pannier/types'
import { memory } from 'pannier/memory'
import { expect, onTestFinished, test } from 'vitest'
import { useReplication } from '../src/index.ts'
import { ReplicationStore } from '../src/replication-store.ts'

const OFFLINE: NetworkStatus = { isOnline: () => false, subscribe: () => () => {} }

async function offline() {
  const db = await open('x', { storage: memory() })
  onTestFinished(() => db.close())
  const notes = db.collection('notes')
  await notes.insert({ _id: 'a' })
  const fetch = () => Promise.reject(new TypeError('no network'))
  const sync = db.sync('https://couch.test', { collections: ['notes'], live: true, network: OFFLINE, fetch })
  sync.then(undefined, () => {})
  return { db, notes, sync }
}

test('status and unsent changes while there is no network', async () => {
  const { db, notes, sync } = await offline()
  const store = new ReplicationStore(db, sync)
  const seen: (number | undefined)[] = []
  const stop = store.subscribe(() => seen.push(store.read().unsent))
  await expect.poll(() => store.read()).toMatchObject({ status: 'offline', unsent: 1 })
  expect(store.read()).toBe(store.read())
  await notes.insert([{ _id: 'b' }, { _id: 'c' }])
  await expect.poll(() => store.read().unsent).toBe(3)
  const before = seen.length
  stop()
  await notes.insert({ _id: 'd' })
  sync.cancel()
  await sync
  expect(seen.length).toBe(before)
})

test('the end, and a failure that no event tells', async () => {
  const { db, sync } = await offline()
  const store = new ReplicationStore(db, sync)
  store.subscribe(() => {})
  sync.cancel()
  await expect.poll(() => store.read().status).toBe('cancelled')
  const wrong = new ReplicationStore(db, db.sync('https://couch.test', { colections: [] } as never))
  wrong.subscribe(() => {})
  await expect.poll(() => wrong.read().status).toBe('failed')
  expect(String(wrong.read().error)).toContain("did you mean 'collections'?")
})

test('in a render on a server it only tells what is known', async () => {
  const { db, sync } = await offline()
  function Page(): ReactNode {
    const [{ status }, none] = [useReplication(db, sync), useReplication(db, undefined)]
    return createElement('p', null, `${status} ${none.status} ${String(none.unsent)}`)
  }
  expect(renderToString(createElement(Page))).toMatch(/^<p>(active|offline) idle undefined<\/p>$/)
})
