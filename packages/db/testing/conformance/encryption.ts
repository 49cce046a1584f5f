/**
 * Conformance of encrypted databases: who can open them, changes of passwords and keys, several handles, snapshots.
 *
 * `create` gives a storage and the name of a database in it that does not exist yet. Most cases use keys that need no
 * derivation.
 */
import { open, type Credential, type Database } from '../../src/index.ts'
import type { PageStore, DatabaseStorage } from '../../src/storage/page-store.ts'
import { assertDefined, assertEqual, assertRejects, assertTrue } from '../check.ts'
import type { SuiteContext, Test } from '../suite.ts'

export interface EncryptionFixture {
  readonly storage: DatabaseStorage
  readonly name: string
}

interface Note {
  readonly _id: string
  readonly text: string
}

type Create = () => EncryptionFixture | Promise<EncryptionFixture>

export function encryptionSuite({ test, create }: SuiteContext<Create>): void {
  openingCases(test, create)
  slotCases(test, create)
  handleCases(test, create)
  rotationCases(test, create)
  snapshotCases(test, create)
}

const PASSWORD = 'correct horse battery staple'

export function newDeviceKey(): Promise<CryptoKey> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

/** One case's database, which is destroyed at its end. */
async function withPlace(
  create: Create,
  body: (openWith: (encryption?: Credential) => Promise<Database>, place: EncryptionFixture) => Promise<void>,
): Promise<void> {
  const place = await create()
  const opened: Database[] = []
  const openWith = async (encryption?: Credential): Promise<Database> => {
    const { name, storage } = place
    const db = await open(name, { storage, cacheBytesMax: 1024 * 1024, ...(encryption && { encryption }) })
    opened.push(db)
    return db
  }
  try {
    await body(openWith, place)
  } finally {
    for (const db of opened) await db.close()
    await place.storage.destroy(place.name)
  }
}

function note(number: number): Note {
  return { _id: `note-${number}`, text: `text of ${number} `.repeat(20) }
}

function notes(first: number, count: number): Note[] {
  return Array.from({ length: count }, (_, index) => note(first + index))
}

async function assertNotes(db: Database, count: number): Promise<void> {
  const found = await db.collection<Note>('notes').find({}).sort('_id').toArray()
  const expected = notes(0, count).map(({ _id, text }) => [_id, text])
  assertEqual(
    found.map(({ _id, text }) => [_id, text]),
    expected.sort(([a], [b]) => (a! < b! ? -1 : 1)),
  )
  assertEqual((await db.check()).problems, [])
}

/** Everything that the storage holds, as it is. */
export async function rawContents({ storage, name }: EncryptionFixture): Promise<Uint8Array[]> {
  const store = await storage.open(name)
  try {
    const { meta, log, keyring, logSeal } = await store.read()
    const ids = await store.listPages()
    const pages = ids.length === 0 ? [] : await store.readPages(ids)
    return [meta?.bytes, keyring, logSeal, ...log.map(({ bytes }) => bytes), ...pages].filter(
      (bytes) => bytes !== undefined,
    )
  } finally {
    await store.close()
  }
}

async function withRaw<T>({ storage, name }: EncryptionFixture, body: (store: PageStore) => Promise<T>): Promise<T> {
  const store = await storage.open(name)
  try {
    return await body(store)
  } finally {
    await store.close()
  }
}

