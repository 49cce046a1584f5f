/**
 * Goal: whatever is written, and whatever is asked, a collection answers as a table would that is read row by row: the columns of a
 * row are the texts and numbers that JSONStore's tables had. With SEED and PATH of a failure fast-check replays it.
 */
import * as fc from 'fast-check'
import { test } from 'vitest'
import { assertEqual } from 'pannier/testing'
import { memory } from 'pannier/memory'
import { createJSONStore } from '../src/index.ts'
import type { FindOptions, JSONStoreCollection, JsonObject } from '../src/index.ts'
import { times } from '../../../tools/test/seeds.ts'

const FIELDS = { name: 'string', age: 'integer', paid: 'boolean', 'tags.of': 'string' } as const
type Field = keyof typeof FIELDS | 'team'

interface Row {
  readonly id: number
  json: JsonObject
  readonly team: string | undefined
  operation: string
  /** Position among the changes; 0: clean. */
  dirty: number
  removed: boolean
}

/** The dumb table. */
class Table {
  readonly rows: Row[] = []
  changes = 0

  get live(): Row[] {
    return this.rows.filter(({ removed }) => !removed)
  }

  add(json: JsonObject, team: string | undefined, markDirty: boolean): void {
    const dirty = markDirty ? ++this.changes : 0
    this.rows.push({ id: this.rows.length + 1, json, team, operation: 'add', dirty, removed: false })
  }

  replace(id: number, json: JsonObject, markDirty: boolean): void {
    const row = this.live.find((one) => one.id === id)!
    row.operation = row.dirty > 0 && row.operation === 'add' ? 'add' : 'replace'
    row.json = json
    row.dirty = markDirty ? ++this.changes : 0
  }

  remove(rows: readonly Row[], markDirty: boolean): void {
    for (const row of rows) {
      const isForgotten = !markDirty || (row.dirty > 0 && row.operation === 'add')
      row.removed = true
      row.operation = 'remove'
      row.dirty = isForgotten ? 0 : ++this.changes
    }
  }

  dirty(): Row[] {
    return this.rows.filter(({ dirty }) => dirty > 0).sort((left, right) => left.dirty - right.dirty)
  }
}

function elements(row: Row, field: Field): (string | number)[] {
  const found: unknown[] = []
  const visit = (value: unknown, names: string[]): void => {
    if (Array.isArray(value)) for (const one of value) visit(one, names)
    else if (names.length === 0) found.push(value)
    else if (typeof value === 'object' && value !== null) visit((value as JsonObject)[names[0]!], names.slice(1))
  }
  if (field === 'team') found.push(row.team)
  else visit(row.json, field.split('.'))
  return found.flatMap((value) => cellOf(field, value) ?? [])
}

function cellOf(field: Field, value: unknown): string | number | undefined {
  const isText = field === 'name' || field === 'tags.of' || field === 'team'
  const plain = typeof value === 'boolean' ? Number(value) : value
  if (typeof plain === 'number') return isText ? String(plain) : plain
  if (typeof plain !== 'string') return undefined
  if (field === 'paid' && plain === 'true') return 1
  return isText || plain.trim() === '' || Number.isNaN(Number(plain)) ? plain : Number(plain)
}

function cell(row: Row, field: Field): string | number | undefined {
  const all = elements(row, field)
  return all.length > 1 ? all.join('-@-') : all[0]
}

function compare(left: string | number | undefined, right: string | number | undefined): number {
  const rank = (value: unknown): number => ['undefined', 'number', 'string'].indexOf(typeof value)
  if (rank(left) !== rank(right)) return rank(left) - rank(right)
  if (typeof left === 'number') return left - (right as number)
  const [a, b] = [Array.from(left ?? ''), Array.from((right as string | undefined) ?? '')]
  for (let at = 0; at < Math.min(a.length, b.length); at++)
    if (a[at] !== b[at]) return a[at]!.codePointAt(0)! - b[at]!.codePointAt(0)!
  return a.length - b.length
}

interface Asked {
  readonly field: Field
  readonly name: string
  readonly values: readonly (string | number | boolean)[]
}

