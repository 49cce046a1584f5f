/**
 * Goal: whatever part of what is stored is changed, cut, swapped, mixed with another database or put back to what it was, the
 * answer is a typed error, never wrong data.
 * Method: a database is filled; what its storage holds is copied, changed in one way, and opened again.
 */
import { beforeAll, expect, test } from 'vitest'
import { isPannierError } from '../../../src/base/errors.ts'
import { open, type Credential } from '../../../src/index.ts'
import { checksum } from '../../../src/codec/checksum.ts'
import { readU32, writeU32 } from '../../../src/codec/bytes.ts'
import {
  encodeKeyring,
  decodeKeyring,
  finishKeyring,
  SEAL_BYTES,
  type SlotSecret,
} from '../../../src/storage/encrypted/keyring.ts'
import { SALT_BYTES } from '../../../src/storage/encrypted/platform.ts'
import { EncryptedPageStore } from '../../../src/storage/encrypted/encrypted-page-store.ts'
import { Vault } from '../../../src/storage/encrypted/vault.ts'
import { cryptoPlatform } from '../../../src/database/encryption/node-platform.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import type { Page, PageStore, StoreState } from '../../../src/storage/page-store.ts'
import type { Generation, PageId } from '../../../src/base/brand.ts'
import { someCommit, someRecord } from '../../../testing/conformance/page-store-fixture.ts'
import { seededRandom } from '../../../testing/random.ts'
import { newDeviceKey } from './fixture.ts'
import { imageOf, storageOf, type Image } from './image.ts'

interface Person {
  readonly _id: string
  readonly name: string
  readonly age: number
}

const person = (number: number): Person => ({
  _id: `p${number}`,
  name: `Person ${number} `.repeat(30),
  age: number % 90,
})

let key: CryptoKey
let otherKey: CryptoKey
/** In the order of time: after a checkpoint; with more in the log; after another checkpoint, a removed key and more. */
let images: Image[]
let other: Image
let rotated: Image

async function makeImages(): Promise<{ images: Image[]; rotated: Image }> {
  const storage = memory()
  const db = await open('x', { storage, encryption: { key } })
  const people = db.collection<Person>('people', { indexes: ['age'] })
  const slot = await db.encryption!.addKey(otherKey)
  const made: Image[] = []
  await people.insert(Array.from({ length: 400 }, (_, number) => person(number)))
  await db.flush()
  for (let number = 400; number < 405; number++) await people.insert(person(number))
  made.push(await imageOf(storage))
  for (let number = 405; number < 410; number++) await people.insert(person(number))
  made.push(await imageOf(storage))
  await db.encryption!.deleteSlot(slot.id)
  await db.flush()
  for (let number = 410; number < 415; number++) await people.insert(person(number))
  made.push(await imageOf(storage))
  await db.encryption!.rotateKey()
  const after = await imageOf(storage)
  await db.close()
  return { images: made, rotated: after }
}

beforeAll(async () => {
  key = await newDeviceKey()
  otherKey = await newDeviceKey()
  const made = await makeImages()
  images = made.images
  rotated = made.rotated
  other = (await makeImages()).images[2]!
})

/** The number of documents that are read, all of them right; or the code of the error. */
async function outcome(image: Image, encryption: Credential = { key }): Promise<number | string> {
  const db = await open('x', { storage: storageOf(image), encryption }).catch(codeOf)
  if (typeof db === 'string') return db
  try {
    const people = db.collection<Person>('people')
    const byId = await people.find({}).toArray()
    const byIndex = await people
      .find({ age: { $gte: 0 } })
      .sort('age')
      .toArray()
    for (const { _id, name, age } of [...byId, ...byIndex])
      expect({ _id, name, age }).toEqual(person(Number(_id.slice(1))))
    expect(byIndex.length).toBe(byId.length)
    return byId.length
  } catch (error) {
    return codeOf(error)
  } finally {
    await db.close().catch(() => {})
  }
}

function codeOf(error: unknown): string {
  if (isPannierError(error)) return error.code
  throw error
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice()
  copy[bit >>> 3]! ^= 1 << (bit & 7)
  return copy
}

function withState(image: Image, change: Partial<StoreState>): Image {
  return { ...image, state: { ...image.state, ...change } }
}

function withPages(image: Image, pages: readonly Page[]): Image {
  return { ...image, pages: new Map([...image.pages, ...pages.map(({ id, bytes }) => [id, bytes] as const)]) }
}

test('what was not touched is read', async () => {
  for (const [at, count] of [405, 410, 415].entries()) expect(await outcome(images[at]!)).toBe(count)
  expect(await outcome(rotated)).toBe(415)
  expect(await outcome(images[0]!, { key: otherKey })).toBe(405)
  expect(await outcome(images[2]!, { key: otherKey })).toBe('PANNIER_KEY_WRONG')
})

