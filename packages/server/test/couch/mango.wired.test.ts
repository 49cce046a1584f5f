/**
 * Goal: `_find`, `_explain`, `_index` and selectors of `_changes` answer as CouchDB does: which documents match, in which order, and in
 * which words a query is refused. Method: requests, and the answers that CouchDB 3.5 was seen to give to them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

let running: TestServer

beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.close())

let made = 0
/** A database of its own with these documents; its URL. */
async function database(documents: readonly object[]): Promise<string> {
  const name = `mango${++made}`
  expect((await send(running.url, `PUT /${name}`)).status).toBe(201)
  const url = `${running.url}/${name}`
  if (documents.length > 0) await post(url, '_bulk_docs', { docs: documents })
  return url
}

interface Answered {
  readonly status: number
  readonly docs?: readonly { readonly _id: string }[]
  readonly [member: string]: unknown
}

async function post(url: string, path: string, body: object): Promise<Answered> {
  const { status, json } = await send(url, `POST /${path}`, body)
  return { status, ...json }
}

async function found(url: string, query: object): Promise<string[]> {
  const { docs } = await post(url, '_find', query)
  return docs!.map(({ _id }) => _id)
}

test('an index has a name, and so has its design document', async () => {
  const url = await database([])
  for (const text of ['', true, 1.5, {}, [null]])
    for (const given of [{ name: text }, { ddoc: text }])
      expect((await post(url, '_index', { index: { fields: ['a'] }, ...given })).status).toBe(400)
  const { json } = await send(url, 'GET /_index')
  expect(json['total_rows']).toBe(1)
})

test('ids come after arrays and objects, as after all that is no text', async () => {
  const url = await database([{ _id: 'a' }, { _id: 'b' }])
  for (const other of [null, false, 0, [], ['z'], {}, { z: 1 }]) {
    for (const operator of ['$gt', '$gte']) {
      expect(await found(url, { selector: { _id: { [operator]: other } } })).toEqual(['a', 'b'])
      const all = { selector: { $or: [{ _id: { [operator]: other } }] }, sort: [{ _id: 'desc' }] }
      expect(await found(url, all)).toEqual(['b', 'a'])
    }
    for (const operator of ['$lt', '$lte', '$eq'])
      expect(await found(url, { selector: { _id: { [operator]: other } } })).toEqual([])
  }
  expect(await found(url, { selector: { _id: { $in: ['a', {}] } } })).toEqual(['a'])
  expect(await found(url, { selector: { _id: { $gt: {}, $lt: 'b' } } })).toEqual(['a'])
})

describe('arrays count as a whole', () => {
  let url: string
  beforeAll(async () => {
    url = await database([
      { _id: '1', tags: ['a', 'b'] },
      { _id: '2', tags: 'a' },
      { _id: '3', tags: [] },
      { _id: '4' },
      { _id: '5', tags: [['a']] },
      { _id: '6', tags: [{ k: 1 }, { k: 2 }] },
      { _id: '7', tags: { k: 1 } },
      { _id: '8', tags: [3, 10] },
      { _id: '9', tags: null },
    ])
  })

  const cases: [selector: object, ids: string][] = [
    [{ tags: 'a' }, '2'],
    [{ tags: { $regex: 'a' } }, '2'],
    [{ tags: { $regex: '^a' } }, '2'],
    [{ tags: { $beginsWith: 'a' } }, '2'],
    [{ tags: { $ne: 'a' } }, '1356789'],
    [{ tags: { $not: { $eq: 'a' } } }, '1356789'],
    [{ $nor: [{ tags: 'a' }] }, '1356789'],
    [{ tags: { $lt: 5 } }, '9'],
    [{ tags: { $gt: 5 } }, '1235678'],
    [{ tags: { $gt: null } }, '1235678'],
    [{ tags: { $gte: null } }, '12356789'],
    [{ tags: { $gt: 1, $lt: 5 } }, ''],
    [{ tags: { $mod: [5, 0] } }, ''],
    [{ 'tags.0': 'a' }, '1'],
    [{ tags: ['a', 'b'] }, '1'],
    [{ tags: { $in: ['a'] } }, '12'],
    [{ tags: { $in: [['a']] } }, '5'],
    [{ tags: { $in: [['a', 'b']] } }, ''],
    [{ tags: { $nin: ['a'] } }, '356789'],
    [{ tags: { $all: ['a', 'b'] } }, '1'],
    [{ tags: { $all: [['a', 'b']] } }, '1'],
    [{ tags: { $elemMatch: { $gt: 5 } } }, '1568'],
    [{ tags: { $elemMatch: {} } }, ''],
    [{ tags: { $allMatch: {} } }, ''],
    [{ tags: { $size: 2 } }, '168'],
    [{ $and: [] }, ''],
    [{ $or: [] }, ''],
    [{ tags: 'a', $or: [] }, '2'],
    [{ tags: 'a', $and: [] }, '2'],
  ]
  test.each(cases)('%j, without an index, with one, and in the feed', async (selector, ids) => {
    const query = { selector, fields: ['_id'] }
    expect((await found(url, query)).join('')).toBe(ids)
    const { results } = (await post(url, '_changes?filter=_selector', { selector })) as unknown as {
      results: { id: string }[]
    }
    expect(
      results
        .map(({ id }) => id)
        .sort()
        .join(''),
    ).toBe(ids)
    await post(url, '_index', { index: { fields: ['tags'] }, ddoc: 'by', name: 'tags' })
    expect((await found(url, query)).sort().join('')).toBe(ids)
    expect((await send(url, 'DELETE /_index/by/json/tags')).status).toBe(200)
  })
})

