/** Goal: encrypted databases and sealed snapshots that earlier versions have written are opened, and hold what they held. */
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { open, type Credential } from '../../src/index.ts'
import { ENCRYPTION_FORMAT } from '../../src/storage/encrypted/envelope.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { goldenNotes, PASSWORDS, type GoldenNote } from './golden-encrypted.ts'

const golden = join(import.meta.dirname, '../golden')
const files = globSync('*.encrypted', { cwd: golden })
const folder = mkdtempSync(join(tmpdir(), 'pannier-golden-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('there is one of each format version', () => {
  expect(files.toSorted()).toEqual(['encryption-1.encrypted', 'encryption-2.encrypted'])
})

describe.each(files)('%s', (file) => {
  const name = basename(file, '.encrypted')
  const recoveryKey = readFileSync(join(golden, `${name}.recovery-key`), 'utf8').trim()
  const credentials: Credential[] = [...PASSWORDS.map((password) => ({ password })), { recoveryKey }]

  test('each password and key that opened it opens it; the rotation that was under way is finished', async () => {
    for (const [at, encryption] of credentials.entries()) {
      const path = join(folder, `${at}-${file}`)
      copyFileSync(join(golden, file), path)
      const db = await open(path, { encryption })
      const notes = db.collection<GoldenNote>('notes')
      const found = await notes.find({}).sort('number').fields('_id', 'number', 'text').toArray()
      expect(found).toEqual(goldenNotes(0, 320))
      await db.encryption!.rotateKey()
      expect(await db.encryption!.info()).toMatchObject({ isRotating: false })
      await notes.insert({ _id: 'new', number: 320, text: '' })
      expect((await db.check()).problems).toEqual([])
      await db.close()
    }
  })

  test('it is written on, and its keyring is brought to the newest format', async () => {
    const path = join(folder, `written-${file}`)
    copyFileSync(join(golden, file), path)
    // The last one again: the keyring has the newest format then.
    for (const [at, encryption] of [...credentials, credentials.at(-1)!].entries()) {
      const db = await open(path, { encryption })
      const notes = db.collection<GoldenNote>('notes')
      await notes.insert({ _id: `new ${at}`, number: 320 + at, text: '' })
      if (at % 2 === 0) await db.flush()
      expect(await notes.find({}).count()).toBe(321 + at)
      expect((await db.check()).problems).toEqual([])
      await db.close()
    }
    const store = await sqlite().open(path)
    const { keyring } = await store.read()
    await store.close()
    expect(keyring![4]).toBe(ENCRYPTION_FORMAT)
  })

  test('its sealed snapshot is restored, with each password and with the recovery key', async () => {
    const from = readFileSync(join(golden, `${name}.sealed`))
    for (const encryption of credentials) {
      const db = await open('x', { storage: memory(), from, encryption })
      const notes = db.collection<GoldenNote>('notes')
      const found = await notes.find({}).sort('number').fields('_id', 'number', 'text').toArray()
      expect(found).toEqual(goldenNotes(0, 300))
      await db.close()
    }
  })
})
