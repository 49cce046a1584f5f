/**
 * Goal: `search()` finds the records that have the words, wherever a rule or a filter stands, and asks the index. Method: random
 * texts, rules and filters; the model reads each record, and finds words on its own.
 */
import { afterEach, expect, test } from 'vitest'
import { bind, evaluate, parse } from '@pannier/rules'
import { recordsName } from '../../../src/definitions/definition.ts'
import { ruleRecord, ruleRecords } from '../../../src/access/rule-records.ts'
import type { JsonObject } from '../../../src/gateway/documents.ts'
import { seedsOf } from '../../../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../../../db/testing/random.ts'
import { account, ADMIN, NOBODY, openWorld, refusal, type World } from '../world.ts'

const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const title = { type: 'text', name: 'title', searchable: true }
const body = { type: 'editor', name: 'body', searchable: true }
const POSTS = {
  id: 'pbc_posts',
  name: 'posts',
  ...PUBLIC,
  fields: [
    title,
    body,
    { type: 'select', name: 'tags', values: ['Red', 'blue sky', 'grün'], maxSelect: 3, searchable: true },
    { type: 'text', name: 'note' },
    { type: 'number', name: 'votes' },
    { type: 'relation', name: 'parent', collectionId: 'pbc_posts', maxSelect: 1 },
  ],
}

const opened: World[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function world(...collections: readonly JsonObject[]): Promise<World> {
  const made = await openWorld(collections)
  opened.push(made)
  return made
}

/** In these, spaces and symbols are between words. */
const WORDS = [
  'red',
  'Red',
  'reds',
  'blue',
  'sky',
  'Über',
  'uber',
  'grün',
  'été',
  'ΑΒΓ',
  'αβγδ',
  'Мир',
  'мира',
  'x1',
  '42',
]

function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

function isFound(search: string, record: JsonObject): boolean {
  const texts = [record['title'], record['body'], record['tags']].flat().map((text) => wordsOf((text ?? '') as string))
  const terms = search.match(/"[^"]*"|[^\s"]+/g) ?? []
  if (terms.flatMap(wordsOf).length === 0) return false
  return terms.every((term) => {
    const phrase = wordsOf(term)
    if (phrase.length === 0) return true
    if (term.startsWith('"')) return texts.some((words) => ` ${words.join(' ')} `.includes(` ${phrase.join(' ')} `))
    return texts.flat().some((word) => (term.endsWith('*') ? word.startsWith(phrase[0]!) : word === phrase[0]))
  })
}

const some = (random: Random, most: number): string[] =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(WORDS))

function randomSearch(random: Random): string {
  const kind = random.below(6)
  if (kind === 0) return random.pick(['', '-', '""', '*'])
  if (kind === 1) return `"${some(random, 3).join(' ')}" ${some(random, 1).join(' ')}`
  if (kind === 2) return `${random.pick(WORDS).slice(0, 1 + random.below(3))}* ${some(random, 1).join(' ')}`
  return [random.pick(WORDS), ...some(random, 1)].join(' ')
}

interface Asked {
  readonly written: string
  readonly holds: (record: JsonObject, all: Readonly<Record<string, JsonObject>>) => boolean
}

/** A list rule applies to parents that a guest filters by, too: such a filter has none. */
function randomAsked(random: Random, withParents: boolean, depth = 3): Asked {
  const kind = depth === 0 ? random.below(4) : random.below(7)
  if (kind < 3) {
    const words = randomSearch(random)
    const isWanted = random.chance(0.7)
    const written = `search('${words}')${isWanted ? random.pick(['', ' = true', ' != false']) : ' = false'}`
    return { written, holds: (record) => isFound(words, record) === isWanted }
  }
  if (kind === 3) {
    const votes = random.below(5)
    return !withParents || random.chance(0.5)
      ? { written: `votes >= ${votes}`, holds: (record) => (record['votes'] as number) >= votes }
      : { written: `parent.votes = ${votes}`, holds: ({ parent }, all) => all[parent as string]?.['votes'] === votes }
  }
  const of = [0, 1].map(() => randomAsked(random, withParents, depth - 1))
  const isAll = random.chance(0.5)
  return {
    written: `(${of.map(({ written }) => written).join(isAll ? ' && ' : ' || ')})`,
    holds: (record, all) => of[isAll ? 'every' : 'some'](({ holds }) => holds(record, all)),
  }
}

