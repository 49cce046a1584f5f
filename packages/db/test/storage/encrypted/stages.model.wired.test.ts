/**
 * Goal: no page, record or keyring of one moment is taken for that of another, also of stages and commits that never came about.
 * Method: a random history of commits, staged commits that fail or are cut off, new handles, changed keys and slots. After each backend
 * call all that the storage holds is copied, as an attacker would who reads the medium again and again; everything that was ever written
 * is kept. Then parts of what is there at the end are exchanged for others that have been in that place, and it is read.
 */
import { copyFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isPannierError, PannierError } from '../../../src/base/errors.ts'
import { open, type Database } from '../../../src/index.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import { sqlite } from '../../../src/storage/sqlite/sqlite.ts'
import type { PageId } from '../../../src/base/brand.ts'
import type { PageStore, DatabaseStorage } from '../../../src/storage/page-store.ts'
import { seededRandom, type Random } from '../../../testing/random.ts'
import { temporaryFiles } from '../../key-value-stores.ts'
import { deviceKey, newDeviceKey } from './fixture.ts'
import { imageOf, storageOf, type Image } from './image.ts'
import { seedsOf } from '../../../../../tools/test/seeds.ts'

const SEEDS = seedsOf('model')
const EXCHANGES = 40
const newPath = temporaryFiles()

interface Row {
  readonly _id: string
  readonly value: number
  readonly text: string
}

/** What the whole database holds at some moment, as text. */
type Content = string

/** The storage as the attacker sees it: all pages that were ever in it, by id, and what else it held after each call. */
class Watched {
  readonly inner: DatabaseStorage = memory()
  readonly images: Image[] = []
  readonly everyPage = new Map<PageId, Uint8Array[]>()
  /** Counts down to a call that fails. */
  failAfter = Infinity
  failCommits = false

  async look(): Promise<void> {
    const image = await imageOf(this.inner)
    this.images.push(image)
    for (const [id, bytes] of image.pages) this.#seen(id, bytes)
  }

  storage(): DatabaseStorage {
    return {
      kind: 'watched',
      scope: 'process',
      identify: () => 'watched',
      has: async () => true,
      open: async (name) => this.#watched(await this.inner.open(name)),
      destroy: (name) => this.inner.destroy(name),
    }
  }

  #seen(id: PageId, bytes: Uint8Array): void {
    const known = this.everyPage.get(id) ?? []
    if (!known.some((one) => Buffer.compare(one, bytes) === 0)) known.push(bytes.slice())
    this.everyPage.set(id, known)
  }

  #watched(store: PageStore): PageStore {
    const fail = (): void => {
      if (--this.failAfter > 0) return
      this.failAfter = Infinity
      throw new PannierError('PANNIER_IO_FAILED', 'the attacker has pulled the plug')
    }
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'stage')
          return async (...call: Parameters<PageStore['stage']>) => {
            fail()
            await target.stage(...call)
            await this.look()
          }
        if (name === 'commit')
          return async (...[commit]: Parameters<PageStore['commit']>) => {
            // What a commit that fails has written may lie on the medium all the same.
            const pages = [...commit.pages].map(({ id, bytes }) => ({ id, bytes }))
            for (const { id, bytes } of pages) this.#seen(id, bytes)
            if (this.failCommits) throw new PannierError('PANNIER_IO_FAILED', 'the attacker has pulled the plug')
            await target.commit({ ...commit, pages })
            await this.look()
          }
        if (name === 'putKeyring' || name === 'append')
          return async (...call: never[]) => {
            await (target[name] as (...some: never[]) => unknown)(...call)
            await this.look()
          }
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    })
  }
}

async function contentOf(db: Database): Promise<Content> {
  const rows = await db.collection<Row>('rows').find({}).toArray()
  const found = rows.map(({ _id, value }) => `${_id}=${value}`)
  return found.toSorted().join(' ')
}

/** Of an image: what it holds, or the code of the error. */
async function outcome(image: Image): Promise<Content> {
  try {
    const db = await open('x', { storage: storageOf(image), encryption: { key: deviceKey } })
    try {
      return await contentOf(db)
    } finally {
      await db.close().catch(() => {})
    }
  } catch (error) {
    if (isPannierError(error)) return error.code
    throw error
  }
}

async function makeHistory(random: Random, watched: Watched): Promise<void> {
  const openOne = (): Promise<Database> =>
    open('x', { storage: watched.storage(), encryption: { key: deviceKey }, cacheBytesMax: 1 << 20 })
  let db = await openOne()
  let value = 0
  const rows = (count: number): Row[] => {
    value++
    const text = `${value} `.repeat(150)
    return Array.from({ length: count }, (_, at) => ({ _id: `r${at}`, value, text }))
  }
  const spoil = async (work: () => Promise<unknown>): Promise<void> => {
    watched.failCommits = true
    await work().catch(() => {})
    watched.failCommits = false
    // The same handle goes on.
    if (random.below(2) === 0) return
    // A process that has died: the one after it knows nothing of what was begun.
    await db.close().catch(() => {})
    db = await openOne()
  }
  for (let step = 0; step < 14; step++) {
    const count = random.pick([1, 20, 200])
    switch (random.below(7)) {
      case 0:
        await db.collection<Row>('rows').upsert(rows(count))
        break
      case 1:
        await db.collection<Row>('rows').upsert(rows(count))
        await db.flush()
        break
      case 2:
        await db.collection<Row>('rows').upsert(rows(count))
        await spoil(() => db.flush())
        break
      case 3:
        // Beyond what goes into the log: pages are staged.
        watched.failAfter = 1 + random.below(4)
        await spoil(() => db.collection<Row>('rows').upsert(rows(2000)))
        watched.failAfter = Infinity
        break
      case 4: {
        const { id } = await db.encryption!.addKey(await newDeviceKey())
        if (random.below(2) === 0) await db.encryption!.deleteSlot(id)
        break
      }
      case 5:
        if (random.below(3) === 0) await db.encryption!.rotateKey()
        else await db.collection<Row>('rows').upsert(rows(count))
        break
      default:
        await db.close()
        db = await openOne()
    }
  }
  await db.collection<Row>('rows').upsert(rows(random.pick([1, 300])))
  await db.flush()
  await db.close()
}

