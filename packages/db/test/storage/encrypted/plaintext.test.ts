/**
 * Goal: nothing of a filled encrypted database can be read in what its storage holds: ids, names of fields and collections,
 * values, index keys, attachments, the log. The same search finds all of it in a plain database.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { open } from '../../../src/index.ts'
import { memory } from '../../../src/storage/memory/memory.ts'
import { sqlite } from '../../../src/storage/sqlite/sqlite.ts'
import type { Storage } from '../../../src/storage/page-store.ts'
import { rawContents } from '../../../testing/conformance/encryption.ts'
import { temporaryFiles } from '../../key-value-stores.ts'
import { deviceKey } from './fixture.ts'

const newPath = temporaryFiles()

const WORDS = [
  'patients',
  'diagnosis',
  'hypertension',
  'Ophelia',
  'patient-0042',
  'scan.txt',
  'x-ray of the chest',
  'byDiagnosis',
]

/** Runs `look` with all in pages, and with some in the log. */
async function fill(storage: Storage, name: string, isEncrypted: boolean, look: () => Promise<void>): Promise<void> {
  const db = await open(name, { storage, ...(isEncrypted && { encryption: { key: deviceKey } }) })
  const patients = db.collection('patients', { indexes: ['diagnosis', { on: 'name', text: true }] })
  const view = patients.view('byDiagnosis', { map: (doc, emit) => emit((doc as { diagnosis?: unknown }).diagnosis) })
  for (let round = 0; round < 2; round++) {
    await patients.insert(
      Array.from({ length: 1000 }, (_, number) => ({
        _id: `patient-${String(1000 * round + number).padStart(4, '0')}`,
        name: `Ophelia ${number}`,
        diagnosis: 'hypertension',
      })),
    )
    await patients.update('patient-0042', (doc) => ({ ...doc, note: 'hypertension' }))
    const scan = new TextEncoder().encode('x-ray of the chest, '.repeat(20))
    await patients.putAttachment('patient-0042', `${round}scan.txt`, scan, { contentType: 'text/plain' })
    await view.query()
    await look()
    await db.checkpoint()
    await look()
  }
  await db.close()
  await look()
}

function wordsIn(contents: readonly Uint8Array[]): string[] {
  return WORDS.filter((word) =>
    contents.some((bytes) => {
      const buffer = Buffer.from(bytes)
      return buffer.includes(word) || buffer.includes(Buffer.from(word, 'utf16le'))
    }),
  )
}

for (const isEncrypted of [true, false]) {
  test(`memory, ${isEncrypted ? 'encrypted' : 'plain'}`, async () => {
    const storage = memory()
    const found = new Set<string>()
    await fill(storage, 'x', isEncrypted, async () => {
      for (const word of wordsIn(await rawContents({ storage, name: 'x' }))) found.add(word)
    })
    expect([...found].sort()).toEqual(isEncrypted ? [] : WORDS.toSorted())
  })

  test(`an SQLite file and its write-ahead log, ${isEncrypted ? 'encrypted' : 'plain'}`, async () => {
    const path = newPath()
    const found = new Set<string>()
    await fill(sqlite(), path, isEncrypted, async () => {
      const files = ['', '-wal'].flatMap((suffix) => {
        try {
          return [readFileSync(path + suffix)]
        } catch {
          return []
        }
      })
      for (const word of wordsIn(files)) found.add(word)
    })
    expect([...found].sort()).toEqual(isEncrypted ? [] : WORDS.toSorted())
  })
}
