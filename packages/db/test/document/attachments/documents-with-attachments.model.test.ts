/**
 * Goal: whatever happens to documents, what is stored of attachments is exactly what their revisions refer to.
 * Method: random histories of every operation that writes revisions; each is followed by the integrity check, which compares
 * references, chunks and digests; over a model of the store whose reads miss at random.
 */
import * as fc from 'fast-check'
import { test, expect } from 'vitest'
import { isPannierError } from '../../../src/base/errors.ts'
import type { Collection } from '../../../src/database/collection/collection.ts'
import type { JsonObject } from '../../../src/database/collection/document-types.ts'
import type { AttachmentInputs } from '../../../src/document/attachments/attachment-input.ts'
import { contentBytes } from '../../../testing/attachment-fixture.ts'
import { modelDatabase } from '../../../testing/model-database.ts'
import { times } from '../../../../../tools/test/seeds.ts'

/** The last one is uploaded ahead. */
const LENGTHS = [0, 5, 5, 700, 700, 1_500_000] as const

const id = fc.constantFrom('a', 'b')
const name = fc.constantFrom('x', 'y', 'z')
const content = fc.record({ seed: fc.nat(1), length: fc.constantFrom(...LENGTHS), streamed: fc.boolean() })
const attachments = fc.dictionary(name, fc.option(content, { nil: undefined }), { maxKeys: 3 })
/** Which leaf is meant, by position. */
const leaf = fc.nat(3)

const operation = fc.oneof(
  fc.record({ kind: fc.constant('upsert' as const), id, attachments }),
  fc.record({ kind: fc.constant('put' as const), id, leaf, attachments, deleted: fc.boolean() }),
  fc.record({ kind: fc.constant('batch' as const), attachments, atomic: fc.boolean() }),
  fc.record({ kind: fc.constant('update' as const), id, attachments }),
  fc.record({ kind: fc.constant('putAttachment' as const), id, leaf: fc.option(leaf), name, content }),
  fc.record({ kind: fc.constant('deleteAttachment' as const), id, leaf: fc.option(leaf), name }),
  fc.record({ kind: fc.constant('delete' as const), id, leaf: fc.option(leaf) }),
  fc.record({ kind: fc.constant('replicate' as const), id, generation: fc.integer({ min: 1, max: 4 }), attachments }),
  fc.record({ kind: fc.constant('resolve' as const), id }),
  fc.record({ kind: fc.constant('purge' as const), id, leaf: fc.option(leaf) }),
  fc.record({ kind: fc.constant('compact' as const) }),
)

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never
type Attachments = typeof attachments extends fc.Arbitrary<infer T> ? T : never

/** What may be refused, depending on what there is. */
const REFUSALS = new Set(['PANNIER_CONFLICT', 'PANNIER_NOT_FOUND', 'PANNIER_ATTACHMENT_MISSING'])

test('random histories', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 5, maxLength: 30 }),
      fc.boolean(),
      fc.nat(),
      fc.constantFrom(0, 0.3),
      async (operations, history, seed, missChance) => {
        const db = modelDatabase({ seed, missChance })
        const docs = db.collection('docs', { history, revisionsLimit: 6 })
        for (const [at, one] of operations.entries()) {
          try {
            await run(docs, one, at)
          } catch (error) {
            if (!isPannierError(error) || !REFUSALS.has(error.code)) throw error
          }
          expect((await db.check()).problems, JSON.stringify(one)).toStrictEqual([])
        }
        for (const one of ['a', 'b']) await docs.purge(one)
        expect((await db.check()).problems).toStrictEqual([])
        await db.close()
      },
    ),
    { numRuns: times(10) },
  )
})

async function run(docs: Collection<JsonObject>, one: Operation, at: number): Promise<void> {
  switch (one.kind) {
    case 'upsert':
      await docs.upsert({ _id: one.id, at, _attachments: inputs(one.attachments) })
      return names(docs, one.id, one.attachments)
    case 'put': {
      const _rev = await leafOf(docs, one.id, one.leaf)
      const document = { _id: one.id, at, _deleted: one.deleted, _attachments: inputs(one.attachments) }
      await docs.put({ ...document, ...(_rev !== undefined && { _rev }) })
      return
    }
    case 'batch':
      await docs.upsert(
        ['a', 'b', 'a'].map((_id) => ({ _id, at, _attachments: inputs(one.attachments) })),
        { atomic: one.atomic },
      )
      return
    case 'update':
      await docs.update(one.id, (document) => {
        const memory = Object.entries(one.attachments).map(([key, data]) => [
          key,
          data === undefined ? { stub: true } : { data: contentBytes(data.seed, data.length) },
        ])
        return { ...document, at, _attachments: { ...document._attachments, ...Object.fromEntries(memory) } }
      })
      return
    case 'putAttachment': {
      const data = inputs({ data: one.content })['data'] as { data: Blob }
      await docs.putAttachment(one.id, one.name, data.data, await revOption(docs, one.id, one.leaf))
      if (one.leaf !== null) return
      const found = await docs.getAttachment(one.id, one.name)
      expect(await found?.bytes()).toStrictEqual(contentBytes(one.content.seed, one.content.length))
      return
    }
    case 'deleteAttachment':
      await docs.deleteAttachment(one.id, one.name, await revOption(docs, one.id, one.leaf))
      return
    case 'delete': {
      const { rev } = await revOption(docs, one.id, one.leaf)
      await docs.delete({ _id: one.id, ...(rev !== undefined && { _rev: rev }) })
      return
    }
    case 'replicate': {
      const ids = Array.from({ length: one.generation }, (_, step) => `${(at + step) % 7}`.repeat(32))
      const revision = { _rev: `${one.generation}-${ids[0]}`, _revisions: { start: one.generation, ids } }
      await docs.put({ _id: one.id, ...revision, _attachments: inputs(one.attachments) }, { newEdits: false })
      return
    }
    case 'resolve':
      await docs.resolve(one.id, (leaves) => ({
        at,
        _attachments: Object.assign({}, ...leaves.map(({ _attachments }) => _attachments)) as AttachmentInputs,
      }))
      expect(
        (await docs.conflicts()).every((conflict) => conflict.id !== one.id),
        'the conflict is over',
      ).toBe(true)
      return
    case 'purge':
      await docs.purge(one.id, (await revOption(docs, one.id, one.leaf)).rev)
      return
    case 'compact':
      await docs.compact()
  }
}

function inputs(wanted: Attachments): AttachmentInputs {
  return Object.fromEntries(
    Object.entries(wanted).map(([key, data]) => {
      if (data === undefined) return [key, { stub: true }]
      const bytes = contentBytes(data.seed, data.length)
      return [key, { data: data.streamed ? new Blob([bytes]) : bytes }]
    }),
  )
}

async function names(docs: Collection<JsonObject>, one: string, expected: Attachments): Promise<void> {
  const document = await docs.get(one)
  expect(Object.keys(document?._attachments ?? {}).sort()).toStrictEqual(Object.keys(expected).sort())
}

async function leafOf(docs: Collection<JsonObject>, one: string, position: number): Promise<string | undefined> {
  const leaves = await docs.getRevisions(one, 'all')
  const chosen = leaves[position % Math.max(1, leaves.length)]
  return chosen !== undefined && 'ok' in chosen ? chosen.ok._rev : undefined
}

async function revOption(
  docs: Collection<JsonObject>,
  one: string,
  position: number | null,
): Promise<{ readonly rev?: string }> {
  const rev = position === null ? undefined : await leafOf(docs, one, position)
  return rev === undefined ? {} : { rev }
}
