/** The part of the page store's conformance suite that is about what wrappers keep beside the pages: keyring, log seal, other bytes. */
import { assertEqual } from '../check.ts'
import { seededRandom } from '../random.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import { KEYRING_BYTES_MAX, PAGE_BYTES_MAX, WRAPPER_BYTES_MAX } from '../../src/storage/page-store.ts'
import {
  appendRange,
  assertRefused,
  pageIds,
  someBytes,
  someCommit,
  someMeta,
  somePage,
  someRecord,
  withStore,
} from './page-store-fixture.ts'
import type { PageStoreSuiteContext } from './page-store-fixture.ts'

export function pageStoreKeyringSuite(context: PageStoreSuiteContext): void {
  keyringCases(context)
  logSealCases(context)
  replacementCases(context)
}

async function keyringOf(store: PageStore): Promise<Uint8Array | undefined> {
  return (await store.read()).keyring
}

async function logSealOf(store: PageStore): Promise<Uint8Array | undefined> {
  return (await store.read()).logSeal
}

function keyringCases({ test, create }: PageStoreSuiteContext): void {
  test('there is no keyring until one is put; then every read gives it', () =>
    withStore(create, async (store, { open }) => {
      assertEqual(await keyringOf(store), undefined)
      await store.putKeyring(undefined, someBytes(1, 500), 'relaxed')
      assertEqual(await keyringOf(store), someBytes(1, 500))
      await store.append(someRecord(1), 'relaxed', someBytes(2, 10))
      await appendRange(store, 2, 3)
      await store.commit(someCommit(1, 2, { pages: [somePage(1)] }))
      const { generation, sequence } = someMeta(1, 3)
      assertEqual((await store.read({ generation, sequence })).keyring, someBytes(1, 500))
      await store.close()
      assertEqual(await keyringOf(await open()), someBytes(1, 500))
    }))

  test('a keyring is replaced whole, only by who knows what is there', () =>
    withStore(create, async (store, { open }) => {
      const other = await open()
      await store.putKeyring(undefined, someBytes(1, 300), 'relaxed')
      for (const expected of [undefined, someBytes(2, 300), someBytes(1, 299), someBytes(1, 301)]) {
        await assertRefused('PANNIER_STALE', () => other.putKeyring(expected, someBytes(3, 10), 'relaxed'))
      }
      assertEqual(await keyringOf(store), someBytes(1, 300))
      await other.putKeyring(someBytes(1, 300), someBytes(2, KEYRING_BYTES_MAX), 'strict')
      await assertRefused('PANNIER_STALE', () => store.putKeyring(someBytes(1, 300), someBytes(3, 10), 'relaxed'))
      assertEqual(await keyringOf(store), someBytes(2, KEYRING_BYTES_MAX))
      await store.putKeyring(someBytes(2, KEYRING_BYTES_MAX), someBytes(4, 1), 'relaxed')
      assertEqual(await keyringOf(other), someBytes(4, 1))
    }))

  test('the first keyring is put into an empty database only', () =>
    withStore(create, async (store) => {
      await appendRange(store, 1, 1)
      await assertRefused('PANNIER_STALE', () => store.putKeyring(undefined, someBytes(1, 10), 'relaxed'))
      await store.commit(someCommit(1, 1))
      await assertRefused('PANNIER_STALE', () => store.putKeyring(undefined, someBytes(1, 10), 'relaxed'))
      assertEqual(await keyringOf(store), undefined)
    }))

  test('where there is a keyring, the first record comes with a log seal', () =>
    withStore(create, async (store) => {
      await store.putKeyring(undefined, someBytes(1, 10), 'relaxed')
      await assertRefused('PANNIER_STALE', () => store.append(someRecord(1), 'relaxed'))
      await assertRefused('PANNIER_STALE', () => store.commit(someCommit(1, 1, { record: someRecord(1) })))
      const { meta, log } = await store.read()
      assertEqual([meta, log.length], [undefined, 0])
      await store.append(someRecord(1), 'relaxed', someBytes(2, 10))
    }))

  test('of two first keyrings at the same time exactly one is put', () =>
    withStore(create, async (first, { open }) => {
      const puts = [first, await open()].map(async (store, index) =>
        store.putKeyring(undefined, someBytes(index, 100), 'relaxed'),
      )
      const outcomes = await Promise.allSettled(puts)
      assertEqual(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
      const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled')
      assertEqual(await keyringOf(first), someBytes(winner, 100))
    }))

  test('keyring and log seal are bytes of the view that was handed in, are not kept, and belong to the caller when read', () =>
    withStore(create, async (store) => {
      const buffer = someBytes(1, 300)
      await store.putKeyring(undefined, buffer.subarray(50, 150), 'relaxed')
      await store.append(someRecord(1), 'relaxed', buffer.subarray(60, 100))
      buffer.fill(0)
      const state = await store.read()
      assertEqual([state.keyring, state.logSeal], [someBytes(1, 300).slice(50, 150), someBytes(1, 300).slice(60, 100)])
      state.keyring!.fill(0)
      state.logSeal!.fill(0)
      assertEqual(await keyringOf(store), someBytes(1, 300).slice(50, 150))
      assertEqual(await logSealOf(store), someBytes(1, 300).slice(60, 100))
    }))

  test('destroy takes keyring and log seal along, and closed handles put none', () =>
    withStore(create, async (store, { storage, name, open }) => {
      await store.putKeyring(undefined, someBytes(1, 10), 'relaxed')
      await store.append(someRecord(1), 'relaxed', someBytes(2, 10))
      await storage.destroy(name)
      const again = await open()
      const { keyring, logSeal } = await again.read()
      assertEqual([keyring, logSeal], [undefined, undefined])
      await again.close()
      await assertRefused('PANNIER_CLOSED', () => again.putKeyring(undefined, someBytes(1, 10), 'relaxed'))
      await assertRefused('PANNIER_CLOSED', () => again.replacePages(someBytes(1, 10), [somePage(1)]))
    }))
}

function logSealCases({ test, create }: PageStoreSuiteContext): void {
  test('a log seal comes with an append and stays until the next one', () =>
    withStore(create, async (store, { open }) => {
      assertEqual(await logSealOf(store), undefined)
      await store.append(someRecord(1), 'relaxed', someBytes(1, 61))
      assertEqual(await logSealOf(store), someBytes(1, 61))
      await store.append(someRecord(2), 'strict', someBytes(2, 256))
      await store.append(someRecord(3), 'relaxed', someBytes(3, 1))
      await store.append(someRecord(4), 'relaxed')
      assertEqual(await logSealOf(store), someBytes(3, 1))
      await store.commit(someCommit(1, 3, { pages: [somePage(1)] }))
      const { log, logSeal } = await store.read()
      assertEqual(log, [someRecord(4)])
      assertEqual(logSeal, someBytes(3, 1))
      const { generation, sequence } = someMeta(1, 4)
      assertEqual((await store.read({ generation, sequence })).logSeal, someBytes(3, 1), 'also with nothing new')
      await store.close()
      const again = await open()
      assertEqual(await logSealOf(again), someBytes(3, 1))
      await again.append(someRecord(5), 'relaxed', someBytes(5, 40))
      assertEqual((await again.read()).log, [someRecord(4), someRecord(5)])
    }))

  test('an append that is refused leaves the log seal as it was', () =>
    withStore(create, async (store, { open }) => {
      const other = await open()
      await store.append(someRecord(1), 'relaxed', someBytes(1, 50))
      await other.append(someRecord(2), 'relaxed', someBytes(2, 50))
      for (const wrong of [1, 2, 4]) {
        await assertRefused('PANNIER_STALE', () => store.append(someRecord(wrong, 20), 'relaxed', someBytes(9, 50)))
      }
      await appendRange(other, 3, 7)
      await other.commit(someCommit(1, 6))
      for (const wrong of [2, 3, 4, 7, 9]) {
        await assertRefused('PANNIER_STALE', () => store.append(someRecord(wrong, 20), 'relaxed', someBytes(9, 50)))
      }
      const { log, logSeal } = await store.read()
      assertEqual(log, [someRecord(7)])
      assertEqual(logSeal, someBytes(2, 50))
    }))

  test('of two appends of one sequence at the same time the log seal is that of the one that succeeds', () =>
    withStore(create, async (first, { open }) => {
      const second = await open()
      for (let sequence = 1; sequence <= 10; sequence++) {
        const outcomes = await Promise.allSettled(
          [first, second].map(async (store, index) =>
            store.append(someRecord(sequence), 'relaxed', someBytes(index, 40)),
          ),
        )
        const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled')
        assertEqual(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
        assertEqual(await logSealOf(first), someBytes(winner, 40))
      }
    }))

  test('whatever handles try that know more or less, the log seal is that of the newest record', () =>
    withStore(create, async (store, { open }) => {
      const random = seededRandom(7)
      const handles = [store, await open(), await open()].map((handle) => ({ handle, generation: 0, sequence: 0 }))
      let [generation, sequence, base, logSeal] = [0, 0, 0, 0]
      for (let step = 1; step <= 200; step++) {
        const one = random.pick(handles)
        const next = { generation: one.generation + 1, sequence: one.sequence + 1 }
        const isNewest = one.sequence === sequence
        if (random.chance(0.1)) {
          const commit = someCommit(next.generation, one.sequence)
          if (one.generation !== generation) await assertRefused('PANNIER_STALE', () => one.handle.commit(commit))
          else {
            await one.handle.commit(commit)
            ;[generation, base, one.generation] = [next.generation, one.sequence, next.generation]
          }
        } else if (isNewest || random.chance(0.5)) {
          const append = () => one.handle.append(someRecord(next.sequence, step), 'relaxed', someBytes(step, 30))
          if (!isNewest) await assertRefused('PANNIER_STALE', append)
          else {
            await append()
            ;[sequence, logSeal, one.sequence] = [next.sequence, step, next.sequence]
          }
        }
        if (random.chance(0.3)) {
          const state = await one.handle.read()
          assertEqual(
            state.logSeal,
            logSeal === 0 ? undefined : someBytes(logSeal, 30),
            `the log seal after step ${step}`,
          )
          assertEqual(state.log.length, sequence - base)
          ;[one.generation, one.sequence] = [generation, sequence]
        }
      }
    }))

  test('a commit with its log record may replace the log seal', () =>
    withStore(create, async (store) => {
      await store.append(someRecord(1), 'relaxed', someBytes(1, 50))
      await store.commit(someCommit(1, 2, { record: someRecord(2), pages: [somePage(1)], logSeal: someBytes(2, 50) }))
      assertEqual(await logSealOf(store), someBytes(2, 50))
      const late = someCommit(1, 3, { record: someRecord(3), logSeal: someBytes(3, 50) })
      await assertRefused('PANNIER_STALE', () => store.commit(late))
      assertEqual(await logSealOf(store), someBytes(2, 50))
    }))
}

function replacementCases({ test, create }: PageStoreSuiteContext): void {
  test('existing pages are replaced, others are ignored', () =>
    withStore(create, async (store, { open }) => {
      const keyring = someBytes(1, 100)
      await store.putKeyring(undefined, keyring, 'relaxed')
      const pages = Array.from({ length: 40 }, (_, index) => somePage(index + 1))
      await store.commit(someCommit(1, 0, { pages }))
      await store.commit(someCommit(2, 0, { free: pageIds(3, 4, 40) }))
      await store.append(someRecord(1), 'relaxed', someBytes(2, 10))
      await store.append(someRecord(2), 'relaxed')
      const large = PAGE_BYTES_MAX + WRAPPER_BYTES_MAX
      await store.replacePages(keyring, [somePage(2, large), somePage(4, 30), somePage(39, 7), somePage(41, 30)])
      await store.close()
      const again = await open()
      const kept = pages.map((page) => page.id).filter((id) => ![3, 4, 40].includes(id))
      assertEqual(await again.listPages(), kept)
      const expected = [somePage(2, large).bytes, undefined, somePage(39, 7).bytes, undefined, somePage(38).bytes]
      assertEqual(await again.readPages(pageIds(2, 4, 39, 41, 38)), expected)
      const { meta, log } = await again.read()
      assertEqual({ meta, log }, { meta: someMeta(2, 0), log: [someRecord(1), someRecord(2)] })
    }))

  test('pages are replaced only by who knows the keyring', () =>
    withStore(create, async (store) => {
      await store.putKeyring(undefined, someBytes(1, 100), 'relaxed')
      await store.commit(someCommit(1, 0, { pages: [somePage(1), somePage(2)] }))
      await store.putKeyring(someBytes(1, 100), someBytes(2, 100), 'relaxed')
      const pages = [somePage(1, 50), somePage(2, 50)]
      await assertRefused('PANNIER_STALE', () => store.replacePages(someBytes(1, 100), pages))
      assertEqual(await store.readPages(pageIds(1, 2)), [somePage(1).bytes, somePage(2).bytes])
      await store.replacePages(someBytes(2, 100), pages)
      assertEqual(await store.readPages(pageIds(1, 2)), [somePage(1, 50).bytes, somePage(2, 50).bytes])
    }))

  test('a claim stays valid while pages are replaced', () =>
    withStore(create, async (store, { open }) => {
      const other = await open()
      const keyring = someBytes(1, 100)
      await store.putKeyring(undefined, keyring, 'relaxed')
      await store.commit(someCommit(1, 0, { pages: [somePage(1), somePage(2)] }))
      const commit = someCommit(2, 0, { claim: 'a', pages: [somePage(4)], firstNewPageId: somePage(3).id })
      await store.claim('a', someMeta(1, 0).generation, somePage(3).id)
      await store.stage('a', [somePage(3)])
      await other.replacePages(keyring, [somePage(1, 50), somePage(3, 50)])
      await store.commit(commit)
      const bytes = [somePage(1, 50), somePage(2), somePage(3, 50), somePage(4)].map((page) => page.bytes)
      assertEqual(await store.readPages(pageIds(1, 2, 3, 4)), bytes)
    }))
}
