/**
 * Goal: a query by a selection has exactly its documents, in the order asked for. Method: random selections on random documents of
 * three collections, with random indexes and relations, compared with the naive reading of each document.
 */
import { afterEach, expect, test } from 'vitest'
import { open, type Database } from '../../src/index.ts'
import { relateRecords, selectionQuery } from '../../src/internal.ts'
import type { SearchedText } from '../../src/internal.ts'
import type { Selection, SelectionComparison } from '../../src/relations/selection/selection.ts'
import { memory } from '../../src/memory.ts'
import { compareValues } from '../../src/codec/collation.ts'
import { COLUMNS_USE } from '../../src/query/query-source.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import { slow } from '../../testing/slow-storage.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

type Fields = { _id: string } & Record<string, unknown>
type Data = Readonly<Record<string, readonly Fields[]>>

const usually = { ...COLUMNS_USE }
afterEach(() => void Object.assign(COLUMNS_USE, usually))

/** Collection `a` refers to `b` and to itself, `b` to `c`; names in selections differ from those of the library. */
const NAMES = ['a', 'b', 'c']
const nameOf = (collection: string): string => `$records_${collection}`
const TO: Readonly<Record<string, Readonly<Record<string, { readonly to: string; readonly many: boolean }>>>> = {
  a: { one: { to: 'b', many: false }, many: { to: 'b', many: true }, self: { to: 'a', many: false } },
  b: { one: { to: 'c', many: false }, many: { to: 'c', many: true } },
  c: {},
}
const IDS = Array.from({ length: 8 }, (_, n) => `d${n}`)
/** How many documents were made before. */
const CREATED = '$created'
const TEXTS = ['', 'x', 'X', 'xy', 'Äx', 'äX', 'ßxY', '\u{1f600}x', '\uffeex', 'KK', 'kk', 'x kk', 'kk Xy x']
/** Their words, starts of them, phrases, and what has no words. */
const SEARCHES = [
  'x',
  'X',
  'x*',
  'kk',
  'KK x',
  'k* x*',
  'ax',
  'ä*',
  'ß*',
  '"x kk"',
  '"kk xy" x',
  '"xy x"',
  'none',
  '',
  '-',
]
const NUMBERS = [-1, 0, 1, 2.5]
const EMPTY = { text: '', number: 0, bool: false, one: '' } as const
const SOURCES: Readonly<Record<string, readonly (string | number | boolean)[]>> = {
  text: TEXTS,
  number: NUMBERS,
  bool: [true, false],
  one: [...IDS, ''],
  id: IDS,
}

function randomDocument(_id: string, random: Random): Fields {
  const document: Fields = { _id }
  const set = (name: string, value: () => unknown): void => {
    if (random.chance(0.8)) document[name] = random.chance(0.1) ? null : value()
  }
  set('text', () => random.pick(TEXTS))
  set('number', () => random.pick(NUMBERS))
  set('bool', () => random.chance(0.5))
  set('tags', () => Array.from({ length: random.below(4) }, () => random.pick(TEXTS)))
  set('one', () => random.pick([...IDS, 'gone', '']))
  set('self', () => random.pick([...IDS, '']))
  set('many', () => Array.from({ length: random.below(4) }, () => random.pick([...IDS, 'gone'])))
  return document
}

function randomComparison(random: Random): Selection {
  if (random.chance(0.15)) {
    const operator = random.pick(['=', '<', '<=', '>', '>='] as const)
    return { kind: 'compare', field: random.pick(['tags', 'many']), isLength: true, operator, value: random.below(3) }
  }
  const field = random.pick(Object.keys(SOURCES))
  const isText = field === 'text' || field === 'one'
  const operators = isText
    ? (['=', '<', '<=', '>', '>=', 'contains', 'contains'] as const)
    : (['=', '<', '<=', '>', '>='] as const)
  const operator = field === 'bool' || field === 'id' ? '=' : random.pick(operators)
  return { kind: 'compare', field, isLength: false, operator, value: random.pick(SOURCES[field]!) }
}

function randomElement(random: Random, depth: number): Selection {
  const roll = random.below(depth > 0 ? 4 : 2)
  if (roll === 0)
    return {
      kind: 'compare',
      field: '',
      isLength: false,
      operator: random.pick(['=', '<', '>=', 'contains']),
      value: random.pick(TEXTS),
    }
  if (roll === 1) return { kind: 'test', fields: [''], holds: (record) => (record[''] as string).length > 1 }
  if (roll === 2) return { kind: 'not', of: randomElement(random, depth - 1) }
  return {
    kind: random.pick(['and', 'or']),
    of: Array.from({ length: random.below(3) }, () => randomElement(random, depth - 1)),
  }
}

