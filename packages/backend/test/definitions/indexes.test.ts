/** Goal: an index of any form is kept as it is written, and a UNIQUE one refuses what SQLite would refuse. */
import { open, type Collection, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Definitions } from '../../src/definitions/definitions.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { modelledDefinitions } from '../test-model.ts'

const opened: Database[] = []
afterEach(async () => {
  for (const one of opened.splice(1)) await one.close()
})
afterAll(() => opened[0]!.close())

async function openDefinitions(storage = memory()): Promise<Definitions> {
  const database = await open('indexes', { storage })
  opened.push(database)
  return modelledDefinitions(database)
}

/** One for all statements of a table. */
let shared: Definitions
beforeAll(async () => (shared = await openDefinitions()))
beforeEach(async () => {
  for (const name of ['many', 'plain']) if (shared.find(name) !== undefined) await shared.delete(SYSTEM, name)
})
afterAll(() => shared.close())

const TEXTS = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ id: `f${name}`, name, type: 'text' }))
const FIELDS = [
  ...TEXTS,
  { id: 'fn', name: 'n', type: 'number' },
  { id: 'fj', name: 'j', type: 'json' },
  { id: 'ft', name: 'tags', type: 'select', values: ['x', 'y'], maxSelect: 2 },
]
const BLANK = { a: '', b: '', c: '', d: '', e: '', n: 0, j: null, tags: [] }

async function recordsOf(definitions: Definitions, ...indexes: readonly string[]): Promise<Collection<JsonObject>> {
  return definitions.records(await definitions.create(SYSTEM, { name: 'many', fields: FIELDS, indexes }))
}

/** What is written beside a first record: 'taken' or 'refused'. */
async function outcomes(
  records: Collection<JsonObject>,
  first: JsonObject,
  others: readonly JsonObject[],
): Promise<readonly string[]> {
  await records.insert({ ...BLANK, ...first })
  const found: string[] = []
  for (const other of others)
    found.push(
      await records.insert({ ...BLANK, ...other }).then(
        () => 'taken',
        (error: unknown) => (error as { readonly code: string }).code.replace('PANNIER_NOT_UNIQUE', 'refused'),
      ),
    )
  return found
}

test.each([
  ['lower(a)', { a: 'Ann' }, { a: 'ANN' }, { a: 'Bob' }],
  ['a COLLATE NOCASE, b', { a: 'Ann', b: 'x' }, { a: 'aNN', b: 'x' }, { a: 'ann', b: 'X' }],
  ['a COLLATE RTRIM', { a: 'Ann' }, { a: 'Ann  ' }, { a: ' Ann' }],
  ['a COLLATE "nocase" DESC', { a: 'Ann' }, { a: 'ANN' }, { a: 'Änn' }],
  ['a, b, c, d, e', { a: '1', e: '5' }, { a: '1', e: '5' }, { a: '1', e: '6' }],
  ['a, a', { a: '1' }, { a: '1' }, { a: '2' }],
  ['n % 3, tags', { n: 4, tags: ['x'] }, { n: 7, tags: ['x'] }, { n: 7, tags: ['y'] }],
  ['j', { j: { k: 1 } }, { j: { k: 1 } }, { j: null }],
  ["json_extract(j, '$.k')", { j: { k: 1 } }, { j: { k: 1, l: 2 } }, { j: { l: 2 } }],
  ["a || ' ' || b", { a: 'x', b: 'y z' }, { a: 'x y', b: 'z' }, { a: 'x', b: 'yz' }],
  ['a) WHERE (length(b) > 1', { a: 'x', b: 'long' }, { a: 'x', b: 'other' }, { a: 'x', b: 's' }],
  ['a) WHERE (b != "" OR n IN (1, 2)', { a: 'x', n: 1 }, { a: 'x', b: 'b' }, { a: 'x', n: 3 }],
  ["a) WHERE b LIKE 'x%' -- of some\n AND (n > 0", { a: 'x', b: 'X', n: 1 }, { a: 'x', b: 'x1', n: 2 }, { a: 'x' }],
  ["coalesce(nullif(a, ''), b), /* ), */ [c]", { b: 'x' }, { a: 'x' }, { a: 'x', c: 'c' }],
])('a UNIQUE index on (%s) refuses what SQLite refuses', async (columns, first, same, other) => {
  const index = `INDEX made ON many (${columns})`
  const kept = await shared.create(SYSTEM, {
    name: 'plain',
    fields: FIELDS,
    indexes: [`CREATE ${index}`.replace('many', 'plain')],
  })
  expect(kept.indexes).toEqual([`CREATE ${index}`.replace('many', 'plain')])
  await shared.delete(SYSTEM, 'plain')
  const records = await recordsOf(shared, `CREATE UNIQUE ${index}`)
  expect(shared.get('many').indexes).toEqual([`CREATE UNIQUE ${index}`])
  expect(await outcomes(records, first, [same, other])).toEqual(['refused', 'taken'])
  expect((await opened[0]!.check()).ok).toBe(true)
})