test('any flipped bit of log seal, meta record and log is an error', async () => {
  const image = images[2]!
  const { logSeal, meta, log } = image.state
  const codes = new Set<number | string>()
  for (let at = 0; at < logSeal!.length; at++)
    codes.add(await outcome(withState(image, { logSeal: flipped(logSeal!, 8 * at + (at % 8)) })))
  for (let at = 0; at < meta!.bytes.length; at += 3)
    codes.add(await outcome(withState(image, { meta: { ...meta!, bytes: flipped(meta!.bytes, 8 * at + (at % 8)) } })))
  for (const [index, record] of log.entries()) {
    for (let at = index % 7; at < record.bytes.length; at += 7) {
      const changed = log.map((one) =>
        one === record ? { ...one, bytes: flipped(one.bytes, 8 * at + (at % 8)) } : one,
      )
      codes.add(await outcome(withState(image, { log: changed })))
    }
  }
  expect(codes).toEqual(new Set(['PANNIER_CORRUPT']))
})

test('numbers of the meta record and of log records can not be changed', async () => {
  const image = images[2]!
  const { meta, log } = image.state
  for (const change of [
    { generation: meta!.generation + 1 },
    { sequence: meta!.sequence - 1 },
    { sequence: meta!.sequence + 1 },
  ])
    expect(await outcome(withState(image, { meta: { ...meta!, ...change } as typeof meta }))).toBe('PANNIER_CORRUPT')
  const shifted = log.map((record) => ({ ...record, sequence: (record.sequence + 1) as typeof record.sequence }))
  expect(await outcome(withState(image, { log: shifted }))).toBe('PANNIER_CORRUPT')
})

test('any flipped bit of a page is an error, or of a page that nobody reads', async () => {
  const image = images[2]!
  const random = seededRandom(3)
  let errors = 0
  let runs = 0
  for (const [id, bytes] of image.pages) {
    for (const bit of [8 * random.below(17), 8 * (17 + random.below(bytes.length - 33)), 8 * (bytes.length - 1)]) {
      const result = await outcome(withPages(image, [{ id, bytes: flipped(bytes, bit) }]))
      expect(['PANNIER_CORRUPT', 415]).toContain(result)
      runs++
      if (result !== 415) errors++
    }
  }
  expect(errors).toBeGreaterThan(runs / 2)
})

test('pages can not be swapped, taken from elsewhere, cut or left out', async () => {
  const image = images[2]!
  const ids = [...image.pages.keys()]
  const read: PageId[] = []
  for (const id of ids) {
    const { pages } = image
    const without = new Map(pages)
    without.delete(id)
    const result = await outcome({ ...image, pages: without })
    expect(['PANNIER_CORRUPT', 415]).toContain(result)
    if (result !== 415) read.push(id)
  }
  expect(read.length).toBeGreaterThan(5)
  for (const [at, id] of read.entries()) {
    const bytes = image.pages.get(id)!
    const others = [
      image.pages.get(read[(at + 1) % read.length]!)!,
      other.pages.get(id)!,
      bytes.slice(0, -1),
      new Uint8Array(0),
    ]
    for (const instead of others)
      expect(await outcome(withPages(image, [{ id, bytes: instead }]))).toBe('PANNIER_CORRUPT')
  }
})

test('log records can not be cut at either end, left out, swapped, doubled or taken from elsewhere', async () => {
  const image = images[2]!
  const { log } = image.state
  expect(log.length).toBe(5)
  const bytesOf = (order: readonly number[]): StoreState['log'] =>
    order.map((from, index) => ({ sequence: log[index]!.sequence, bytes: log[from]!.bytes }))
  const logs: StoreState['log'][] = [
    ...[1, 2, 3, 4, 5].map((count) => log.slice(0, -count)),
    log.slice(1),
    log.filter((_, index) => index !== 2),
    [...log, log[4]!],
    bytesOf([0, 2, 1, 3, 4]),
    bytesOf([0, 1, 2, 3, 3]),
    log.map((record, index) => (index === 4 ? { ...record, bytes: other.state.log[4]!.bytes } : record)),
  ]
  for (const changed of logs) expect(await outcome(withState(image, { log: changed }))).toBe('PANNIER_CORRUPT')
})

test('no part can be put back to what it was', async () => {
  const [first, second, third] = images as [Image, Image, Image]
  const old: Partial<StoreState>[] = [
    { logSeal: second.state.logSeal },
    { logSeal: undefined },
    { log: second.state.log },
    { log: second.state.log, logSeal: second.state.logSeal },
    { meta: second.state.meta },
    { meta: undefined },
    { meta: second.state.meta, log: [...second.state.log, ...third.state.log] },
    // Of the time when another key opened it.
    { keyring: second.state.keyring },
  ]
  for (const change of old) expect(await outcome(withState(third, change))).toBe('PANNIER_CORRUPT')
  expect(await outcome(withState(third, { keyring: second.state.keyring }), { key: otherKey })).toBe('PANNIER_CORRUPT')
  expect(await outcome(withState(second, { logSeal: first.state.logSeal }))).toBe('PANNIER_CORRUPT')
  expect(await outcome(withState(rotated, { keyring: third.state.keyring }))).toBe('PANNIER_CORRUPT')
  const oldPages = [...third.pages].map(([id, bytes]) => ({ id, bytes }))
  expect(await outcome(withPages(rotated, oldPages))).toBe('PANNIER_CORRUPT')
})

