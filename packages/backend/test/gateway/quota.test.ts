/** Goal: what comes to a database counts until its write is over, and no longer. */
import type { Collection } from 'pannier'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { Quota, type Room } from '../../src/gateway/quota.ts'

/** Nothing of it is stored. */
const EMPTY = { info: async () => ({ storedBytes: 0 }) } as unknown as Collection<JsonObject>

/** Reads an attachment of `bytes` into the room. */
async function upload(room: Room, bytes: number): Promise<void> {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(bytes)
  }
  const [document] = await room.admit([{ _id: 'a', _attachments: { file: { data: pieces() } } } as JsonObject])
  const { file } = document!['_attachments'] as unknown as { file: { data: AsyncIterable<Uint8Array> } }
  for await (const piece of file.data) expect(piece.length).toBe(bytes)
}

test('uploads at the same time count together, and one that is over counts no more', async () => {
  const quota = new Quota(1000)
  const [one, other] = [quota.enter('app', EMPTY), quota.enter('app', EMPTY)]
  await upload(one, 600)
  await expect(upload(other, 600)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })
  one.leave()
  other.leave()
  await upload(quota.enter('app', EMPTY), 900)
})