test('records without a key are in nobody way', async () => {
  const records = await recordsOf(await openDefinitions(), 'CREATE UNIQUE INDEX u ON many (j)')
  expect(await outcomes(records, { j: null }, [{ j: null }, { j: 1 }, { j: null }])).toEqual([
    'taken',
    'taken',
    'taken',
  ])
})

test('a partial unique index of lists', async () => {
  const records = await recordsOf(await openDefinitions(), "CREATE UNIQUE INDEX u ON many (tags) WHERE tags != '[]'")
  const others = [{ tags: [] }, { tags: ['x', 'y'] }, { tags: ['x'] }, { tags: ['y', 'x'] }]
  expect(await outcomes(records, { tags: ['x'] }, others)).toEqual(['taken', 'taken', 'refused', 'taken'])
})

test.each([
  ['nope', 'SQL logic error: no such column: nope (1)'],
  ['lower(nope)', 'SQL logic error: no such column: nope (1)'],
  ['a COLLATE nope', 'SQL logic error: no such collation sequence: nope (257)'],
  ['random()', 'SQL logic error: non-deterministic functions prohibited in index expressions (1)'],
  ['a || (SELECT 1)', 'SQL logic error: subqueries prohibited in index expressions (1)'],
  ['a) WHERE (n > (SELECT 1)', 'SQL logic error: subqueries prohibited in partial index WHERE clauses (1)'],
  ['a) WHERE rowid > (1', 'SQL logic error: no such column: rowid (1)'],
  ['a b', 'SQL logic error: near "b": syntax error (1)'],
  ['load_extension(a)', 'SQL logic error: unsafe use of load_extension() (1)'],
])('an index on (%s) is refused in words of SQLite', async (columns, reason) => {
  const created = recordsOf(shared, `CREATE UNIQUE INDEX u ON many (${columns})`)
  const message = `Failed to create index u - ${reason}.`
  await expect(created).rejects.toMatchObject({ data: { indexes: { 0: { message } } } })
})

test('an index that the records refuse names two of them, and nothing changes', async () => {
  const definitions = await openDefinitions()
  const records = await recordsOf(definitions)
  await records.insert([
    { ...BLANK, _id: 'one', a: 'Ann' },
    { ...BLANK, _id: 'two', a: 'Bob' },
    { ...BLANK, _id: 'three', a: 'ANN' },
  ])
  const indexes = ['CREATE UNIQUE INDEX u ON many (lower(a))']
  const message = "Failed to create index u - constraint failed: UNIQUE constraint failed: index 'u' (2067)."
  const data = { indexes: { 0: { message, params: { records: ['one', 'three'] } } } }
  await expect(definitions.update(SYSTEM, 'many', { indexes })).rejects.toMatchObject({ data })
  // The values move with the same change.
  const fields = FIELDS.map((field) => ({ ...field, name: { a: 'b', b: 'a' }[field.name] ?? field.name }))
  const swapped = { fields, indexes: ['CREATE UNIQUE INDEX u ON many (lower(b))'] }
  await expect(definitions.update(SYSTEM, 'many', swapped)).rejects.toMatchObject({ data })
  expect(definitions.get('many').indexes).toEqual([])
  await records.insert({ ...BLANK, a: 'ann' })
  expect(await definitions.check(SYSTEM, 'many', { indexes })).toMatchObject([{ field: 'a', count: 2 }])
})