/** What Firefox may leave of an append for which there was no room: storage/indexeddb/log-seal.ts. */
test('a record that came without its log seal is read, built upon and taken into pages', async () => {
  for (const first of [1, 3]) {
    const inner = await memory().open('x')
    // Stores refuse a first record that comes without one; these zeros are what is read where there is none.
    const noLogSeal = (at: number): Uint8Array | undefined => (at === 1 ? new Uint8Array(16) : undefined)
    const withoutLogSeal = (at: number): PageStore =>
      new Proxy(inner, {
        get(store, name) {
          if (name === 'append')
            return (...[record, durability, logSeal]: Parameters<PageStore['append']>) =>
              store.append(record, durability, record.sequence === at ? noLogSeal(at) : logSeal)
          const member: unknown = Reflect.get(store, name)
          return typeof member === 'function' ? (member.bind(store) as unknown) : member
        },
      })
    const opened = (at = 0): EncryptedPageStore =>
      new EncryptedPageStore(withoutLogSeal(at), new Vault(cryptoPlatform(), { key }))
    const writer = opened(first)
    await writer.read()
    for (let sequence = 1; sequence <= first; sequence++) await writer.append(someRecord(sequence), 'relaxed')
    const reader = opened()
    expect((await reader.read()).log).toEqual(Array.from({ length: first }, (_, at) => someRecord(at + 1)))
    expect((await reader.read({ generation: 0 as Generation, sequence: someRecord(first).sequence })).log).toEqual([])
    await reader.commit(someCommit(1, first))
    expect((await opened().read()).log).toEqual([])
    await reader.append(someRecord(first + 1), 'relaxed')
    expect((await opened().read()).log).toEqual([someRecord(first + 1)])
    expect((await reader.read()).log).toEqual([someRecord(first + 1)])
    await opened(first + 2).append(someRecord(first + 2), 'relaxed')
    await opened(first + 3).append(someRecord(first + 3), 'relaxed')
    expect(isPannierError(await Promise.resolve(opened().read()).catch((error: unknown) => error))).toBe(true)
  }
})

test('nothing of another database is taken, though the same key opens it', async () => {
  const image = images[2]!
  const { keyring, logSeal, meta } = other.state
  for (const change of [{ keyring }, { logSeal }, { meta }, { keyring, logSeal }])
    expect(await outcome(withState(image, change))).toBe('PANNIER_CORRUPT')
})

test('neither a plain database in its place is accepted, nor one without its keyring', async () => {
  const image = images[2]!
  expect(await outcome(withState(image, { keyring: undefined }))).toBe('PANNIER_NOT_ENCRYPTED')
})

/** What tags can't tell: docs/internals/security.md. */
test('all of it together can be put back: that is for synchronisation to notice', async () => {
  expect(await outcome(images[1]!)).toBe(410)
})

test('costs of a password below the minimum or above the maximum are refused before they are paid', async () => {
  const storage = memory()
  await (await open('x', { storage, encryption: { password: 'secret' } })).close()
  const image = await imageOf(storage)
  const { keyring, seal } = decodeKeyring(image.state.keyring!)
  const derivations = [
    { name: 'pbkdf2', iterations: 1000 },
    { name: 'pbkdf2', iterations: 2 ** 40 },
    { name: 'argon2id', passes: 1, memoryKib: 1024, lanes: 1 },
    { name: 'argon2id', passes: 3, memoryKib: 2 ** 31, lanes: 4 },
    { name: 'argon2id', passes: 3, memoryKib: 65_536, lanes: 1000 },
  ] as const
  for (const derivation of derivations) {
    const slots = keyring.slots.map((slot) => ({ ...slot, secret: { ...(slot.secret as SlotSecret), derivation } }))
    const changed = finishKeyring(encodeKeyring({ ...keyring, slots }), seal, slots)
    expect(await outcome(withState(image, { keyring: changed }), { password: 'secret' })).toBe('PANNIER_CORRUPT')
  }
})

test('a keyring that was changed on purpose, with a checksum that matches, opens nothing', async () => {
  const image = images[2]!
  const copy = image.state.keyring!.slice(0, image.state.keyring!.length / 2)
  const sealEnd = readU32(copy, 10) + SEAL_BYTES
  // A device key needs no salt: the one that it has is not looked at.
  const isSalt = (at: number): boolean => at > sealEnd && at <= sealEnd + SALT_BYTES
  for (let at = 14; at < copy.length - 4; at++) {
    const changed = flipped(copy, 8 * at)
    writeU32(changed, 6, checksum(changed.subarray(0, sealEnd), 10))
    // Of the only slot: what its checksum covers.
    writeU32(changed, copy.length - 4, checksum(changed.subarray(sealEnd, copy.length - 4)))
    const keyring = new Uint8Array([...changed, ...changed])
    const result = await outcome(withState(image, { keyring }))
    if (isSalt(at)) expect(result).toBe(415)
    else expect(['PANNIER_CORRUPT', 'PANNIER_KEY_WRONG', 'PANNIER_UNAVAILABLE']).toContain(result)
  }
})
