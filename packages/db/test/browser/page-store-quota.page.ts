/** A page for page-store-quota.browser.ts: fills its origin until no more is accepted, and says what is left of it. */
import { isPannierError } from '../../src/base/errors.ts'
import { indexedDb } from '../../src/storage/indexeddb/indexeddb.ts'
import { sameBytes } from '../../src/codec/bytes.ts'
import type { PageStore } from '../../src/storage/page-store.ts'
import { assertEqual, assertTrue } from '../../testing/check.ts'
import {
  metaAndLog,
  pageIds,
  someBytes,
  someCommit,
  someMeta,
  somePage,
  someRecord,
} from '../../testing/conformance/page-store-fixture.ts'

export interface QuotaTab {
  /** Makes the database, and waits until room was set aside. */
  prepare(): Promise<void>
  /** Fills the origin, checking that each commit happened whole or not at all. Returns how many were refused. */
  fill(): Promise<number>
  /** Appends records, each with a log seal, until no more are accepted, several times, and checks what each refusal leaves. */
  appendUntilFull(): Promise<void>
  /** Appends so many small records; returns how many were accepted before the first was refused. */
  append(count: number): Promise<number>
  /** Frees half of the pages; false if that was refused. */
  free(): Promise<boolean>
  destroy(): Promise<void>
}

declare global {
  var quotaTab: QuotaTab
}

const NAME = 'page-store-quota'
const storage = indexedDb()
let store: PageStore
let generation = 0
let sequence = 0
let pages = 0

globalThis.quotaTab = {
  async prepare() {
    await openStore()
    await commitPages(1)
    const folder = await navigator.storage.getDirectory()
    while (!(await hasReserve(folder))) await new Promise((resolve) => setTimeout(resolve, 10))
    await store.close()
  },
  async fill() {
    await openStore()
    let refused = 0
    for (const size of [100, 20, 4, 1]) {
      while (await accepted(commitPages(size))) await checkState()
      refused++
      await checkState()
    }
    return refused
  },
  async appendUntilFull() {
    for (const size of [1_000_000, 200_000, 70_000, 70_000, 70_000]) {
      while (await appended(size));
      await checkLog()
    }
  },
  async append(count) {
    for (let done = 0; done < count; done++) if (!(await appended(200))) return done
    await checkLog()
    return count
  },
  async free() {
    const ids = pageIds(...Array.from({ length: pages >> 1 }, (_, index) => index + 1))
    const freed = await accepted(store.commit(someCommit(generation + 1, sequence, { free: ids })))
    if (!freed) return false
    assertEqual((await store.listPages()).length, pages - ids.length)
    return true
  },
  async destroy() {
    await storage.destroy(NAME)
    const again = await storage.open(NAME)
    assertEqual(await metaAndLog(again), { meta: undefined, log: [] })
    await again.close()
    await storage.destroy(NAME)
  },
}

async function openStore(): Promise<void> {
  store = await storage.open(NAME)
  generation = (await store.read()).meta?.generation ?? 0
  pages = (await store.listPages()).length
}

async function hasReserve(folder: FileSystemDirectoryHandle): Promise<boolean> {
  try {
    const file = await folder.getFileHandle('pannier-reserve')
    return (await file.getFile()).size > 0
  } catch {
    return false
  }
}

async function commitPages(size: number): Promise<void> {
  const added = Array.from({ length: size }, (_, index) => somePage(pages + index + 1, 30_000))
  await store.commit(someCommit(generation + 1, sequence, { pages: added }))
  generation++
  pages += size
}

async function appended(size: number): Promise<boolean> {
  const done = await accepted(store.append(someRecord(sequence + 1, size), 'relaxed', logSealOf(sequence + 1)))
  if (done) sequence++
  return done
}

const logSealOf = (newest: number): Uint8Array => someBytes(newest, 16)

/** What was appended is there. One record may be there that was refused, and the log seal may be that of the one before the newest. */
async function checkLog(): Promise<void> {
  const { log, logSeal } = await store.read()
  const newest = log.at(-1)?.sequence ?? 0
  assertTrue(newest === sequence || newest === sequence + 1, `the log ends at ${newest}, not at ${sequence}`)
  const candidates = [logSealOf(newest), logSealOf(newest - 1)]
  assertTrue(
    candidates.some((bytes) => sameBytes(bytes, logSeal ?? logSealOf(0))),
    `the log seal vouches for the end of the log at ${newest}`,
  )
  sequence = newest
}

async function checkState(): Promise<void> {
  const { meta } = await store.read()
  assertEqual(meta, generation === 0 ? undefined : someMeta(generation, sequence))
  assertEqual((await store.listPages()).length, pages)
}

/** False if there was no room. */
async function accepted(write: unknown): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    assertTrue(isPannierError(error, 'PANNIER_QUOTA_EXCEEDED'), `the code is right: ${String(error)}`)
    return false
  }
}