async function fill({ writes }: World, random: Random, count: number): Promise<void> {
  const ids = ['']
  for (let at = 0; at < count; at++) {
    const made = await writes.create(ADMIN, 'posts', {
      title: some(random, 4).join(random.pick([' ', ', ', ' - '])),
      body: some(random, 6).join(random.pick([' ', '\n', ' / '])),
      tags: ['Red', 'blue sky', 'grün'].filter(() => random.chance(0.2)),
      note: random.pick(WORDS),
      votes: random.below(5),
      parent: random.pick(ids),
    })
    ids.push(made['id'] as string)
  }
}

for (const seed of seedsOf('model'))
  test(`lists by random searches have what the model finds, seed ${seed}`, async () => {
    const random = seededRandom(seed)
    const made = await world({ ...POSTS, fields: POSTS.fields.filter(({ name }) => name !== 'parent') })
    await made.definitions.update(ADMIN.principal, 'posts', {
      fields: [...made.definitions.get('posts').fields, POSTS.fields.at(-1)],
    })
    await fill(made, random, 60)
    let partly = 0
    for (let round = 0; round < 60; round++) {
      const ruled = round % 10 < 3
      const [rule, filter] = [randomAsked(random, true), randomAsked(random, !ruled)]
      if (ruled) {
        await made.definitions.update(ADMIN.principal, 'posts', { listRule: rule.written, viewRule: rule.written })
        const [id] = Object.keys(await made.stored('posts'))
        await made.writes.update(ADMIN, 'posts', id!, { title: some(random, 4).join(' ') })
      }
      const stored = await made.stored('posts')
      const all = Object.values(stored)
      const expected = all.filter((record) => (!ruled || rule.holds(record, stored)) && filter.holds(record, stored))
      const options = { filter: filter.written, sort: '-votes,id', perPage: 100 }
      const { items, totalItems } = await made.reads.list(ruled ? NOBODY : ADMIN, 'posts', options)
      const votes = (record: JsonObject): number => record['votes'] as number
      const ids = expected
        .toSorted((one, other) => votes(other) - votes(one) || (String(one['_id']) < String(other['_id']) ? -1 : 1))
        .map(({ _id }) => _id)
      const what = [seed, ruled && rule.written, filter.written]
      expect([what, totalItems, items.map(({ id }) => id)]).toEqual([what, ids.length, ids])
      if (ids.length > 0 && ids.length < all.length) partly++
      const [one] = all
      const seen = ruled ? rule.holds(one!, stored) : true
      const viewed = await refusal(made.reads.view(ruled ? NOBODY : ADMIN, 'posts', one!['_id'] as string))
      expect([what, viewed]).toEqual([what, seen ? undefined : ['NOT_FOUND', '']])
    }
    expect(partly).toBeGreaterThan(10)
  })

test('the evaluator finds what the index finds, in languages without spaces too', async () => {
  const made = await world({ ...POSTS, fields: [title, body] })
  const texts = [
    '東京都に住んでいます',
    'ภาษาไทยง่ายมาก',
    '我们在北京学习中文',
    'Ꞌa co-operate, isn’t it? 3.14 a_b',
    'ﬁne ½ Ⅷ',
    '👩‍🚀x',
  ]
  for (const text of texts) await made.writes.create(ADMIN, 'posts', { title: text, body: `<p>${text}</p>` })
  const { definitions } = made
  const reader = { get: () => undefined, via: () => [], all: () => [] }
  const records = ruleRecords(definitions, reader, () => [])
  const searches = [
    '東京',
    '住ん',
    'ไทย',
    '北京',
    '学习 我们',
    'co',
    'operate',
    'isn’t',
    'isn*',
    '3.14',
    'fi*',
    'fine',
    'p',
    'x',
    'viii',
  ]
  let found = 0
  for (const words of searches) {
    const rule = parse(`search('${words}')`)
    const bound = bind({ now: new Date(0), schema: definitions.schema, collection: 'posts', rule })
    const ids = Object.values(await made.stored('posts'))
      .filter((record) => evaluate(bound, ruleRecord(record), records))
      .map(({ _id }) => _id as string)
    const { items } = await made.reads.list(ADMIN, 'posts', { filter: `search('${words}')`, sort: 'id' })
    expect([words, items.map(({ id }) => id)]).toEqual([words, ids.sort()])
    found += ids.length
  }
  expect(found).toBeGreaterThan(10)
})

