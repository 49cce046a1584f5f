/** Goal: the time line has each commit, is bounded, and loses nothing during a pause. Requests are listed, and no secret is. */
import { expect, test } from 'vitest'
import { HealthModel } from '../src/model/health.ts'
import { bounded, messageOf, Throttled } from '../src/model/model.ts'
import { shownUrl, tokenFacts } from '../src/model/redact.ts'
import { RequestLog } from '../src/model/requests.ts'
import { Source, SourceList } from '../src/model/source.ts'
import { TimelineModel } from '../src/model/timeline.ts'
import { clock, openShop } from './shop.ts'

async function opened() {
  const db = await openShop(3)
  const timeline = new TimelineModel(clock, {
    sources: new SourceList({ databases: [db] }),
    clients: [],
    replications: [],
  })
  return { db, timeline, people: db.collection<Record<string, unknown>>('people') }
}

test('a commit is an event with the ids that it has changed', async () => {
  const { db, timeline, people } = await opened()
  await people.update('p00001', { name: 'Ann' })
  await people.delete(['p00000', 'p00002'])
  await db.dropCollection('people')
  await clock.until(() => timeline.shown.length === 3)
  expect(timeline.shown).toMatchObject([
    { kind: 'commit', text: 'people: p00001', isLocal: true, changes: [{ collection: 'people', ids: ['p00001'] }] },
    { text: 'people: 2' },
    { text: 'people dropped' },
  ])
  await db.close()
  await clock.until(() => timeline.shown.length === 4)
  expect(timeline.shown[3]).toMatchObject({ kind: 'error', text: 'closed' })
})

test('a pause keeps what is shown, and shows the rest afterwards', async () => {
  const { db, timeline, people } = await opened()
  await people.insert({ _id: 'before' })
  await clock.until(() => timeline.shown.length === 1)
  timeline.pause()
  for (const _id of ['a', 'b', 'c']) await people.insert({ _id })
  await clock.until(() => timeline.missed === 3)
  expect(timeline.shown).toHaveLength(1)
  timeline.resume()
  expect([timeline.shown.length, timeline.missed]).toEqual([4, 0])
  timeline.toggle('commit')
  expect(timeline.shown).toEqual([])
  timeline.stop()
  await db.close()
})

test('lists are bounded', async () => {
  expect(bounded([1, 2, 3], 4, 3)).toEqual([2, 3, 4])
  const { db, timeline, people } = await opened()
  for (let at = 0; at < 500 + 5; at++) await people.upsert({ _id: 'one', at })
  await clock.until(() => timeline.shown.length === 500)
  expect(timeline.shown.at(-1)!.text).toBe('people: one')
  await db.close()
})

test('work that is asked for often runs seldom, never twice at a time, and once after the last call', async () => {
  let runs = 0
  let atOnce = 0
  const throttled = new Throttled(clock, 100, async () => {
    runs++
    expect(++atOnce).toBe(1)
    await clock.yield()
    atOnce--
  })
  for (let at = 0; at < 100; at++) {
    throttled.ask()
    await clock.advance(10)
  }
  const before = runs
  expect(before).toBeLessThan(12)
  throttled.ask()
  await clock.advance(200)
  expect(runs).toBeGreaterThan(before)
  throttled.stop()
  throttled.ask()
  const last = runs
  await clock.advance(500)
  expect(runs).toBe(last)
})

test('requests of our protocols are listed, without what is secret', async () => {
  const log = new RequestLog(clock)
  const asked: unknown[] = []
  const host = {
    fetch: (async (input: unknown) => {
      asked.push(input)
      if (String(input).includes('down')) throw new TypeError('fetch failed')
      return new Response('{}', { status: 201, headers: { 'content-length': '2' } })
    }) as typeof fetch,
  }
  const { fetch: original } = host
  log.watch(host)
  const headers = { authorization: 'eyJ.secret' }
  await host.fetch('https://example.org/api/files/a/b?token=secret&thumb=1', { method: 'post', headers })
  await host.fetch(new URL('https://other.org/people/_changes?since=5'))
  await host.fetch(new Request('https://other.org/picture.png'))
  await host.fetch('https://example.org/api/down').catch(() => {})
  await clock.idle()
  expect(log.rows).toMatchObject([
    { method: 'POST', url: '/api/files/a/b?token=•••&thumb=1', status: 201, bytes: 2, isSigned: true },
    { method: 'GET', url: '/people/_changes?since=5', isSigned: false },
    { url: '/api/down', status: undefined, error: 'fetch failed' },
  ])
  expect(JSON.stringify(log.rows)).not.toContain('secret')
  expect(asked).toHaveLength(4)
  for (let at = 0; at < 200 + 10; at++) await host.fetch('https://example.org/api/health')
  expect(log.rows).toHaveLength(200)
  log.stop()
  expect(host.fetch).toBe(original)
})

test('a fetch that others have wrapped meanwhile passes through', async () => {
  const log = new RequestLog(clock)
  const host = { fetch: (async () => new Response('')) as typeof fetch }
  log.watch(host)
  const watched = host.fetch
  host.fetch = (...asked) => watched(...asked)
  log.stop()
  expect((await host.fetch('https://example.org/api/health')).status).toBe(200)
  expect(log.rows).toEqual([])
})

test('a token is never shown, only what it says', () => {
  const claims = btoa(JSON.stringify({ exp: 1_800_000_000, collectionId: 'users' }))
  const token = `head.${claims}.signature`
  expect(tokenFacts(token)).toEqual({ collection: 'users', expires: 1_800_000_000_000, length: token.length })
  expect(tokenFacts('opaque')).toEqual({ collection: undefined, expires: undefined, length: 6 })
  expect(shownUrl('https://ann:pass@b.org/x?apiKey=1&q=2#token', 'https://a.org')).toBe(
    'https://b.org/x?apiKey=•••&q=2',
  )
  expect(shownUrl('http://', 'http://')).toBe('•••')
  expect(messageOf('text')).toBe('text')
})

test('tabs are distinguished by their locks', async () => {
  const db = await openShop(1)
  const locks = (own: string) => ({
    held: [
      { name: own, clientId: 'me' },
      { name: 'pannier:shop:writer', clientId: 'other' },
      { name: 'pannier:shop:sync:abc', clientId: 'other' },
      { name: 'pannier:shop:pin:7', clientId: 'me' },
      { name: 'app', clientId: 'third' },
    ],
    pending: [{ name: 'pannier-client:https://a.org/:shop-users', clientId: 'me' }],
  })
  const request = (own: string, work: () => unknown): unknown =>
    Promise.resolve().then(() => {
      snapshot = locks(own)
      return work()
    })
  let snapshot: object = {}
  const platform = {
    locks: { request, query: async () => snapshot },
    storage: { estimate: async () => ({ usage: 5, quota: 10 }), persisted: async () => false },
  }
  const health = new HealthModel(new Source(db, undefined, () => {}), clock, platform as never)
  await health.refresh()
  expect(health.tabs).toEqual([
    { name: 'This tab', isThis: true, parts: ['reads shop', 'would lead the sync of shop-users'] },
    { name: 'Another tab or worker (2)', isThis: false, parts: ['leads the sync of shop', 'may write shop'] },
  ])
  expect([health.usedBytes, health.quotaBytes, health.isPersisted]).toEqual([5, 10, false])
  expect(health.sizes).toMatchObject([{ name: 'people' }])
  await health.check()
  expect([health.report, health.checkDone]).toEqual(['No problem was found.', undefined])
  await db.close()
})
