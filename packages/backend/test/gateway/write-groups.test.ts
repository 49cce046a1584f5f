/** Goal: documents that are written in one commit have outcomes of their own. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { WriteGroups } from '../../src/gateway/write-groups.ts'

test('a document that its guard or its form refuses is not the end of others of its group', async () => {
  const environment = virtualEnvironment()
  await using db = await open('groups', { storage: memory(), environment })
  const docs = db.collection<JsonObject>('docs')
  const groups = new WriteGroups(environment)
  const refusal = new Error('not this one')
  const refuse = (): never => {
    throw refusal
  }
  const judged = await Promise.allSettled([groups.put(docs, { _id: 'a' }), groups.put(docs, { _id: 'b' }, refuse)])
  expect(judged).toMatchObject([{ value: { id: 'a' } }, { reason: refusal }])
  const formed = await Promise.allSettled([
    groups.put(docs, { _id: 'c' }),
    groups.put(docs, { _id: 'd', wrong: (() => 1) as never }),
  ])
  expect(formed).toMatchObject([{ value: { id: 'c' } }, { reason: expect.any(TypeError) }])
  expect(await docs.find({}).count()).toBe(2)
})
