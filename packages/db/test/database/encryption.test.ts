/** The suite of encrypted databases, in memory and in files, with Node's cryptography. */
import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { encryptionSuite } from '../../testing/conformance/encryption.ts'
import { prefixed, type Test } from '../../testing/suite.ts'
import { temporaryFiles } from '../key-value-stores.ts'

const newPath = temporaryFiles()

/** Making keys of passwords takes most of the time, and has nothing to do with the storage. */
const withoutPasswords: Test = (name, body) => {
  if (!/password/i.test(name)) prefixed(test, 'memory')(name, body)
}

encryptionSuite({ test: withoutPasswords, create: () => ({ storage: memory(), name: 'database' }) })
encryptionSuite({ test: prefixed(test, 'SQLite'), create: () => ({ storage: sqlite(), name: newPath() }) })