function holds(row: Row, { field, name, values }: Asked): boolean {
  const value = cell(row, field)
  if (value === undefined) return false
  const negated = name.startsWith('not')
  const test = negated ? name[3]!.toLowerCase() + name.slice(4) : name
  const all = elements(row, field)
  const texts = [value, ...(all.length > 1 ? all : [])].map((one) => String(one).toLowerCase())
  const text = String(cellOf(field === 'paid' ? 'paid' : 'name', values[0])).toLowerCase()
  const [first, second] = values.map((one) => cellOf(field, one)!) as [string | number, string | number]
  const isBetween = (low: string | number, high: string | number): boolean =>
    typeof value === typeof low && typeof value === typeof high && compare(value, low) >= 0 && compare(value, high) <= 0
  const isSame = typeof value === typeof first
  const tests: Readonly<Record<string, () => boolean>> = {
    like: () => texts[0]!.includes(text),
    leftLike: () => texts.some((one) => one.endsWith(text)),
    rightLike: () => texts.some((one) => one.startsWith(text)),
    equal: () => value === first || all.includes(first),
    inside: () => values.some((one) => value === cellOf(field, one) || all.includes(cellOf(field, one)!)),
    lessThan: () => isSame && compare(value, first) < 0,
    lessOrEqualThan: () => isSame && compare(value, first) <= 0,
    greaterThan: () => isSame && compare(value, first) > 0,
    greaterOrEqualThan: () => isSame && compare(value, first) >= 0,
    between: () => isBetween(first, second),
  }
  return tests[test]!() !== negated
}