describe('the order of rows', () => {
  const letters = ['zelda', 'mario', 'link', 'B', 'a', '10', '9'].map((_id, n) => ({ _id, n: n % 2, text: 'x' }))

  test('without a sort and an index it is that of ids, whatever was written last', async () => {
    const url = await database(letters)
    const all = ['10', '9', 'B', 'a', 'link', 'mario', 'zelda']
    expect(await found(url, { selector: { text: 'x' } })).toEqual(all)
    expect(await found(url, { selector: { n: { $gte: 0 } }, limit: 2 })).toEqual(['10', '9'])
    const { json } = await send(url, 'GET /9')
    await post(url, '_bulk_docs', { docs: [{ ...json, text: 'x', more: 1 }] })
    expect(await found(url, { selector: { text: 'x' } })).toEqual(all)
  })

  test('with an index it is that of its fields, then of ids; few documents or many', async () => {
    const url = await database([
      { _id: 'y', n: 1 },
      { _id: 'x', n: 2 },
      { _id: 'z', n: 3 },
      { _id: 'w', n: 2 },
    ])
    await post(url, '_index', { index: { fields: ['n'] } })
    const query = { selector: { n: { $gt: 0 } } }
    expect(await found(url, query)).toEqual(['y', 'w', 'x', 'z'])
    expect(await found(url, { ...query, sort: [{ n: 'desc' }] })).toEqual(['z', 'x', 'w', 'y'])
    const others = Array.from({ length: 3000 }, (_, at) => ({ _id: `other ${at}` }))
    await post(url, '_bulk_docs', { docs: others })
    expect(await found(url, query)).toEqual(['y', 'w', 'x', 'z'])
    expect(await found(url, { selector: { _id: { $gt: 'w' } } })).toEqual(['x', 'y', 'z'])
  })

  test('pages neither repeat nor leave out a row, also when documents change between them', async () => {
    const docs = Array.from({ length: 40 }, (_, at) => ({ _id: `d${(at * 17) % 40}`, n: at % 3 }))
    const url = await database(docs)
    await post(url, '_index', { index: { fields: ['n'] } })
    const seen: string[] = []
    for (let bookmark: unknown = null; ;) {
      const page = await post(url, '_find', { selector: { n: { $gte: 0 } }, limit: 7, bookmark })
      if (page.docs!.length === 0) {
        expect(page['bookmark']).toBe(bookmark)
        break
      }
      seen.push(...page.docs!.map(({ _id }) => _id))
      bookmark = page['bookmark']
      const [first] = page.docs as readonly [{ _id: string }]
      await post(url, '_bulk_docs', { docs: [{ ...first, edited: true }] })
    }
    expect(seen).toHaveLength(40)
    expect(new Set(seen).size).toBe(40)
  })
})