function randomSelection(random: Random, collection: string, depth: number): Selection {
  const inner = (to = collection): Selection => randomSelection(random, to, depth - 1)
  if (random.chance(0.1)) return { kind: 'search', text: random.pick(SEARCHES) }
  if (random.chance(0.1)) return { kind: 'created', operator: random.pick(['<', '>']), value: random.below(200) }
  const roll = depth === 0 ? random.below(3) : random.below(9)
  switch (roll) {
    case 0:
    case 1:
      return randomComparison(random)
    case 2:
      return random.chance(0.5)
        ? {
            kind: 'test',
            fields: ['text', 'id'],
            holds: ({ text, id }) => (((text ?? '') as string).length + (id as string).length) % 2 === 0,
          }
        : { kind: 'element', field: 'tags', of: randomElement(random, 2) }
    case 3:
      return { kind: 'not', of: inner() }
    case 4:
    case 5:
      return { kind: random.pick(['and', 'or']), of: Array.from({ length: random.below(4) }, () => inner()) }
    case 6: {
      const field = random.pick(Object.keys(TO[collection]!))
      if (field === undefined) return randomComparison(random)
      const { to, many } = TO[collection]![field]!
      const step = { kind: 'related', step: 'to', collection: to, on: [] } as const
      if (!many || random.chance(0.5)) return { ...step, field, of: inner(to) }
      const leads: Selection = { ...step, field: '', of: inner(to) }
      return {
        kind: 'element',
        field,
        of: { kind: 'and', of: [random.chance(0.5) ? leads : { kind: 'not', of: leads }, randomElement(random, 1)] },
      }
    }
    case 7: {
      const back = NAMES.flatMap((from) =>
        Object.entries(TO[from]!).flatMap(([field, { to }]) => (to === collection ? [{ from, field }] : [])),
      )
      if (back.length === 0) return randomComparison(random)
      const { from, field } = random.pick(back)
      return { kind: 'related', step: 'from', collection: from, field, on: [], of: inner(from) }
    }
    default: {
      const to = random.pick(NAMES)
      const pairs = [
        ['text', 'text'],
        ['one', 'id'],
        ['id', 'one'],
        ['text', 'one'],
      ] as const
      const on = Array.from({ length: random.below(3) }, () => random.pick(pairs))
      return { kind: 'related', step: 'any', collection: to, field: '', on, of: inner(to) }
    }
  }
}

