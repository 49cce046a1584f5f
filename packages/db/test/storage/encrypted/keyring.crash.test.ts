/**
 * Goal: damage to the keyring locks nobody out, or the owner of what is damaged alone; what another keyring says is never taken for what the
 * newest says; and it may be cut short anywhere, by the end of a process or a loss of power.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { isPannierError } from '../../../src/base/errors.ts'
import { open, type Credential } from '../../../src/index.ts'
import { decodeKeyring } from '../../../src/storage/encrypted/keyring.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import type { DatabaseStorage } from '../../../src/storage/page-store.ts'
import { seededRandom } from '../../../testing/random.ts'
import type { SimulatedPlace } from '../../../testing/crash-host.ts'
import { RawFileStorage } from '../../../testing/raw-file-storage.ts'
import { SimulatedDisk } from '../../../testing/simulated-disk.ts'
import { SimulatedStorage, type Fault } from '../../../testing/simulated-page-store.ts'
import { SimulatedLevels } from '../simulated-level.ts'
import { deviceKey, newDeviceKey } from './fixture.ts'
import { imageOf, storageOf, type Image } from './image.ts'
import { firstOf, seedsOf, strideOf } from '../../../../../tools/test/seeds.ts'

const SEEDS = seedsOf('crash', 0.1)
const STRIDE = strideOf(4)

interface Made {
  readonly storage: DatabaseStorage
  readonly recoveryKey: string
  /** With the other key; then without it, and with a recovery key. */
  readonly images: readonly Image[]
}

let otherKey: CryptoKey
let recoveryKey: string
let images: readonly Image[]

beforeAll(async () => {
  otherKey = await newDeviceKey()
  const made = await make()
  recoveryKey = made.recoveryKey
  images = made.images
})

async function make(): Promise<Made> {
  const storage = memory()
  const db = await open('x', { storage, encryption: { key: deviceKey } })
  const slot = await db.encryption!.addKey(otherKey)
  await db.collection('notes').insert({ _id: 'a', text: 'first' })
  const before = await imageOf(storage)
  await db.encryption!.deleteSlot(slot.id)
  const key = await db.encryption!.makeRecoveryKey()
  await db.collection('notes').insert({ _id: 'b', text: 'second' })
  const after = await imageOf(storage)
  await db.close()
  return { storage, recoveryKey: key, images: [before, after] }
}

/** A database whose keyring was changed behind its back, to be written on. */
async function makeDamaged(change: (copy: Uint8Array) => Uint8Array): Promise<Made> {
  const made = await make()
  const store = await made.storage.open('x')
  const { keyring } = made.images[1]!.state
  await store.putKeyring(keyring, change(copyOf(made.images[1]!)), 'strict')
  await store.close()
  return made
}

function withKeyring(image: Image, keyring: Uint8Array): Image {
  return { ...image, state: { ...image.state, keyring } }
}

/** What is read, or the code of the error. */
async function outcome(image: Image, encryption: Credential): Promise<string> {
  try {
    const db = await open('x', { storage: storageOf(image), encryption })
    const notes = await db.collection<{ text: string }>('notes').find({}).sort('_id').toArray()
    await db.close()
    return notes.map(({ text }) => text).join(' ')
  } catch (error) {
    if (isPannierError(error)) return error.code
    throw error
  }
}

const copyOf = ({ state: { keyring } }: Image): Uint8Array => keyring!.slice(0, keyring!.length / 2)
const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(parts.flatMap((part) => [...part]))

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = bytes.slice()
  copy[at]! ^= 1 << bit
  return copy
}

