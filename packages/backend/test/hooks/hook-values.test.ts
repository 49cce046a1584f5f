/** What code gives to fields: JavaScript's values are stored, or refused with the name of the field. No value is taken for empty. */
import { expect, test } from 'vitest'
import type { HookHandler } from '../../src/hooks/hooks.ts'
import type { HookEvents } from '../../src/hooks/hook-events.ts'
import { NOBODY, openWorld, upload } from '../records/world.ts'

const TYPES = [
  'text',
  'editor',
  'email',
  'url',
  'number',
  'bool',
  'date',
  'json',
  'geoPoint',
  'file',
  'select',
  'relation',
]
const BEFORE: Readonly<Record<string, unknown>> = {
  text: 'a',
  editor: 'a',
  email: 'a@b.co',
  url: 'https://a.co',
  number: 5,
  bool: true,
  date: '2020-01-01 00:00:00.000Z',
  json: { a: 1 },
  geoPoint: { lon: 1, lat: 2 },
  select: ['a'],
  relation: [],
}
const FIELDS = TYPES.map((type) => ({
  name: type,
  type,
  ...(type === 'select' && { values: ['a', 'b'], maxSelect: 2 }),
  ...(type === 'relation' && { collectionId: 'pbc_notes', maxSelect: 2 }),
  ...(type === 'file' && { maxSelect: 3 }),
}))
const COLLECTIONS = [
  { id: 'pbc_notes', name: 'notes', type: 'base', fields: [] },
  { name: 'all', type: 'base', createRule: '', updateRule: '', fields: FIELDS },
]

const PLAIN = class Point {
  x = 1
}
const TIME = new Date('2026-05-06T07:08:09Z')
/** Each as it is stored in a field, by its type; a field that is not named refuses it. */
const VALUES: Readonly<Record<string, readonly [value: unknown, stored: Readonly<Record<string, unknown>>]>> = {
  Date: [
    TIME,
    {
      text: '2026-05-06 07:08:09.000Z',
      editor: '2026-05-06 07:08:09.000Z',
      date: '2026-05-06 07:08:09.000Z',
      json: '2026-05-06T07:08:09.000Z',
    },
  ],
  'invalid Date': [new Date(NaN), {}],
  Map: [new Map([['a', 1]]), { json: { a: 1 } }],
  Set: [new Set(['a', 'b']), { json: ['a', 'b'], select: ['a', 'b'] }],
  instance: [new PLAIN(), { json: { x: 1 } }],
  'nested Date': [{ at: [TIME] }, { json: { at: ['2026-05-06T07:08:09.000Z'] } }],
  'nested NaN': [{ n: NaN }, {}],
  NaN: [NaN, {}],
  Infinity: [Infinity, {}],
  function: [() => 1, {}],
  'nested function': [{ f: () => 1 }, {}],
  symbol: [Symbol('a'), {}],
  undefined: [undefined, {}],
  bigint: [12n, { text: '12', editor: '12', number: 12 }],
  URL: [
    new URL('https://a.co/b'),
    { text: 'https://a.co/b', editor: 'https://a.co/b', url: 'https://a.co/b', json: 'https://a.co/b' },
  ],
  promise: [Promise.resolve(1), {}],
}
/** These are refused when the record is written: they are texts that the field checks. */
const CHECKED = new Set([
  'bigint email',
  'bigint url',
  'bigint select',
  'bigint relation',
  'URL email',
  'URL select',
  'URL relation',
  'Date email',
  'Date url',
  'Date select',
  'Date relation',
  'Set relation',
  'Set file',
])

test.each(Object.entries(VALUES))(
  '%s is stored, or refused with the name of the field',
  async (name, [value, stored]) => {
    const world = await openWorld(COLLECTIONS)
    for (const type of TYPES) {
      const record = world.app.newRecord('all', BEFORE)
      if (Object.hasOwn(stored, type)) {
        record.set(type, value)
        await world.app.save(record)
        expect([type, (await world.stored('all'))[record.id]![type]]).toEqual([type, stored[type]])
      } else if (CHECKED.has(`${name} ${type}`)) {
        record.set(type, value)
        await expect(world.app.save(record)).rejects.toThrow('Failed to create record.')
      } else expect(() => record.set(type, value)).toThrow(new RegExp(`^set\\(\\): ${type}[.\\w]* must be `))
    }
    await world.close()
  },
)