test('a key that SQLite can not make refuses the record, or the index', async () => {
  const definitions = await openDefinitions()
  const indexes = ["CREATE UNIQUE INDEX u ON many (json_extract(a, '$.k'))"]
  const records = await recordsOf(definitions, ...indexes)
  const bad = { ...BLANK, _id: 'bad', a: '{' }
  await expect(records.insert(bad)).rejects.toMatchObject({ code: 'PANNIER_DOCUMENT_INVALID' })
  await records.insert({ ...BLANK, a: '{"k":1}' })
  await definitions.update(SYSTEM, 'many', { indexes: [] })
  await records.insert(bad)
  const reason = expect.stringContaining('malformed JSON')
  expect(await definitions.check(SYSTEM, 'many', { indexes })).toMatchObject([
    { field: 'a', error: { message: reason }, ids: ['bad'] },
  ])
  const fields = FIELDS.map((field) => ({ ...field, name: { a: 'b', b: 'a' }[field.name] ?? field.name }))
  const moved = { fields, indexes: ["CREATE UNIQUE INDEX u ON many (json_extract(b, '$.k'))"] }
  await expect(definitions.update(SYSTEM, 'many', moved)).rejects.toMatchObject({
    data: { indexes: { 0: { message: reason } } },
  })
  const message = 'Failed to create index u - SQL logic error: malformed JSON (1).'
  await expect(definitions.update(SYSTEM, 'many', { indexes })).rejects.toMatchObject({
    data: { indexes: { 0: { message } } },
  })
})

test('an index holds after a restart, after the fields have moved, and under another name of the collection', async () => {
  const storage = memory()
  const first = await openDefinitions(storage)
  await (await recordsOf(first, 'CREATE UNIQUE INDEX u ON many (lower(a))')).insert({ ...BLANK, _id: 'one', a: 'Ann' })
  await first.close()
  await opened.pop()!.close()
  const definitions = await openDefinitions(storage)
  const again = { ...BLANK, a: 'aNN' }
  await expect(definitions.records(definitions.get('many')).insert(again)).rejects.toMatchObject({
    details: { other: 'one' },
  })
  await definitions.update(SYSTEM, 'many', { name: 'others' })
  const records = definitions.records(definitions.get('others'))
  await expect(records.insert(again)).rejects.toMatchObject({ details: { other: 'one' } })
  const fields = FIELDS.map((field) => ({ ...field, name: { a: 'b', b: 'a' }[field.name] ?? field.name }))
  await definitions.update(SYSTEM, 'others', { fields, indexes: ['CREATE UNIQUE INDEX u ON others (lower(b))'] })
  await expect(records.insert({ ...BLANK, b: 'ANN' })).rejects.toMatchObject({ details: { other: 'one' } })
  await records.insert({ ...BLANK, a: 'ANN' })
  expect((await records.indexes()).length).toBe(1)
})

test('what SQLite makes the keys of is found by an index of its columns', async () => {
  const records = await recordsOf(await openDefinitions(), "CREATE UNIQUE INDEX u ON many (a) WHERE a LIKE '%@%'")
  await records.insert(Array.from({ length: 50 }, (_, at) => ({ ...BLANK, a: `x${at % 10}` })))
  const { plan } = await records.find({ a: 'x1' }).explain()
  expect(JSON.stringify(plan)).toContain('"u ')
})