describe('use_index', () => {
  test('null is no key; a partial index restricts the answer; an index that does not fit is an error', async () => {
    const url = await database([
      { _id: '1', type: 'x', foo: 1 },
      { _id: '2', type: 'y', foo: 2 },
    ])
    const index = { fields: ['foo'], partial_filter_selector: { type: 'x' } }
    await post(url, '_index', { index, ddoc: 'pd', name: 'pi' })
    const selector = { foo: { $gt: 0 } }
    expect(await found(url, { selector, use_index: null })).toEqual(['1', '2'])
    for (const use_index of ['pd', '_design/pd', 'pd/pi', ['pd', 'pi'], ['_design/pd', 'pi']])
      expect(await found(url, { selector, use_index })).toEqual(['1'])
    expect(await found(url, { selector, use_index: [] })).toEqual(['1', '2'])
    const other = await post(url, '_find', { selector: { type: 'x' }, use_index: ['pd', 'pi'] })
    expect(other['warning']).toContain('_design/pd, pi was not used because it is not a valid index for this query.')
    const explained = await post(url, '_explain', { selector, use_index: 'pd' })
    expect(explained['index']).toMatchObject({ ddoc: '_design/pd', name: 'pi', type: 'json' })
    const refused = await post(url, '_find', { selector: { type: 'x' }, allow_fallback: false })
    expect([refused.status, refused['error']]).toEqual([400, 'no_usable_index'])
    expect(await found(url, { selector, use_index: 'pd', allow_fallback: false })).toEqual(['1'])
  })

  test('the index that CouchDB would take gives the order', async () => {
    const url = await database([
      { _id: 'a', n: 1, m: 3 },
      { _id: 'b', n: 1, m: 1 },
      { _id: 'c', n: 1, m: 2 },
    ])
    await post(url, '_index', { index: { fields: ['n', 'm'] }, ddoc: 'nm' })
    const indexOf = async (query: object): Promise<unknown> =>
      ((await post(url, '_explain', query))['index'] as { ddoc: unknown }).ddoc
    const both = { n: 1, m: { $gt: 0 } }
    expect([await indexOf({ selector: { n: 1 } }), await indexOf({ selector: both })]).toEqual([null, '_design/nm'])
    expect(await found(url, { selector: { n: 1 } })).toEqual(['a', 'b', 'c'])
    expect(await found(url, { selector: both })).toEqual(['b', 'c', 'a'])
    expect(await indexOf({ selector: { n: 1 }, sort: ['m'] })).toBe('_design/nm')
    expect(await indexOf({ selector: { n: 1, m: { $exists: false } } })).toBe(null)
    expect(await indexOf({ selector: { $or: [both, { n: 2, m: 1 }] } })).toBe('_design/nm')
    expect(await indexOf({ selector: { $or: [both, { n: 2 }] } })).toBe(null)
  })
})

describe('requests that are refused, in the words of CouchDB', () => {
  let url: string
  beforeAll(async () => {
    url = await database([{ _id: '1', $foobar: 'a', n: 1 }])
  })

  const selector = { n: 1 }
  test.each<[body: object, error: string]>([
    [{ selector: { n: { $no: 1 } } }, 'invalid_operator'],
    [{ selector: { n: { $beginsWith: 1 } } }, 'invalid_operator'],
    [{ selector: { n: { $in: 1 } } }, 'bad_arg'],
    [{ selector: { $or: [{ n: { $exists: 'x' } }] } }, 'bad_arg'],
    [{ selector, limit: null }, 'invalid_non_neg_integer'],
    [{ selector, skip: -3 }, 'invalid_non_neg_integer'],
    [{ selector, r: 'x' }, 'invalid_non_neg_integer'],
    [{ selector, conflicts: 'x' }, 'invalid_boolean'],
    [{ selector, use_index: 'a/b/c' }, 'invalid_index_name'],
    [{ selector, sort: [1] }, 'invalid_sort_json'],
    [{ selector, colour: 1 }, 'invalid_key'],
  ])('%j', async (body, error) => {
    const answer = await post(url, '_find', body)
    expect([answer.status, answer['error']]).toEqual([400, error])
  })

  test.each<[body: object, error: string]>([
    [{ index: { fields: ['_rev'] } }, 'invalid_index_field'],
    [{ index: { fields: [''] } }, 'invalid_index_field'],
    [{ index: { fields: ['n'], selector: { n: 1 } } }, 'invalid_key'],
    [{ index: { fields: ['n'], partial_filter_selector: { n: { $no: 1 } } } }, 'invalid_operator'],
    [{}, 'missing_required_key'],
  ])('an index %j', async (body, error) => {
    const answer = await post(url, '_index', body)
    expect([answer.status, answer['error']]).toEqual([400, error])
  })

  test('a field whose name begins with a dollar sign', async () => {
    expect(await found(url, { selector: { '\\$foobar': 'a' } })).toEqual(['1'])
    expect(await found(url, { selector: { '\\$foobar': 'b' } })).toEqual([])
  })
})

