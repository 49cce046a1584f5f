/** What the cases of the page store's conformance suite start from: handles, records and pages with known bytes. */
import type { CommitSequence, Generation, PageId } from '../../src/base/brand.ts'
import type {
  Commit,
  KnownState,
  LogRecord,
  MetaRecord,
  Page,
  PageStore,
  DatabaseStorage,
  StoreState,
} from '../../src/storage/page-store.ts'
import { assertRejects } from '../check.ts'
import type { SuiteContext } from '../suite.ts'

/** A storage and the name of a database in it, made for one test. */
export interface PageStoreFixture {
  /** The storage under test. */
  readonly storage: DatabaseStorage
  /** The name of the test's database. */
  readonly name: string
}

/** What the suite of page stores needs: a test function, and a storage for each test. */
export interface PageStoreSuiteContext extends SuiteContext<() => Promise<PageStoreFixture>> {
  /** It keeps the keyring and the log seal for itself: the cases about these are left out. */
  readonly seals?: boolean
}

/** One case's handles on one database. */
export interface Handles extends PageStoreFixture {
  open(): Promise<PageStore>
}

/** Runs `body` with a first handle, then closes what was opened and destroys the database. */
export async function withStore(
  create: () => Promise<PageStoreFixture>,
  body: (store: PageStore, handles: Handles) => Promise<void>,
): Promise<void> {
  const { storage, name } = await create()
  const opened: PageStore[] = []
  const open = async (): Promise<PageStore> => {
    const store = await storage.open(name)
    opened.push(store)
    return store
  }
  try {
    await body(await open(), { storage, name, open })
  } finally {
    for (const store of opened) await store.close()
    await storage.destroy(name)
  }
}

/** Fails unless the call fails with that code, at once or later. */
export async function assertRefused(code: string, call: () => unknown): Promise<void> {
  await assertRejects((async () => call())(), code)
}

/** What `read` gives, but for what is a wrapper's. */
export async function metaAndLog(store: PageStore, known?: KnownState): Promise<Pick<StoreState, 'meta' | 'log'>> {
  const { meta, log } = await store.read(known)
  return { meta, log }
}

/** Bytes that depend on both arguments; they don't compress well. */
export function someBytes(seed: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = (seed * 2654435761) | 1
  for (let at = 0; at < length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state
  }
  return bytes
}

export function somePage(id: number, length: number = 100): Page {
  return { id: id as PageId, bytes: someBytes(id, length) }
}

export function pageIds(...ids: number[]): PageId[] {
  return ids as PageId[]
}

export function someRecord(sequence: number, length: number = 50): LogRecord {
  return { sequence: sequence as CommitSequence, bytes: someBytes(sequence + 1e6, length) }
}

export function someMeta(generation: number, sequence: number): MetaRecord {
  const bytes = someBytes(generation + 2e6, 80)
  return { generation: generation as Generation, sequence: sequence as CommitSequence, bytes }
}

/** A commit that leads to `generation`, with no pages unless told. `firstNewPageId` is the lowest id in an array of them. */
export function someCommit(generation: number, sequence: number, more: Partial<Commit> = {}): Commit {
  const ids = Array.isArray(more.pages) ? (more.pages as Page[]).map((page) => page.id) : []
  return {
    expectedGeneration: (generation - 1) as Generation,
    pages: [],
    free: [],
    meta: someMeta(generation, sequence),
    firstNewPageId: Math.min(Number.MAX_SAFE_INTEGER, ...ids) as PageId,
    durability: 'relaxed',
    ...more,
  }
}

export async function appendRange(store: PageStore, first: number, last: number): Promise<void> {
  for (let sequence = first; sequence <= last; sequence++) await store.append(someRecord(sequence), 'relaxed')
}

/** The numbers from `first` to `last` in an order that looks random and is always the same. */
export function shuffled(first: number, last: number): number[] {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const chance = someBytes(last, 4 * numbers.length)
  for (let index = numbers.length - 1; index > 0; index--) {
    const other = (chance[4 * index]! * 256 + chance[4 * index + 1]!) % (index + 1)
    const kept = numbers[index]!
    numbers[index] = numbers[other]!
    numbers[other] = kept
  }
  return numbers
}