test('the index answers, and a phrase reads what the index finds', async () => {
  const made = await world({ ...POSTS, fields: [title, body] })
  for (let at = 0; at < 300; at++)
    await made.writes.create(ADMIN, 'posts', { title: `number ${at}`, body: at % 100 === 0 ? 'a rare word' : 'often' })
  const stepsOf = async (filter: string): Promise<string> => {
    const { isExact, plan } = await made.reads.explain(ADMIN, 'posts', { filter })
    expect(isExact).toBe(true)
    return JSON.stringify(plan.plan)
  }
  const plan = await stepsOf("search('rare')")
  expect(plan).toContain('"searches":["rare"]')
  expect(plan).toContain('"rows":3')
  expect(plan).not.toContain('full scan')
  for (const filter of [
    "search('rare word') && title = 'number 100'",
    `search('"rare word"')`,
    "search('often') = false",
  ])
    expect(await stepsOf(filter)).not.toContain('full scan')
  expect((await made.reads.list(ADMIN, 'posts', { filter: `search('"a rare"')`, perPage: 1 })).totalItems).toBe(3)
})

test('the index follows the definition, and no search is wrong while it changes', async () => {
  const made = await world({ ...POSTS, fields: [title, { ...body, searchable: false }] })
  for (let at = 0; at < 50; at++) await made.writes.create(ADMIN, 'posts', { title: `t${at}`, body: 'hidden words' })
  const posts = made.database.collection(recordsName(made.definitions.get('posts')))
  const textIndexes = async (): Promise<unknown> =>
    (await posts.indexes()).filter(({ text }) => text !== undefined).map(({ fields }) => fields.map(({ path }) => path))
  const total = async (words: string): Promise<number> =>
    (await made.reads.list(ADMIN, 'posts', { filter: `search('${words}')` })).totalItems
  const change = async (fields: readonly object[]): Promise<readonly number[]> => {
    const old = made.definitions.get('posts').fields
    const idOf = (name: string): string | undefined => old.find((field) => field.name === name)?.id
    const given = fields.map((field) => ({
      id: idOf((field as { was?: string }).was ?? (field as { name: string }).name),
      ...field,
    }))
    let isOver = false
    let hasAsked = false
    const counts: number[] = []
    const asking = (async () => {
      while (!isOver) {
        counts.push(await total('hidden'))
        await new Promise(setImmediate)
      }
      hasAsked = true
    })()
    await made.definitions.update(ADMIN.principal, 'posts', {
      fields: [old.find(({ name }) => name === 'id')!, ...given],
    })
    isOver = true
    // A list that met the change waits a moment before it reads again.
    await made.environment.until(() => hasAsked)
    await asking
    return counts
  }
  expect(await textIndexes()).toEqual([['title']])
  expect([await total('t7'), await total('hidden')]).toEqual([1, 0])
  for (const [fields, paths, before, after] of [
    [[title, body], [['title', 'body']], 0, 50],
    [[title, { ...body, name: 'text', was: 'body' }], [['title', 'text']], 50, 50],
    [[title, { ...body, name: 'text', searchable: false, hidden: true }], [['title']], 50, 0],
  ] as const) {
    const counts = await change(fields)
    expect(await textIndexes()).toEqual(paths)
    expect(counts.filter((count) => count !== before && count !== after)).toEqual([])
    expect([await total('hidden'), await total('t7')]).toEqual([after, 1])
  }
  const fields = made.definitions.get('posts').fields.map(({ searchable: _, ...field }) => field)
  await made.definitions.update(ADMIN.principal, 'posts', { fields })
  expect(await textIndexes()).toEqual([])
  expect(await refusal(total('t7'))).toEqual(['INVALID', '"posts" has no searchable fields.'])
})