function openingCases(test: Test, create: Create): void {
  test('a password opens, another one does not and touches nothing', () =>
    withPlace(create, async (openWith, place) => {
      const db = await openWith({ password: PASSWORD })
      await db.collection<Note>('notes').insert(notes(0, 10))
      await db.close()
      const before = await rawContents(place)
      await assertRejects(openWith({ password: 'correct horse battery stable' }), 'PANNIER_KEY_WRONG')
      await assertRejects(openWith({ key: await newDeviceKey() }), 'PANNIER_KEY_WRONG')
      await assertRejects(openWith(), 'PANNIER_ENCRYPTED')
      assertEqual(await rawContents(place), before)
      await assertNotes(await openWith({ password: PASSWORD }), 10)
    }))

  test('the same text in another Unicode form is the same password', () =>
    withPlace(create, async (openWith) => {
      await (await openWith({ password: 'Zoë' })).close()
      await (await openWith({ password: 'Zoe\u0308' })).close()
    }))

  test('a plain database is not opened with a key, and is left as it is', () =>
    withPlace(create, async (openWith, place) => {
      const db = await openWith()
      await db.collection<Note>('notes').insert(notes(0, 10))
      await assertRejects(db.changePassword('a', 'b'), 'PANNIER_NOT_ENCRYPTED')
      assertEqual(db.encryption, undefined)
      await db.close()
      const before = await rawContents(place)
      await assertRejects(openWith({ key: await newDeviceKey() }), 'PANNIER_NOT_ENCRYPTED')
      assertEqual(await rawContents(place), before)
    }))

  test('a plain handle on an empty database writes nothing once another one has encrypted it', () =>
    withPlace(create, async (openWith) => {
      const plain = await openWith()
      const key = await newDeviceKey()
      const db = await openWith({ key })
      await assertRejects(plain.collection<Note>('notes').insert(note(1)), 'PANNIER_ENCRYPTED')
      await db.collection<Note>('notes').insert(note(0))
      await assertNotes(db, 1)
    }))

  test('two handles that make a database at the same time make one', () =>
    withPlace(create, async (openWith) => {
      const key = await newDeviceKey()
      const [first, second] = await Promise.all([openWith({ key }), openWith({ key })])
      await Promise.all([
        first.collection<Note>('notes').insert(note(0)),
        second.collection<Note>('notes').insert(note(1)),
      ])
      await second.refresh()
      await assertNotes(second, 2)
    }))

  test('no database is made of a recovery key', () =>
    withPlace(create, async (openWith) => {
      const recoveryKey = 'this is none'
      await assertRejects(openWith({ recoveryKey }), 'PANNIER_NOT_FOUND')
    }))

  test('wrong arguments are TypeErrors', () =>
    withPlace(create, async (openWith) => {
      const weak = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, false, ['encrypt', 'decrypt'])
      const wrong = [{}, { password: '' }, { password: 1 }, { password: 'a', key: weak }, { key: weak }, { key: 'key' }]
      for (const encryption of wrong) await assertRejects(openWith(encryption as Credential), TypeError)
    }))
}

function slotCases(test: Test, create: Create): void {
  test('changePassword: the new one opens, the old one does not, and pages stay as they are', () =>
    withPlace(create, async (openWith, place) => {
      const db = await openWith({ password: PASSWORD })
      await db.collection<Note>('notes').insert(notes(0, 500))
      await db.flush()
      const pagesBefore = await withRaw(place, async (store) => store.readPages(await store.listPages()))
      await assertRejects(db.changePassword('wrong', 'new'), 'PANNIER_KEY_WRONG')
      await assertRejects(db.changePassword(PASSWORD, ''), TypeError)
      await db.changePassword(PASSWORD, 'new')
      await withRaw(place, async (store) => {
        const pages = await store.readPages(await store.listPages())
        const kept = pages.filter((page) => pagesBefore.some((before) => String(before) === String(page)))
        assertEqual(kept.length, pages.length, 'no page is sealed again')
      })
      await db.collection<Note>('notes').insert(note(500))
      await db.close()
      await assertRejects(openWith({ password: PASSWORD }), 'PANNIER_KEY_WRONG')
      await assertNotes(await openWith({ password: 'new' }), 501)
    }))

  test('several passwords and keys open, until their slots are removed; the last one stays', () =>
    withPlace(create, async (openWith) => {
      const [key, other] = [await newDeviceKey(), await newDeviceKey()]
      const db = await openWith({ key })
      await db.collection<Note>('notes').insert(notes(0, 3))
      const { encryption } = db
      assertDefined(encryption)
      const recoveryKey = await encryption.makeRecoveryKey({ label: 'in the safe' })
      const device = await encryption.addKey(other, { label: 'phone' })
      const slots = await encryption.slots()
      assertEqual(
        slots.map(({ kind, label }) => [kind, label]),
        [
          ['device', ''],
          ['recovery', 'in the safe'],
          ['device', 'phone'],
        ],
      )
      await db.close()
      const spelt = recoveryKey.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')
      await assertNotes(await openWith({ recoveryKey: spelt }), 3)
      const again = await openWith({ key: other })
      await assertNotes(again, 3)
      assertEqual(await again.encryption!.deleteSlot(slots[0]!.id), true)
      assertEqual(await again.encryption!.deleteSlot(slots[0]!.id), false)
      await assertRejects(openWith({ key }), 'PANNIER_KEY_WRONG')
      await again.encryption!.deleteSlot(slots[1]!.id)
      await assertRejects(openWith({ recoveryKey }), 'PANNIER_KEY_WRONG')
      await assertRejects(again.encryption!.deleteSlot(device.id), 'PANNIER_LIMIT_EXCEEDED')
      await assertNotes(await openWith({ key: other }), 3)
    }))

  test('a misspelt recovery key looks like a wrong one, and opens nothing', () =>
    withPlace(create, async (openWith) => {
      const db = await openWith({ key: await newDeviceKey() })
      const recoveryKey = await db.encryption!.makeRecoveryKey()
      assertTrue(/^([0-9A-Z]{4}-){13}[0-9A-Z]{4}$/.test(recoveryKey), 'it has 14 groups of four')
      const last = recoveryKey.at(-1) === '0' ? '1' : '0'
      await assertRejects(openWith({ recoveryKey: recoveryKey.slice(0, -1) + last }), 'PANNIER_KEY_WRONG')
      await assertRejects(openWith({ recoveryKey: recoveryKey.slice(1) }), 'PANNIER_KEY_WRONG')
    }))
}

