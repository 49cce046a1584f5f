/** Goal: a write that would wait for ever is told so: at once where that can be known, on the console or by a limit where it can't. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DatabaseContext } from '../../src/database/database-context.ts'
import type { Database } from '../../src/database/database.ts'
import { open, type OpenOptions } from '../../src/database/lifecycle/open.ts'
import { SynchronousScope } from '../../src/database/collection/transaction-scope.ts'
import { WAIT_TOLD_MS } from '../../src/kv/wait-watch.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../src/storage/page-store.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'
import { aMoment } from '../../testing/suite.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'

const deadlock = { code: 'PANNIER_DEADLOCK' }
const tooLong = { code: 'PANNIER_WRITE_TIMEOUT' }

let db: Database
const storage = memory()
async function openIt(options: Pick<OpenOptions, 'encryption'> = {}): Promise<void> {
  db = await open('x', { storage, ...options })
  await db.collection('people').upsert({ _id: 'ann', n: 1 })
}

describe('a write of the database itself inside a transaction fails at once', () => {
  beforeEach(() => openIt({ encryption: { key: deviceKey } }))
  afterEach(() => db.destroy())

  const ways: Record<string, () => Promise<unknown>> = {
    insert: () => db.collection('people').insert({ n: 1 }),
    update: () => db.collection('people').update('ann', (ann) => ({ ...ann, n: 2 })),
    delete: () => db.collection('people').delete('ann'),
    putAttachment: () => db.collection('people').putAttachment('ann', 'a', new Uint8Array(3)),
    'local.put': () => db.collection('people').local.put({ _id: 'a' }),
    transaction: () => db.transaction(() => {}),
    createCollection: () => db.createCollection('more'),
    dropCollection: () => db.dropCollection('people'),
    refresh: () => db.refresh(),
    checkpoint: () => db.flush(),
    dropIndex: () => db.collection('people').dropIndex('n'),
    compact: () => db.collection('people').compact(),
    ready: () => db.collection('people').ready(),
    purge: () => db.collection('people').purge('ann'),
    changePassword: () => db.changePassword('x', 'y'),
    addPassword: () => db.encryption!.addPassword('y'),
    rotateKey: () => db.encryption!.rotateKey(),
    moveTo: () => db.moveTo(memory()),
    close: () => db.close(),
  }
  for (const [name, write] of Object.entries(ways)) {
    test(name, async () => {
      await db.transaction(async (tx) => {
        await expect(write()).rejects.toMatchObject(deadlock)
        await tx.collection('people').upsert({ _id: 'bob' })
        await aMoment()
        await expect(write()).rejects.toMatchObject(deadlock)
      })
      expect((await db.collection('people').get('bob'))?._id).toBe('bob')
    })
  }

  test('the error says what to use', async () => {
    const failing = db.transaction(() => db.collection('people').insert({ n: 1 }))
    await expect(failing).rejects.toThrow('Use tx.collection("people")')
  })

  test('what lives on after the transaction may write, and so may others meanwhile', async () => {
    let later: Promise<unknown> | undefined
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const running = db.transaction(async () => {
      later = ended.promise.then(() => db.collection('people').insert({ _id: 'later' }))
      begun.resolve()
      await end.promise
    })
    await begun.promise
    const beside = db.collection('people').insert({ _id: 'beside' })
    end.resolve()
    await running
    ended.resolve()
    await Promise.all([beside, later])
    expect((await db.collection('people').get(['beside', 'later'])).length).toBe(2)
  })

  test('where async contexts are not known: up to the first await', async () => {
    const scopes = new SynchronousScope()
    const scope = { context: {} as DatabaseContext, ended: false }
    await scopes.run(scope, async () => {
      expect(scopes.getStore()).toBe(scope)
      await aMoment()
      expect(scopes.getStore()).toBe(undefined)
    })
    expect(scopes.getStore()).toBe(undefined)
  })
})

describe('writes that wait', () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    await openIt()
  })
  afterEach(async () => {
    await db.destroy()
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** A transaction that does not end before it is told to. */
  function held(of: Database): { end: () => void; ended: Promise<unknown> } {
    let end = (): void => {}
    const ended = of.transaction(async function slowPayment(tx) {
      await tx.collection('people').get('ann')
      await new Promise<void>((resolve) => (end = resolve))
    })
    return { end: () => end(), ended }
  }

  test('are reported on the console once, with the transaction that they wait for', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { end, ended } = held(db)
    await vi.advanceTimersByTimeAsync(10)
    const writes = [1, 2, 3].map((n) => db.collection('people').insert({ _id: `w${n}` }))
    await vi.advanceTimersByTimeAsync(WAIT_TOLD_MS - 100)
    expect(warn).toHaveBeenCalledTimes(0)
    await vi.advanceTimersByTimeAsync(10 * WAIT_TOLD_MS)
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.calls[0]![0]).toMatch(/has waited for 5 s.*slowPayment.*tx\.collection/)
    end()
    await Promise.all([ended, ...writes])
    expect(await db.collection('people').find().count()).toBe(4)
  })

  for (const where of ['the same handle', 'another handle']) {
    test(`in ${where} fail after writeWaitMsMax, and are not written later`, async () => {
      vi.spyOn(console, 'warn').mockImplementation(() => {})
      const limited = await open('x', { storage, writeWaitMsMax: 700 })
      const { end, ended } = held(where === 'the same handle' ? limited : db)
      await vi.advanceTimersByTimeAsync(10)
      const people = limited.collection('people')
      const writes = [people.insert({ _id: 'late' }), limited.transaction(() => {}), people.insert({ _id: 'late too' })]
      const outcomes = Promise.allSettled(writes)
      await vi.advanceTimersByTimeAsync(600)
      const last = people.insert({ _id: 'in time' })
      await vi.advanceTimersByTimeAsync(200)
      for (const outcome of await outcomes)
        expect(outcome).toMatchObject({ status: 'rejected', reason: { ...tooLong, details: { waitMsMax: 700 } } })
      end()
      await Promise.all([ended, last])
      expect(await people.get(['late', 'late too'])).toEqual([undefined, undefined])
      await limited.close()
    })
  }

  test('a wait for something other than a transaction is not reported', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    for (let n = 0; n < 3; n++) await db.collection('people').insert({ n })
    await vi.advanceTimersByTimeAsync(10 * WAIT_TOLD_MS)
    expect(warn).toHaveBeenCalledTimes(0)
  })

  test('a write that the storage does not answer fails after writeWaitMsMax, as its outcome is not known', async () => {
    let answers = true
    const held: (() => void)[] = []
    const silent: DatabaseStorage = {
      kind: 'silent',
      scope: 'process',
      identify: (name) => `silent ${name}`,
      has: (name) => storage.has(name),
      destroy: (name) => storage.destroy(name),
      async open(name) {
        const store = await storage.open(name)
        return new Proxy(store, {
          get(target, key) {
            const value: unknown = Reflect.get(target, key)
            if (typeof value !== 'function') return value
            if (key !== 'append') return value.bind(target) as unknown
            return async (...given: unknown[]) => {
              if (!answers) await new Promise<void>((resolve) => held.push(resolve))
              return Reflect.apply(value, target, given) as unknown
            }
          },
        })
      },
    }
    const environment = virtualEnvironment()
    const limited = await open('silent', { storage: silent, environment, writeWaitMsMax: 3000 })
    const people = limited.collection('people')
    await people.insert({ _id: 'before' })
    answers = false
    const write = people.insert({ _id: 'late' })
    const others = Promise.allSettled([write, people.insert({ _id: 'behind' })])
    await environment.advance(3500)
    await expect(write).rejects.toMatchObject({ code: 'PANNIER_OUTCOME_UNKNOWN', details: { waitMsMax: 3000 } })
    expect(await people.get('before')).toBeDefined()
    await environment.advance(3500)
    for (const end of await others) expect(end.status).toBe('rejected')
    answers = true
    for (const answer of held) answer()
    await people.insert({ _id: 'after' })
    expect(await people.get('late')).toBeDefined()
    await limited.close()
  })

  test('writeWaitMsMax is checked', () => {
    expect(() => open('x', { storage, writeWaitMsMax: 0 })).toThrow('writeWaitMsMax must be')
    expect(() => open('x', { storage, writeWaitMsMax: Number.NaN })).toThrow(TypeError)
  })
})