test('rules of writes find words: in the record that is made, and in the stored one', async () => {
  const searched = "search('open')"
  const made = await world({
    ...POSTS,
    createRule: searched,
    updateRule: searched,
    deleteRule: searched,
    fields: [title],
  })
  const guest = account('pbc_x', { _id: 'x' })
  expect(await refusal(made.writes.create(guest, 'posts', { title: 'closed' }))).toBeDefined()
  const { id } = await made.writes.create(guest, 'posts', { title: 'Open door' })
  await made.writes.update(guest, 'posts', id as string, { title: 'closed' })
  expect(await refusal(made.writes.update(guest, 'posts', id as string, { title: 'open' }))).toBeDefined()
  expect(await refusal(made.writes.delete(guest, 'posts', id as string))).toBeDefined()
  await made.writes.update(ADMIN, 'posts', id as string, { title: 'open' })
  await made.writes.delete(guest, 'posts', id as string)
})

test('what a search would tell can not be searchable, nor what has no words', async () => {
  const made = await world()
  const wrong = async (field: JsonObject, type = 'base'): Promise<void> => {
    const collection = { name: 'wrong', type, fields: [field] }
    expect(await refusal(made.definitions.create(ADMIN.principal, collection))).toEqual([
      'INVALID',
      'Failed to create collection.',
      { fields: { 1: { searchable: 'validation_searchable' } } },
    ])
  }
  await wrong({ ...title, hidden: true })
  await wrong({ ...title, viewRule: null })
  await wrong({ ...title, viewRule: 'id != ""' })
  for (const type of ['number', 'json', 'date', 'bool', 'file', 'geoPoint'])
    await wrong({ type, name: 'x', searchable: true })
  await wrong({ type: 'email', name: 'email', system: true, required: true, searchable: true }, 'auth')
  expect(
    await refusal(made.definitions.create(ADMIN.principal, { name: 'x', fields: [{ ...title, searchable: 'yes' }] })),
  ).toBeDefined()
  expect(
    await refusal(made.definitions.create(ADMIN.principal, { name: 'x', listRule: "search('a')", fields: [] })),
  ).toEqual(['INVALID', 'Failed to create collection.', { listRule: 'validation_invalid_rule' }])
})

test('a definition without it has no new key, and a view has none', async () => {
  const made = await world({ ...POSTS, fields: [title, { ...body, searchable: false }] })
  const [, first, second] = made.definitions.get('posts').fields
  expect(first).toHaveProperty('searchable', true)
  expect(second).not.toHaveProperty('searchable')
  const viewQuery = 'SELECT id, title FROM posts'
  await made.definitions.create(ADMIN.principal, { name: 'titles', type: 'view', listRule: '', viewQuery })
  expect(made.definitions.get('titles').fields.some((field) => 'searchable' in field)).toBe(false)
  expect(await refusal(made.reads.list(ADMIN, 'titles', { filter: "search('a')" }))).toEqual([
    'INVALID',
    '"titles" has no searchable fields.',
  ])
})

test("a list rule that searches admits records on the way of others' filters", async () => {
  const made = await world(
    { ...POSTS, listRule: "search('public')", fields: [title] },
    {
      id: 'pbc_notes',
      name: 'notes',
      ...PUBLIC,
      fields: [{ type: 'relation', name: 'post', collectionId: 'pbc_posts', maxSelect: 1 }],
    },
  )
  for (const text of ['public a', 'secret a']) {
    const { id } = await made.writes.create(ADMIN, 'posts', { title: text })
    await made.writes.create(ADMIN, 'notes', { post: id })
  }
  const filter = "post.title ~ 'a'"
  expect((await made.reads.list(NOBODY, 'notes', { filter })).totalItems).toBe(1)
  expect((await made.reads.list(ADMIN, 'notes', { filter })).totalItems).toBe(2)
})