describe('indexes', () => {
  test('those of other names are others; pages of the list; addresses that are none', async () => {
    const url = await database([{ _id: '1', n: 1 }])
    const ids: unknown[] = []
    for (const name of ['one', 'two', 'two']) {
      const answer = await post(url, '_index', { index: { fields: ['n'] }, name })
      ids.push(answer['id'], answer['result'])
    }
    expect([ids[1], ids[3], ids[5]]).toEqual(['created', 'created', 'exists'])
    expect([ids[0] === ids[2], ids[2] === ids[4]]).toEqual([false, true])
    await post(url, '_index', { index: { fields: ['n', 'n'] }, ddoc: 'twice' })
    const names = async (path: string): Promise<unknown[]> => {
      const { json } = await send(url, `GET /_index${path}`)
      expect(json['total_rows']).toBe(4)
      return (json['indexes'] as { name: string }[]).map(({ name }) => name)
    }
    expect(await names('?limit=1')).toEqual(['_all_docs'])
    expect(await names('?skip=1')).toHaveLength(3)
    expect((await send(url, 'GET /_index?limit=x')).status).toBe(400)
    expect((await send(url, 'DELETE /_index/dd/not_json/x')).status).toBe(404)
    expect((await send(url, 'GET /_index/a')).status).toBe(404)
    expect(await running.server.database.collection(`mango${made}`).indexes()).toHaveLength(3)
  })
})

test('an index does not give an order whose fields have different directions', async () => {
  const url = await database([1, 2, 3].map((n) => ({ _id: String(n), a: n % 2, b: n })))
  await post(url, '_index', { index: { fields: ['a', 'b'] } })
  const sort = (...directions: readonly string[]): object => ({
    selector: { a: { $gte: 0 }, b: { $gte: 0 } },
    sort: [{ a: directions[0] }, { b: directions[1] }],
  })
  expect((await post(url, '_find', sort('desc', 'desc'))).docs!.map(({ _id }) => _id)).toEqual(['3', '1', '2'])
  expect((await post(url, '_find', sort('asc', 'desc'))).docs!.map(({ _id }) => _id)).toEqual(['2', '3', '1'])
  const { index } = (await post(url, '_explain', sort('asc', 'desc'))) as unknown as { index: { type: string } }
  expect(index.type).toBe('special')
})

test('strings are in the order of ICU: ranges, equality, and rows, with an index and without', async () => {
  const names = ['bar', 'baz', 'Äpfel', 'apfel', 'Zoo', 'apple', 'a\u0308', 'ä']
  const url = await database(names.map((name, at) => ({ _id: String(at), name })))
  const namesOf = async (query: object): Promise<unknown[]> =>
    (await post(url, '_find', query)).docs!.map((document) => (document as unknown as { name: string }).name)
  const range = { selector: { name: { $gte: 'a', $lt: 'b' } } }
  expect(new Set(await namesOf(range))).toEqual(new Set(['a\u0308', 'Äpfel', 'apfel', 'apple', 'ä']))
  expect(await namesOf({ selector: { name: 'ä' } })).toEqual(['a\u0308', 'ä'])
  expect(await namesOf({ selector: { name: { $beginsWith: 'a' } } })).toEqual(['apfel', 'apple', 'a\u0308'])
  const sorted = ['a\u0308', 'ä', 'apfel', 'Äpfel', 'apple', 'bar', 'baz', 'Zoo']
  expect(await namesOf({ selector: {}, sort: ['name'] })).toEqual(sorted)
  await post(url, '_index', { index: { fields: ['name'] } })
  expect(await namesOf({ selector: { name: { $gt: null } } })).toEqual(sorted)
  expect(await namesOf({ ...range, sort: [{ name: 'desc' }] })).toEqual(sorted.slice(0, 5).toReversed())
  expect(await namesOf({ selector: { name: 'ä' } })).toEqual(['a\u0308', 'ä'])
  const { results } = (await post(url, '_changes?filter=_selector', range)) as unknown as { results: unknown[] }
  expect(results).toHaveLength(5)
})