test('a date field refuses a text that is no date, and null clears it', async () => {
  const world = await openWorld(COLLECTIONS)
  const record = world.app.newRecord('all', BEFORE)
  expect(() => record.set('date', 'tomorrow')).toThrow(
    "set(): date must be a Date, or a text such as 2026-05-06 07:08:09Z, got 'tomorrow'",
  )
  expect(() => record.set('date', 1_700_000_000_000)).toThrow('set(): date must be')
  expect(record.get('date')).toBe(BEFORE['date'])
  record.set('date', null)
  expect(record.get('date')).toBe('')
  await world.close()
})

test('modifiers take and refuse the same', async () => {
  const world = await openWorld(COLLECTIONS)
  const note = world.app.newRecord('notes')
  await world.app.save(note)
  const record = world.app.newRecord('all', BEFORE)
  record.set('number+', 2n)
  record.set('select+', new Set(['b']))
  record.set('relation+', note)
  expect([record.get('number'), record.get('select'), record.get('relation')]).toEqual([7, ['a', 'b'], [note.id]])
  for (const key of ['number+', 'number-', 'select+', 'relation-', 'file+'])
    expect(() => record.set(key, new Map())).toThrow(`set(): ${key} must be`)
  await world.close()
})

test('files of every kind are stored with their content, their type and a name', async () => {
  const world = await openWorld(COLLECTIONS)
  const file = new File(['one'], 'My One.txt')
  const blob = new Blob(['two'])
  const bytes = new Uint8Array(Buffer.from('three'))
  const record = world.app.newRecord('all', { file: [file, blob, bytes] })
  const names = record.get('file') as string[]
  expect(names).toEqual([
    expect.stringMatching(/^my_one_\w{10}\.txt$/),
    expect.stringMatching(/^file_/),
    expect.stringMatching(/^file_/),
  ])
  await world.app.save(record)
  const { file: stored, _attachments: attachments } = (await world.stored('all'))[record.id]!
  expect(stored).toEqual(names)
  expect(Object.keys(attachments as object).sort()).toEqual(names.toSorted())
  record.set('file', upload('four.txt', 'four'))
  await world.app.save(record)
  expect((await world.stored('all'))[record.id]!['file']).toEqual([expect.stringMatching(/^four_\w{10}\.txt$/)])
  await world.close()
})

test('the types that a field wants are asked of the content of a file that a hook gives', async () => {
  const picture = { name: 'picture', type: 'file', mimeTypes: ['image/png'] }
  const world = await openWorld([{ name: 'pictures', type: 'base', fields: [picture] }])
  const record = world.app.newRecord('pictures', { picture: new File(['no picture'], 'a.png') })
  await expect(world.app.save(record)).rejects.toMatchObject({
    data: { picture: { code: 'validation_invalid_mime_type' } },
  })
  await world.close()
})

test('what a hook saves after the write is what the request is answered with', async () => {
  const world = await openWorld(COLLECTIONS)
  const handler: HookHandler<HookEvents['onRecordAfterCreateSuccess']> = async (e) => {
    if (e.record.get('number') !== 7) {
      e.record.set('number', 7)
      await e.app.save(e.record)
    }
    await e.next()
  }
  world.hooks.replace([{ name: 'onRecordAfterCreateSuccess', handler, tags: [], source: 'hooks/test.ts:1' }])
  const made = await world.writes.create(NOBODY, 'all', { text: 'a' })
  expect(made['number']).toBe(7)
  await world.close()
})

test('a filter names the parameter that it has not, and takes no value that it can not write', async () => {
  const world = await openWorld(COLLECTIONS)
  await expect(world.app.findRecordsByFilter('all', 'text = {:missing}')).rejects.toThrow(
    "The filter 'text = {:missing}' has {:missing}, and the parameters have no missing.",
  )
  for (const value of [NaN, new Map(), new Date(NaN), () => 1])
    await expect(world.app.countRecords('all', 'text = {:a}', { a: value as never })).rejects.toThrow(
      /value of a filter/,
    )
  await world.close()
})
