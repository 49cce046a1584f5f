/** The suite of encrypted databases, with Node's cryptography. */
import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { encryptionSuite } from '../../testing/conformance/encryption.ts'

encryptionSuite({ test, create: () => ({ storage: memory(), name: 'database' }) })