function fold(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function read(document: Readonly<Record<string, unknown>>, field: string): unknown {
  return document[field === 'id' ? '_id' : field]
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined || value === null ? [] : [value].flat()
}

function compares(
  { field, isLength, operator, value }: SelectionComparison,
  document: Readonly<Record<string, unknown>>,
): boolean {
  const empty = typeof value === 'string' ? '' : typeof value === 'number' ? 0 : false
  const stored = isLength ? listOf(read(document, field)).length : (read(document, field) ?? empty)
  if (operator === 'contains') return fold(stored as string).includes(fold(value as string))
  const order = compareValues(stored, value)
  return { '=': order === 0, '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[operator]
}

/** The words of texts in which only spaces and symbols are between words. */
function words(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

function found(search: string, texts: readonly unknown[]): boolean {
  const lists = texts.filter((text) => typeof text === 'string').map(words)
  const terms = search.match(/"[^"]*"|[^\s"]+/g) ?? []
  if (terms.flatMap(words).length === 0) return false
  return terms.every((term) => {
    if (term.startsWith('"')) return lists.some((list) => ` ${list.join(' ')} `.includes(` ${words(term).join(' ')} `))
    const [word = ''] = words(term)
    return lists.flat().some((one) => (term.endsWith('*') ? one.startsWith(word) : one === word))
  })
}

/** Whether the selection has the document, as `selection.ts` says. An element is `{ '': value }`. */
function has(data: Data, selection: Selection, document: Readonly<Record<string, unknown>>): boolean {
  const also = (of: Selection, other = document): boolean => has(data, of, other)
  switch (selection.kind) {
    case 'and':
      return selection.of.every((part) => also(part))
    case 'or':
      return selection.of.some((part) => also(part))
    case 'not':
      return !also(selection.of)
    case 'compare':
      return compares(selection, document)
    case 'search':
      return found(selection.text, [read(document, 'text'), ...listOf(read(document, 'tags'))])
    case 'test':
      return selection.holds(Object.fromEntries(selection.fields.map((field) => [field, read(document, field)])))
    case 'element':
      return listOf(read(document, selection.field)).some((value) => also(selection.of, { '': value }))
    case 'created': {
      const order = (document[CREATED] as number) - selection.value
      return selection.operator === '<' ? order < 0 : order > 0
    }
    default: {
      const { step, collection, field, on, of } = selection
      const text = (from: Readonly<Record<string, unknown>>, name: string): unknown => read(from, name) ?? ''
      return data[collection]!.some((other) => {
        if (step === 'to' && !listOf(read(document, field)).includes(other._id)) return false
        if (step === 'from' && !listOf(read(other, field)).includes(document['_id'])) return false
        return on.every(([theirs, own]) => text(other, theirs) === text(document, own)) && also(of, other)
      })
    }
  }
}

function inOrder(documents: readonly Fields[], sort: readonly string[], data: Data): string[] {
  const value = (document: Fields, path: string): unknown => {
    if (path === 'one.text') {
      const other = data['b']!.find(({ _id }) => _id === document['one'])
      return other && (other['text'] ?? '')
    }
    return document[path] ?? (EMPTY as Readonly<Record<string, unknown>>)[path]
  }
  return documents
    .toSorted((left, right) => {
      for (const field of [...sort, '_id']) {
        const path = field.replace('-', '')
        const order = compareValues(value(left, path), value(right, path))
        if (order !== 0) return field === path ? order : -order
      }
      return 0
    })
    .map(({ _id }) => _id)
}

async function database(seed: number, random: Random): Promise<Database> {
  const db = (await open(`selection-${seed}`, { storage: seed % 4 === 0 ? slow(memory(), 5) : memory() })) as Database
  for (const name of NAMES) {
    const partial = [
      { on: 'text', where: { number: { $gt: 0 } } },
      { on: 'number', where: { text: { $gt: '' } } },
    ]
    const searched = { on: ['text', 'tags'], text: true, name: 'words' }
    const plain = [
      'text',
      'number',
      searched,
      'bool',
      ['one', 'text'],
      { on: 'tags', multi: true },
      '-number',
      ...partial,
    ]
    db.collection<object>(nameOf(name), { indexes: plain.filter(() => random.chance(0.4)) as never })
  }
  if (random.chance(0.7)) {
    const relations = Object.entries(TO).map(([name, fields]) => {
      const inputs = Object.entries(fields).map(([field, { to, many }]) => [
        field,
        { to: nameOf(to), many, cascade: false, required: false },
      ])
      return [nameOf(name), Object.fromEntries(inputs)]
    })
    await relateRecords(db, Object.fromEntries(relations))
  }
  return db
}

for (const seed of seedsOf('model', 4))
  test(`random selections, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, async () => {
    const random = seededRandom(seed)
    if (random.chance(0.5)) Object.assign(COLUMNS_USE, { documentsMin: 0, costShareMin: 0 })
    const db = await database(seed, random)
    const data: Record<string, Fields[]> = { a: [], b: [], c: [] }
    for (let round = 0; round < 12; round++) {
      for (const name of NAMES)
        data[name] = IDS.filter(() => random.chance(0.8)).map((id) => randomDocument(id, random))
      // First, as deletes remove ids from what refers to them.
      for (const name of NAMES) await db.collection(nameOf(name)).delete(IDS)
      for (const name of NAMES) {
        await db.collection<object>(nameOf(name)).upsert(data[name]!)
        const places = await db.collection<Fields>(nameOf(name)).find().fields('_id', CREATED).toArray()
        const placeOf = new Map(places.map((place) => [place._id, place[CREATED]]))
        for (const document of data[name]!) document[CREATED] = placeOf.get(document._id)
      }
      for (let n = 0; n < 25; n++) {
        const selection = randomSelection(random, 'a', 3)
        const expected = data['a']!.filter((document) => has(data, selection, document))
        const isRelated = (await db.collection(nameOf('a')).indexes()).some(({ name }) => name === 'relation one')
        const paths = ['text', '-number', 'bool', 'one', ...(isRelated ? [random.pick(['one.text', '-one.text'])] : [])]
        const sort = paths.filter(() => random.chance(0.4))
        const textOf = (): SearchedText => ({ index: 'words', paths: ['text', 'tags'] })
        const options = { nameOf, textOf, empty: new Map(Object.entries({ ...EMPTY, 'one.text': '' } as const)) }
        const query = selectionQuery(db.collection<object>(nameOf('a')), selection, options).sort(...sort, '_id')
        const ids = (await query.toArray()).map(({ _id }) => _id)
        expect({ selection, sort, ids }).toEqual({ selection, sort, ids: inOrder(expected, sort, data) })
        const skip = random.below(4)
        const { rows, total } = await query.skip(skip).limit(2).page()
        expect({ selection, total, ids: rows.map(({ _id }) => _id) }).toEqual({
          selection,
          total: ids.length,
          ids: ids.slice(skip, skip + 2),
        })
        expect(await query.count()).toBe(total)
        await query.explain({ run: true })
      }
    }
    await db.close()
  })

test('a text index has up to 32 fields', async () => {
  const db = (await open('many', { storage: memory() })) as Database
  const on = Array.from({ length: 33 }, (_, n) => `f${n}`)
  expect(() => db.collection('a', { indexes: [{ on, text: true }] })).toThrow(
    'an index must have 1 to 32 fields, got 33',
  )
  expect(() => db.collection('a', { indexes: [on.slice(0, 5)] })).toThrow('an index must have 1 to 4 fields, got 5')
  const texts = db.collection<Fields>('a', { indexes: [{ on: on.slice(0, 32), text: true }] })
  await texts.insert({ _id: 'x', f0: 'first', f31: 'last' })
  expect(await texts.search('first last').count()).toBe(1)
  await db.close()
})
