/** The suite of import and export. */
import { test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { importExportSuite } from '../../testing/conformance/import-export.ts'

importExportSuite({ test, create: () => open('db', { storage: memory() }) })