interface Exchange {
  readonly what: string
  readonly image: Image
  /** Of what there was as a whole at some moment, what may be read, if anything is. */
  readonly allowed: (moment: Image) => boolean
}

/** Some part of what is there at the end is what it was at another moment. */
function exchange(random: Random, last: Image, watched: Watched): Exchange {
  const then = random.pick(watched.images)
  const { state } = last
  const always = (): boolean => true
  switch (random.below(6)) {
    case 0:
    case 1: {
      const several = [...watched.everyPage].filter(([id, versions]) => last.pages.has(id) && versions.length > 1)
      const pages = new Map(last.pages)
      const isAll = random.below(2) === 0
      for (const [id, versions] of several) if (isAll || random.below(3) === 0) pages.set(id, random.pick(versions))
      return { what: 'pages', image: { ...last, pages }, allowed: (moment) => moment === last }
    }
    case 2:
      return { what: 'keyring', image: { ...last, state: { ...state, keyring: then.state.keyring } }, allowed: always }
    case 3: {
      // Nothing of before it was put is read behind a keyring, but for what was there when it was put.
      const first = watched.images.find((image) => sameKeyring(image, last))!
      const isOlder = generationOf(then) < generationOf(first) || sequenceOf(then) < sequenceOf(first)
      const image = { ...then, state: { ...then.state, keyring: state.keyring } }
      return { what: 'all but the keyring', image, allowed: (moment) => !isOlder && moment === then }
    }
    case 4: {
      const log = random.below(2) === 0 ? then.state.log : state.log
      return { what: 'meta', image: { ...last, state: { ...state, meta: then.state.meta, log } }, allowed: always }
    }
    default: {
      const { logSeal } = random.pick([then, last]).state
      return { what: 'records', image: { ...last, state: { ...then.state, logSeal } }, allowed: always }
    }
  }
}

function sameKeyring(one: Image, other: Image): boolean {
  return Buffer.compare(one.state.keyring!, other.state.keyring!) === 0
}

function generationOf({ state: { meta } }: Image): number {
  return meta?.generation ?? 0
}

function sequenceOf({ state: { meta, log } }: Image): number {
  return log.at(-1)?.sequence ?? meta?.sequence ?? 0
}

/** E3's: a page that is missing. */
function isRefusal(result: Content): boolean {
  return result === 'PANNIER_CORRUPT'
}

test(`random histories: ${SEEDS.length} seeds from ${SEEDS[0]}`, { timeout: 3_600_000 }, async () => {
  let abandoned = 0
  let refused = 0
  for (const seed of SEEDS) {
    const random = seededRandom(seed * 7919)
    const watched = new Watched()
    await makeHistory(random, watched)
    const last = watched.images.at(-1)!
    abandoned += [...watched.everyPage.values()].filter((versions) => versions.length > 1).length
    const contents = new Map<Image, Content>()
    for (const image of watched.images) contents.set(image, await outcome(image))
    expect(
      [...contents.values()].filter((content) => content.startsWith('PANNIER_')),
      `seed ${seed}: all open`,
    ).toEqual([])
    for (let count = 0; count < EXCHANGES; count++) {
      const { what, image, allowed } = exchange(random, last, watched)
      const result = await outcome(image)
      if (isRefusal(result)) refused++
      else if (!watched.images.some((moment) => allowed(moment) && contents.get(moment) === result))
        throw new Error(
          `seed ${seed}, exchange ${count} of ${what} (replay: SEED=${seed} SEEDS=1): ${result.slice(0, 100)}`,
        )
    }
  }
  expect(abandoned, 'pages with more than one version').toBeGreaterThan(SEEDS.length)
  expect(refused).toBeGreaterThan(SEEDS.length)
})

test('pages of two futures of one copy can not be mixed', async () => {
  const path = newPath()
  const encryption = { key: deviceKey }
  const write = async (file: string, value: number): Promise<Image> => {
    const db = await open(file, { storage: sqlite(), encryption })
    const rows = Array.from({ length: 300 }, (_, at) => ({ _id: `r${at}`, value, text: `${value} `.repeat(150) }))
    await db.collection<Row>('rows').upsert(rows)
    await db.flush()
    await db.close()
    return imageOf(sqlite(), file)
  }
  await write(path, 1)
  const copy = newPath()
  copyFileSync(path, copy)
  const [one, other] = [await write(path, 2), await write(copy, 3)]
  const common = [...one.pages].filter(([id, bytes]) => {
    const there = other.pages.get(id)
    return there !== undefined && Buffer.compare(there, bytes) !== 0
  })
  expect(common.length).toBeGreaterThan(3)
  for (const [id] of common) {
    const result = await outcome({ ...one, pages: new Map([...one.pages, [id, other.pages.get(id)!]]) })
    expect(['PANNIER_CORRUPT', await outcome(one)]).toContain(result)
  }
  expect(await outcome({ ...one, pages: other.pages })).toBe('PANNIER_CORRUPT')
  for (const part of ['meta', 'log', 'logSeal'] as const)
    expect(['PANNIER_CORRUPT', await outcome(one)]).toContain(
      await outcome({ ...one, state: { ...one.state, [part]: other.state[part] } }),
    )
})