function handleCases(test: Test, create: Create): void {
  test('handles that are open see what others do, also after a new password and a new key', () =>
    withPlace(create, async (openWith) => {
      const key = await newDeviceKey()
      const [first, second] = [await openWith({ key }), await openWith({ key })]
      for (let round = 0; round < 5; round++) {
        const [writer, reader] = round % 2 === 0 ? [first, second] : [second, first]
        await writer.collection<Note>('notes').insert(notes(100 * round, 100))
        if (round === 1) await writer.encryption!.makeRecoveryKey()
        if (round === 2) await writer.encryption!.rotateKey()
        if (round === 3) await writer.flush()
        await reader.refresh()
        await assertNotes(reader, 100 * (round + 1))
      }
    }))
}

function rotationCases(test: Test, create: Create): void {
  test('rotateKey: everything is sealed with the new key, while another handle writes', () =>
    withPlace(create, async (openWith, place) => {
      const key = await newDeviceKey()
      const [db, other] = [await openWith({ key }), await openWith({ key })]
      await db.collection<Note>('notes').insert(notes(0, 2000))
      await db.flush()
      assertEqual(keyIds(await rawContents(place)), [1])
      const progress: number[] = []
      const rotation = db.encryption!.rotateKey({ onProgress: (done) => progress.push(done) })
      for (let number = 2000; number < 2040; number++) await other.collection<Note>('notes').insert(note(number))
      await other.flush()
      await rotation
      assertEqual(keyIds(await rawContents(place)), [2])
      assertEqual(progress.at(-1), 1)
      assertEqual((await db.encryption!.info()).isRotating, false)
      await other.collection<Note>('notes').insert(note(2040))
      await db.refresh()
      await assertNotes(db, 2041)
      await assertNotes(await openWith({ key }), 2041)
    }))

  test('a cancelled rotation continues when the database is opened again', () =>
    withPlace(create, async (openWith, place) => {
      const key = await newDeviceKey()
      const db = await openWith({ key })
      await db.collection<Note>('notes').insert(notes(0, 5000))
      await db.flush()
      const controller = new AbortController()
      const { signal } = controller
      const rotation = db.encryption!.rotateKey({ signal, onProgress: () => controller.abort() })
      await assertRejects(rotation, 'PANNIER_ABORTED')
      await assertNotes(db, 5000)
      assertEqual((await db.encryption!.info()).isRotating, true)
      assertEqual(keyIds(await rawContents(place)), [1, 2])
      await db.close()
      const again = await openWith({ key })
      await again.encryption!.rotateKey()
      assertEqual(keyIds(await rawContents(place)), [2])
      await assertNotes(again, 5000)
    }))

  test('closing ends a rotation', () =>
    withPlace(create, async (openWith) => {
      const key = await newDeviceKey()
      const db = await openWith({ key })
      await db.collection<Note>('notes').insert(notes(0, 3000))
      await db.flush()
      const outcome = db.encryption!.rotateKey({ onProgress: () => void db.close() }).catch((error: unknown) => error)
      assertEqual(((await outcome) as { code?: string }).code, 'PANNIER_CLOSED')
      await assertNotes(await openWith({ key }), 3000)
    }))
}

