/** Goal: whatever is sent, a write is stored or refused by a ServiceError, and what is stored is what fields admit. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { checkValue } from '../../src/fields/field-types.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { actor, NOBODY, openWorld, upload } from './world.ts'

const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const TYPES: readonly JsonObject[] = [
  { type: 'text', name: 'text', max: 50 },
  { type: 'editor', name: 'editor' },
  { type: 'number', name: 'number' },
  { type: 'bool', name: 'bool' },
  { type: 'email', name: 'email' },
  { type: 'url', name: 'url' },
  { type: 'date', name: 'date' },
  { type: 'select', name: 'select', values: ['a', 'b', 'c'], maxSelect: 2 },
  { type: 'json', name: 'json' },
  { type: 'geoPoint', name: 'point' },
  { type: 'file', name: 'file', maxSelect: 3 },
  { type: 'relation', name: 'relation', collectionId: 'pbc_all', maxSelect: 3 },
  { type: 'autodate', name: 'autodate', onUpdate: true, onCreate: true },
  // Any id that the pattern admits, also what the library does not.
  {
    id: 'text3208210256',
    type: 'text',
    name: 'id',
    primaryKey: true,
    required: true,
    system: true,
    pattern: '.*',
    autogeneratePattern: '[a-z0-9]{15}',
  },
]

const keys = TYPES.flatMap(({ name }) => [
  name,
  `${name as string}+`,
  `+${name as string}`,
  `${name as string}-`,
]) as string[]
const odd = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(
    'a',
    '["a","b"]',
    '{"lon":1,"lat":2}',
    '_id',
    '_design/x',
    '__proto__',
    '\u0000',
    '\uD800',
    '1e999',
    ' ',
    '.',
  ),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.json(),
  fc.anything({ values: [fc.string(), fc.double(), fc.boolean(), fc.constant(null)], withNullPrototype: false }),
)
const value = fc.oneof({ weight: 4, arbitrary: odd }, fc.array(odd, { maxLength: 4 }), fc.constant('FILE'))
const input = fc.dictionary(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...keys) }, fc.string()), value, {
  maxKeys: 6,
})

const runs = times(400)

test(`any input, ${runs} times (SEED=${FIRST_SEED})`, { timeout: 120_000 + runs * 50 }, async () => {
  const world = await openWorld([{ id: 'pbc_all', name: 'all', ...PUBLIC, fields: TYPES }])
  const { writes, definitions } = world
  const known: string[] = []
  /** JSON, except files. */
  const sent = (json: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(JSON.parse(JSON.stringify(json)) as JsonObject).map(([key, one]) => [
        key,
        one === 'FILE' ? upload(key, 'content') : one,
      ]),
    )
  let stored = 0
  await fc.assert(
    fc.asyncProperty(input, fc.nat(), fc.boolean(), async (json, pick, isNew) => {
      const body = sent(json as JsonObject)
      const id = known[pick % (known.length + 1)] ?? JSON.stringify(json).slice(0, 20)
      try {
        const record = isNew
          ? await writes.create(NOBODY, 'all', body)
          : await writes.update(actor(NOBODY.principal, 'PATCH'), 'all', id, body)
        if (isNew) known.push(record['id'] as string)
        stored++
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        expect(['INVALID', 'NOT_FOUND']).toContain(error.code)
      }
    }),
    { numRuns: runs, seed: FIRST_SEED },
  )
  expect(stored).toBeGreaterThan(runs / 20)
  const { fields } = definitions.get('all')
  for (const [id, record] of Object.entries(await world.stored('all')))
    for (const field of fields) {
      const own = field.name === 'id' ? id : record[field.name]
      expect(checkValue(field, own, { old: own }), `${id} ${field.name}`).toBeUndefined()
    }
  await world.close()
})
