/** Goal: attachments of a revision that is gone meanwhile are missing, and nothing is sent of the document. */
import type { GuardedCollection } from '@pannier/backend'
import { expect, test } from 'vitest'
import { documentPieces } from '../../src/couch/attachment-content.ts'

test('a document whose attachment is gone is missing', async () => {
  const collection = { getAttachment: async () => undefined } as unknown as GuardedCollection
  const document = { _id: 'a', _rev: '1-x', _attachments: { 'a.txt': { revpos: 1, stub: true } } }
  await expect(documentPieces(collection, document, 0)).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('missing'),
  })
})
