/**
 * Goal: nothing of a filled encrypted database can be read in what its storage holds: ids, names of fields and collections,
 * values, index keys, attachments, the log. The same search finds all of it in a plain database.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { memory } from '../../../src/storage/memory/memory.ts'
import { sqlite } from '../../../src/storage/sqlite/sqlite.ts'
import { rawContents } from '../../../testing/conformance/encryption.ts'
import { temporaryFiles } from '../../key-value-stores.ts'
import { deviceKey } from './fixture.ts'
import { fillPatients, WORDS, wordsIn } from './patients.ts'

const newPath = temporaryFiles()

for (const isEncrypted of [true, false]) {
  const encryption = isEncrypted ? { key: deviceKey } : undefined

  test(`memory, ${isEncrypted ? 'encrypted' : 'plain'}`, async () => {
    const storage = memory()
    const found = new Set<string>()
    const look = async (): Promise<void> => {
      for (const word of wordsIn(await rawContents({ storage, name: 'x' }))) found.add(word)
    }
    await fillPatients({ storage, name: 'x', encryption, patientCount: 1000, look })
    expect([...found].sort()).toEqual(isEncrypted ? [] : WORDS)
  })

  test(`an SQLite file and its write-ahead log, ${isEncrypted ? 'encrypted' : 'plain'}`, async () => {
    const path = newPath()
    const found = new Set<string>()
    const look = async (): Promise<void> => {
      const files = ['', '-wal'].flatMap((suffix) => {
        try {
          return [readFileSync(path + suffix)]
        } catch {
          return []
        }
      })
      for (const word of wordsIn(files)) found.add(word)
    }
    await fillPatients({ storage: sqlite(), name: path, encryption, patientCount: 1000, look })
    expect([...found].sort()).toEqual(isEncrypted ? [] : WORDS)
  })
}