const TEXTS = ['Ann', 'ann', 'Hannah', 'Bob', '', '12', '1', 'a-@-b', 'a', 'b', 'Ü💡', 'ü\ud800', '%']
const value = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.integer({ min: -2, max: 13 }),
  fc.constantFrom(0.5, 1.5, true, false),
)
const PLAIN = { noNullPrototype: true }
const stored = fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom<unknown>(null, {}) })
const json: fc.Arbitrary<JsonObject> = fc.record(
  {
    name: stored,
    age: stored,
    paid: stored,
    tags: fc.oneof(
      fc.record({ of: stored }, PLAIN),
      fc.array(fc.record({ of: fc.oneof(stored, fc.array(stored)) }, PLAIN), { maxLength: 3 }),
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>

const field = fc.constantFrom<Field>('name', 'age', 'paid', 'tags.of', 'team')
const ONE =
  'like notLike leftLike notLeftLike rightLike notRightLike equal notEqual lessThan lessOrEqualThan greaterThan greaterOrEqualThan'
const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({ field, name: fc.constantFrom(...ONE.split(' ')), values: fc.tuple(value) }),
  fc.record({ field, name: fc.constantFrom('between', 'notBetween'), values: fc.tuple(value, value) }),
  fc.record({
    field,
    name: fc.constantFrom('inside', 'notInside'),
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
  }),
)
const parts = fc.array(fc.array(asked, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
const order = fc.record({
  sort: fc.array(fc.tuple(field, fc.constantFrom('asc', 'desc')), { maxLength: 2 }),
  limit: fc.option(fc.integer({ min: -4, max: 6 }), { nil: undefined }),
  offset: fc.nat({ max: 3 }),
})

type Step = (table: Table, collection: JSONStoreCollection) => Promise<void>

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.array(json, { maxLength: 5 }), fc.constantFrom(undefined, 'Blue', 'blue', '7'), fc.boolean())
      .map(([documents, team, markDirty]): Step => async (table, collection) => {
        const additional = team === undefined ? {} : { additionalSearchFields: { team } }
        assertEqual(await collection.add(documents, { markDirty, ...additional }), documents.length)
        for (const one of documents) table.add(one, team, markDirty)
      }),
  },
  fc.tuple(fc.nat(), json, fc.boolean()).map(([at, document, markDirty]): Step => async (table, collection) => {
    if (table.live.length === 0) return
    const { id } = table.live[at % table.live.length]!
    assertEqual(await collection.replace({ _id: id, json: document }, { markDirty }), 1)
    table.replace(id, document, markDirty)
  }),
  fc.tuple(fc.nat(), fc.boolean()).map(([at, markDirty]): Step => async (table, collection) => {
    if (table.live.length === 0) return
    const row = table.live[at % table.live.length]!
    assertEqual(await collection.remove(row.id, { markDirty }), 1)
    table.remove([row], markDirty)
  }),
  fc.tuple(field, value, fc.boolean()).map(([name, wanted, exact]): Step => async (table, collection) => {
    const rows = table.live.filter((row) =>
      holds(row, { field: name, name: exact ? 'equal' : 'like', values: [wanted] }),
    )
    assertEqual(await collection.remove({ [name]: wanted }, { exact }), rows.length)
    table.remove(rows, true)
  }),
  fc.boolean().map((half): Step => async (table, collection) => {
    const dirty = await collection.getAllDirty()
    const pushed = half ? dirty.filter((_, at) => at % 2 === 0) : dirty
    assertEqual(await collection.markClean(pushed), pushed.length)
    for (const { _id } of pushed) table.rows.find(({ id }) => id === _id)!.dirty = 0
  }),
)

async function check(
  table: Table,
  collection: JSONStoreCollection,
  query: readonly (readonly Asked[])[],
  { sort, limit, offset }: { sort: readonly [Field, string][]; limit: number | undefined; offset: number },
): Promise<void> {
  const conditions = query.map((part) => {
    const made: Record<string, object[]> = {}
    for (const { field: name, name: test, values } of part)
      (made[`$${test}`] ??= []).push({ [name]: /tween|side/i.test(test) ? values : values[0] })
    return made
  })
  const options: FindOptions = {
    ...(sort.length > 0 && { sort: sort.map(([name, direction]) => ({ [name]: direction })) }),
    ...(limit !== undefined && { limit }),
    ...(limit !== undefined && limit >= 0 && { offset }),
  }
  const matching = table.live.filter((row) => query.some((part) => part.every((one) => holds(row, one))))
  let expected = matching
  if (limit !== undefined && limit < 0) expected = expected.toReversed().slice(0, -limit)
  if (sort.length > 0)
    expected = expected.toSorted((left, right) => {
      for (const [name, direction] of sort) {
        const by = compare(cell(left, name), cell(right, name))
        if (by !== 0) return direction === 'asc' ? by : -by
      }
      return sort[0]![1] === 'asc' ? left.id - right.id : right.id - left.id
    })
  if (limit !== undefined && limit >= 0) expected = expected.slice(offset, offset + limit)
  const found = await collection.advancedFind(conditions as never, options)
  assertEqual(
    found.map(({ _id }) => _id),
    expected.map(({ id }) => id),
    JSON.stringify([conditions, options]),
  )
  assertEqual(await collection.count(), table.live.length)
  assertEqual(await collection.countAllDirty(), table.dirty().length)
  const [{ field: name, values }] = query[0] as [Asked]
  for (const exact of [false, true]) {
    const rows = table.live.filter((row) =>
      holds(row, { field: name, name: exact ? 'equal' : 'like', values: [values[0]!] }),
    )
    assertEqual(
      await collection.count({ [name]: values[0]! }, { exact }),
      rows.length,
      `count of ${name}, exact: ${exact}`,
    )
  }
}

for (const [fillers, numRuns] of [
  [0, 30],
  // Fields with so many values are walked.
  [1_100, 3],
] as const) {
  test(`as a table that is read row by row; ${fillers} documents to begin with`, async () => {
    const turn = fc.tuple(steps, parts, order)
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 12 }), async (turns) => {
        const store = createJSONStore({ storage: memory() })
        const { people } = await store.init({
          people: { searchFields: FIELDS, additionalSearchFields: { team: 'string' } },
        })
        const table = new Table()
        const begun = Array.from({ length: fillers }, (_, i) => ({
          name: `Filler ${i}`,
          age: 1_000 + i,
          tags: { of: `t${i}` },
        }))
        await people.store(begun)
        for (const one of begun) table.add(one, undefined, false)
        for (const [step, query, asking] of turns) {
          await step(table, people)
          await check(table, people, query, asking as never)
        }
        assertEqual(
          (await people.getAllDirty()).map(({ _id, json: document, _operation }) => [_id, document, _operation]),
          table.dirty().map(({ id, json: document, operation }) => [id, document, operation]),
        )
        assertEqual(
          await people.findAll(),
          table.live.map(({ id, json: document }) => ({ _id: id, json: document })),
        )
        assertEqual((await store.session.database.check()).problems, [])
        await store.destroy()
      }),
      { numRuns: times(numRuns) },
    )
  })
}
