/** Goal: the suites of databases hold on storages that answer later, when nothing stays in memory between two steps. */
import { test } from 'vitest'
import { memory } from '../../src/storage/memory/memory.ts'
import { attachmentSuite } from '../../testing/conformance/attachments.ts'
import { collectionSuite } from '../../testing/conformance/collection.ts'
import { openWithoutCache } from '../../testing/slow-database.ts'
import { slow } from '../../testing/slow-storage.ts'
import { prefixed } from '../../testing/suite.ts'

let databases = 0
const create = (): ReturnType<typeof openWithoutCache> => openWithoutCache('x', slow(memory(), ++databases))

collectionSuite({ test: prefixed(test, 'collection'), create })
attachmentSuite({ test: prefixed(test, 'attachments'), create })