/** Of the keys that meta record, log and pages were sealed with, as they say. What comes second and third, keyring and log seal, is not sealed. */
function keyIds(contents: readonly Uint8Array[]): number[] {
  const ids = contents.filter((_, index) => index !== 1 && index !== 2).map((bytes) => bytes[1]!)
  return [...new Set(ids)].sort((a, b) => a - b)
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
}

function snapshotCases(test: Test, create: Create): void {
  test('a snapshot is sealed: it takes a key of the database to restore it, and the copy is encrypted', () =>
    withPlace(create, async (openWith, place) => {
      const key = await newDeviceKey()
      const db = await openWith({ key })
      await db.collection<Note>('notes').insert(notes(0, 1000))
      const from = await bytesOf(db.snapshot())
      assertEqual(plaintextsIn([from]), [])
      const { storage } = place
      const name = `${place.name}-copy`
      await assertRejects(open(name, { storage, from }), 'PANNIER_ENCRYPTED')
      const wrong = { key: await newDeviceKey() }
      await assertRejects(open(name, { storage, from, encryption: wrong }), 'PANNIER_KEY_WRONG')
      const flipped = (at: number): Uint8Array => {
        const bytes = from.slice()
        bytes[at]! ^= 4
        return bytes
      }
      const keyringEnd = 12 + new DataView(from.buffer, from.byteOffset).getUint32(8, true)
      for (const at of [3, 9, keyringEnd + 5, keyringEnd + 40, from.length - 700, from.length - 1])
        await assertRejects(open(name, { storage, from: flipped(at), encryption: { key } }))
      // The keyring has two copies.
      for (const at of [12, 40, keyringEnd - 1]) {
        const mended = await open(name, { storage, from: flipped(at), encryption: { key } })
        await assertNotes(mended, 1000)
        await mended.destroy()
      }
      const cut = open(name, { storage, from: from.slice(0, -20), encryption: { key } })
      await assertRejects(cut, 'PANNIER_CORRUPT')
      const copy = await open(name, { storage, from, encryption: { key } })
      try {
        await assertNotes(copy, 1000)
        assertEqual(plaintextsIn(await rawContents({ storage, name })), [])
      } finally {
        await copy.destroy()
      }
    }))

  test('a plain snapshot moves a database into encryption, and out of it', () =>
    withPlace(create, async (openWith, place) => {
      const plain = await openWith()
      await plain.collection<Note>('notes').insert(notes(0, 300))
      await assertRejects(plain.snapshot({ sealed: true }).getReader().read(), 'PANNIER_NOT_ENCRYPTED')
      const { storage } = place
      const key = await newDeviceKey()
      const name = `${place.name}-copy`
      const sealed = await open(name, { storage, from: plain.snapshot(), encryption: { key } })
      try {
        await assertNotes(sealed, 300)
        assertEqual(plaintextsIn(await rawContents({ storage, name })), [])
        const out = await open(`${name}-2`, { storage, from: await bytesOf(sealed.snapshot({ sealed: false })) })
        try {
          await assertNotes(out, 300)
        } finally {
          await out.destroy()
        }
      } finally {
        await sealed.destroy()
      }
    }))
}

/** Which of the texts that every database of this suite is full of occur. Shorter ones occur by chance, too. */
export function plaintextsIn(contents: readonly Uint8Array[]): string[] {
  const texts = ['note-', 'text of', 'notes', 'text', 'c/bodies', 'PNNRSNAP']
  return texts.filter((text) => contents.some((bytes) => occurs(bytes, new TextEncoder().encode(text))))
}

function occurs(bytes: Uint8Array, wanted: Uint8Array): boolean {
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1))
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return true
  return false
}
