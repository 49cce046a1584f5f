/** A document with many leaves that is asked for once for each of them, as `open_revs=all` does. */
import { expect, test, vi } from 'vitest'
import { open } from '../../src/database/lifecycle/open.ts'
import { StoredRevisions } from '../../src/document/stored-revisions.ts'
import { memory } from '../../src/storage/memory/memory.ts'

test('its tree of revisions is read once', async () => {
  const db = await open('leaves', { storage: memory() })
  const collection = db.collection('leaves')
  const revs = Array.from({ length: 100 }, (_, at) => `1-${at.toString(16).padStart(32, '0')}`)
  const documents = revs.map((rev) => ({ _id: 'one', _rev: rev, rev }))
  await collection.put(documents, { newEdits: false })
  const reads = vi.spyOn(StoredRevisions.prototype, 'each')
  const wanted = revs.map((rev) => ({ id: 'one', rev }))
  const found = await collection.bulkGet(wanted, { revs: true, partial: true })
  const times = reads.mock.calls.length
  reads.mockRestore()
  expect(found.map((one) => ('ok' in one ? one.ok['rev'] : undefined))).toEqual(revs)
  expect(times).toBe(1)
  await db.close()
})
