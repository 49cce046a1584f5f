/** The suite of encrypted databases, in memory and in files, with Node's cryptography. */
import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { sqlite } from '../../src/storage/sqlite/sqlite.ts'
import { encryptionSuite } from '../../testing/conformance/encryption.ts'
import { prefixed } from '../../testing/suite.ts'
import { temporaryFiles } from '../key-value-stores.ts'

const newPath = temporaryFiles()

encryptionSuite({ test: prefixed(test, 'memory'), create: () => ({ storage: memory(), name: 'database' }) })
encryptionSuite({ test: prefixed(test, 'SQLite'), create: () => ({ storage: sqlite(), name: newPath() }) })
