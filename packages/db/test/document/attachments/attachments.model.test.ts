/**
 * Goal: whatever is written in whatever order, each document has the attachments that a Map would have, and what is stored is
 * exactly what documents refer to.
 * Method: over the model of a key-value store, which also fails a write that is wrong about what is there, or that reads
 * something after it has begun to write; what is read misses at random.
 */
import * as fc from 'fast-check'
import { test, expect } from 'vitest'
import { CHUNK_BYTES } from '../../../src/document/attachments/blob-store.ts'
import { Upload } from '../../../src/document/attachments/upload.ts'
import { AttachmentStore, contentBytes, contentPieces } from '../../../testing/attachment-fixture.ts'
import { countingEnvironment } from '../../../testing/model-database.ts'
import { modelKeyValueStore } from '../../../testing/model-key-value-store.ts'
import { times } from '../../../../../tools/test/seeds.ts'

/** Few contents, so that many are equal; the long ones are uploaded ahead. */
const LENGTHS = [0, 3, 3000, CHUNK_BYTES + 1, 6 * CHUNK_BYTES] as const

interface Data {
  readonly seed: number
  readonly length: number
  readonly streamed: boolean
}

const dataArbitrary: fc.Arbitrary<Data> = fc.record({
  seed: fc.nat(1),
  length: fc.constantFrom(...LENGTHS),
  streamed: fc.boolean(),
})
const idArbitrary = fc.constantFrom('a', 'b', 'c')
const nameArbitrary = fc.constantFrom('x', 'constructor', 'ü')

type Step =
  | {
      readonly kind: 'put'
      readonly id: string
      readonly added: readonly (readonly [string, Data])[]
      readonly kept: readonly string[]
    }
  | { readonly kind: 'clear'; readonly id: string }
  | { readonly kind: 'abandon'; readonly data: Data }
  | { readonly kind: 'reclaim' }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      id: idArbitrary,
      added: fc.uniqueArray(fc.tuple(nameArbitrary, dataArbitrary), { maxLength: 3, selector: ([name]) => name }),
      kept: fc.uniqueArray(nameArbitrary),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('clear' as const), id: idArbitrary }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abandon' as const), data: dataArbitrary }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reclaim' as const) }) },
)

test('random histories', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(stepArbitrary, { maxLength: 25 }),
      fc.nat(),
      fc.constantFrom(0, 0.3),
      async (steps, seed, missChance) => {
        const store = new AttachmentStore(modelKeyValueStore({ seed, missChance }), countingEnvironment())
        const model = new Map<string, Map<string, Data>>()
        for (const step of steps) {
          await run(store, model, step)
          await store.check(false)
        }
        await compare(store, model)
        await store.reclaim()
        await store.check(true)
        for (const id of model.keys()) await store.put(id, {})
        await store.check(true)
      },
    ),
    { numRuns: times(25) },
  )
})

async function run(store: AttachmentStore, model: Map<string, Map<string, Data>>, step: Step): Promise<void> {
  if (step.kind === 'reclaim') return store.reclaim()
  if (step.kind === 'abandon') {
    const upload = await Upload.start({ ...store.target, live: new Set() })
    return upload.add([contentBytes(step.data.seed, CHUNK_BYTES)])
  }
  const old = model.get(step.id) ?? new Map<string, Data>()
  const added = new Map(step.kind === 'put' ? step.added : [])
  const kept = step.kind === 'put' ? step.kept.filter((name) => !added.has(name)) : []
  const written = store.put(
    step.id,
    Object.fromEntries([
      ...[...added].map(([name, data]) => [name, { data: input(data) }] as const),
      ...kept.map((name) => [name, { stub: true as const }] as const),
    ]),
  )
  if (kept.some((name) => !old.has(name))) {
    await expect(written).rejects.toMatchObject({ code: 'PANNIER_ATTACHMENT_MISSING' })
    return
  }
  await written
  for (const name of kept) added.set(name, old.get(name)!)
  model.set(step.id, added)
}

async function compare(store: AttachmentStore, model: Map<string, Map<string, Data>>): Promise<void> {
  for (const [id, attachments] of model) {
    expect((await store.names(id)).sort()).toStrictEqual([...attachments.keys()].sort())
    for (const [name, { seed, length }] of attachments)
      expect(await (await store.get(id, name))!.bytes()).toStrictEqual(contentBytes(seed, length))
  }
}

function input({ seed, length, streamed }: Data): AsyncIterable<Uint8Array> | Uint8Array {
  return streamed ? contentPieces(seed, length) : contentBytes(seed, length)
}