describe('damage', () => {
  test('any flipped bit of either copy locks nobody out', async () => {
    const { keyring } = images[1]!.state
    for (let at = 0; at < keyring!.length; at += strideOf(3)) {
      const image = withKeyring(images[1]!, flipped(keyring!, at, at % 8))
      expect(await outcome(image, { key: deviceKey }), `byte ${at}`).toBe('first second')
      expect(await outcome(image, { recoveryKey }), `byte ${at}`).toBe('first second')
    }
  })

  test('a whole copy may be anything', async () => {
    const copy = copyOf(images[1]!)
    for (const instead of [new Uint8Array(copy.length), new Uint8Array(copy.length).fill(255), copy.toReversed()])
      for (const keyring of [joined(copy, instead), joined(instead, copy)])
        expect(await outcome(withKeyring(images[1]!, keyring), { key: deviceKey })).toBe('first second')
  })

  test('what is damaged in both copies hurts the owner of that slot alone, also after the keyring was put again', async () => {
    const copy = copyOf(images[1]!)
    // The secret of the last slot is what stands at the end.
    for (let back = 1; back <= 81; back += 5) {
      const [one, two] = [flipped(copy, copy.length - back, 1), flipped(copy, copy.length - back, 5)]
      const image = withKeyring(images[1]!, joined(one, two))
      expect(await outcome(image, { key: deviceKey }), `byte ${back}`).toBe('first second')
      expect(await outcome(image, { recoveryKey }), `byte ${back}`).toBe('PANNIER_CORRUPT')
    }
    const made = await makeDamaged((one) => joined(flipped(one, one.length - 9, 1), flipped(one, one.length - 9, 2)))
    const db = await open('x', { storage: made.storage, encryption: { key: deviceKey } })
    await db.encryption!.addKey(otherKey)
    await db.close()
    for (const [encryption, expected] of [
      [{ key: deviceKey }, 'first second'],
      [{ key: otherKey }, 'first second'],
      [{ recoveryKey: made.recoveryKey }, 'PANNIER_CORRUPT'],
    ] as const)
      expect(await outcome(await imageOf(made.storage), encryption)).toBe(expected)
  })

  test('each copy has what the other one has lost', async () => {
    const copy = copyOf(images[1]!)
    const slots = 2
    const secretLength = (copy.length - decodeKeyring(joined(copy, copy)).sealed.length - 28) / slots
    const [first, second] = [flipped(copy, copy.length - secretLength - 9, 3), flipped(copy, copy.length - 9, 3)]
    for (const keyring of [joined(first, second), joined(second, first)])
      for (const encryption of [{ key: deviceKey }, { recoveryKey }])
        expect(await outcome(withKeyring(images[1]!, keyring), encryption)).toBe('first second')
  })

  test('the next write makes two sound copies of what is left of them', async () => {
    for (const damage of [
      (copy: Uint8Array) => joined(new Uint8Array(copy.length), copy),
      (copy: Uint8Array) => joined(copy, flipped(copy, copy.length - 9, 1)),
    ]) {
      const made = await makeDamaged(damage)
      const db = await open('x', { storage: made.storage, encryption: { key: deviceKey } })
      await db.collection('notes').insert({ _id: 'c', text: 'third' })
      await db.close()
      const image = await imageOf(made.storage)
      const { keyring } = image.state
      expect(keyring!.slice(0, keyring!.length / 2)).toEqual(keyring!.slice(keyring!.length / 2))
      expect(await outcome(image, { recoveryKey: made.recoveryKey })).toBe('first second third')
    }
  })
})

describe('another keyring', () => {
  test('beside the newest copy an older one opens nothing', async () => {
    const [older, newest] = images.map(copyOf) as [Uint8Array, Uint8Array]
    const mixes = [joined(newest, older), joined(older, newest)]
    for (const keyring of mixes) {
      expect(await outcome(withKeyring(images[1]!, keyring), { key: deviceKey })).toBe('first second')
      expect(await outcome(withKeyring(images[1]!, keyring), { key: otherKey })).toBe('PANNIER_KEY_WRONG')
    }
    const broken = flipped(newest, 20, 1)
    for (const keyring of [joined(broken, older), joined(older, broken)])
      for (const key of [deviceKey, otherKey])
        expect(await outcome(withKeyring(images[1]!, keyring), { key })).toBe('PANNIER_CORRUPT')
  })

  test('what it opened before is not read behind it', async () => {
    const { keyring } = images[1]!.state
    expect(await outcome(withKeyring(images[0]!, keyring!), { key: deviceKey })).toBe('PANNIER_CORRUPT')
    expect(await outcome(withKeyring(images[0]!, keyring!), { recoveryKey })).toBe('PANNIER_CORRUPT')
  })

  test('a secret of before does not open the slot that has another one now', async () => {
    const place = memory()
    const db = await open('x', { storage: place, encryption: { password: 'old', derivation: 'pbkdf2' } })
    const before = await imageOf(place)
    await db.changePassword('old', 'new')
    const after = await imageOf(place)
    await db.close()
    const [old, now] = [copyOf(before), copyOf(after)]
    const at = decodeKeyring(after.state.keyring!).sealed.length + 28
    const atOld = decodeKeyring(before.state.keyring!).sealed.length + 28
    const mixed = joined(now.slice(0, at), old.slice(atOld))
    const keyring = joined(mixed, mixed)
    expect(await outcome(withKeyring(after, keyring), { password: 'old' })).toBe('PANNIER_KEY_WRONG')
    expect(await outcome(withKeyring(after, keyring), { password: 'new' })).toBe('PANNIER_KEY_WRONG')
    expect(await outcome(after, { password: 'new' })).toBe('')
  })
})

const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'gone', happens: false },
  { kind: 'gone', happens: true },
  { kind: 'power', happens: false },
  { kind: 'power', happens: true },
]

const PLACES: Readonly<Record<string, (random: () => number) => SimulatedPlace>> = {
  'a page store': (random) => new SimulatedStorage({ random }),
  'raw files': (random) => new RawFileStorage(new SimulatedDisk(seededRandom(random() * 2 ** 32))),
  LevelDB: (random) => new SimulatedLevels({ random }),
}

describe.each(Object.entries(PLACES))('slots that change while others write, relaxed, over %s', (_, placeOf) => {
  for (const [at, fault] of FAULTS.entries()) {
    test(
      `calls in turn meet ${JSON.stringify(fault)}: ${SEEDS.length} seeds from ${SEEDS[0]}`,
      { timeout: 3_600_000 },
      async () => {
        for (const seed of SEEDS) {
          for (let call = firstOf(at, STRIDE), isOver = false; !isOver; call += STRIDE) {
            try {
              isOver = await changeWithFault(placeOf(seededRandom(seed * 31).next), call, fault)
            } catch (error) {
              throw new Error(`seed ${seed}, call ${call} (replay: SEED=${seed} SEEDS=1)`, { cause: error })
            }
          }
        }
      },
    )
  }
})

let opened = 0

/** Each opening stands for a process of its own. */
function processOn(place: SimulatedPlace): DatabaseStorage {
  return {
    kind: 'simulated',
    scope: 'process',
    identify: () => `keyring ${++opened}`,
    has: async () => true,
    open: (name) => place.open(name),
    destroy: async () => {},
  }
}

/** True when fewer calls were made. */
async function changeWithFault(place: SimulatedPlace, call: number, fault: Fault): Promise<boolean> {
  const first = await open('x', { storage: processOn(place), encryption: { key: deviceKey } })
  const notes = first.collection<{ number: number }>('notes')
  let written = 0
  const write = async (): Promise<void> => {
    await notes.insert({ _id: `n${written}`, number: written })
    written++
  }
  await write()
  await first.flush()
  const gone = new Promise<void>((resolve) => (place.onGone = resolve))
  const before = place.calls
  place.failAt(before + call, fault)
  let isLetIn = false
  // The keyring is put for good, and with it all that came before.
  let durable = 0
  const work = async (): Promise<void> => {
    for (let count = 0; count < 5; count++) await write()
    const { id } = await first.encryption!.addKey(otherKey)
    isLetIn = true
    durable = written
    for (let count = 0; count < 5; count++) await write()
    await first.encryption!.deleteSlot(id)
    isLetIn = false
    durable = written
    await write()
    await first.flush()
  }
  await Promise.race([work().catch(() => {}), gone])
  const isOver = place.calls < before + call
  place.disarm()
  // Of a failed step the other one may open it too, or not any more; one who was let in and not shut out does.
  const other = await open('x', { storage: processOn(place), encryption: { key: otherKey } }).catch(
    (error: unknown) => {
      if (!isPannierError(error, 'PANNIER_KEY_WRONG')) throw error
      return undefined
    },
  )
  if (isOver) expect(other !== undefined).toBe(isLetIn)
  await other?.close()
  const second = await open('x', { storage: processOn(place), encryption: { key: deviceKey } })
  const found = await second.collection<{ number: number }>('notes').find({}).sort('number').toArray()
  expect(found.map(({ number }) => number)).toEqual(found.map((_, at) => at))
  expect(found.length).toBeGreaterThanOrEqual(fault.kind === 'power' ? durable : written)
  expect((await second.check()).problems).toEqual([])
  await second.collection('notes').insert({ _id: 'last' })
  await second.close()
  return isOver
}
