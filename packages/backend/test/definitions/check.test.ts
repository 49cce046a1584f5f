/** Goal: a change can be tried. It says what would be lost, and what would no longer be right. Nothing changes. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { Definitions } from '../../src/definitions/definitions.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'

const TITLE = { id: 'ft', type: 'text', name: 'title' }
const TAGS = { id: 'fg', type: 'select', name: 'tags', values: ['x', 'y', 'z'], maxSelect: 3 }
const NOTE = { id: 'fn', type: 'text', name: 'note' }

async function filled(): Promise<{ definitions: Definitions; close(): Promise<void> }> {
  const database = await open('check', { storage: memory() })
  const definitions = await Definitions.open(database)
  const posts = await definitions.create(SYSTEM, { name: 'posts', fields: [TITLE, TAGS, NOTE] })
  await definitions.records(posts).insert([
    { _id: 'one', title: 'a long title', tags: ['x', 'y'], note: '' },
    { _id: 'two', title: 'b', tags: ['z'], note: 'here' },
    { _id: 'three', title: 'b', tags: [], note: '' },
  ])
  return { definitions, close: () => database.close() }
}

test('what is lost, what is too long, what is there twice', async () => {
  const { definitions, close } = await filled()
  const before = definitions.get('posts')
  const misfits = await definitions.check(SYSTEM, 'posts', {
    fields: [
      { ...TITLE, name: 'name', max: 5 },
      { ...TAGS, maxSelect: 1, values: ['x', 'y'], required: true },
    ],
    indexes: ['CREATE UNIQUE INDEX posts_name ON posts (name)'],
  })
  expect(misfits.map(({ field, error, count, ids }) => [field, error.code, count, ids])).toEqual([
    ['tags', 'change_loses_value', 1, ['one']],
    ['name', 'validation_max_text_constraint', 1, ['one']],
    ['note', 'change_loses_value', 1, ['two']],
    ['tags', 'validation_invalid_value', 1, ['two']],
    ['tags', 'validation_required', 1, ['three']],
    ['name', 'validation_not_unique', 1, ['three']],
  ])
  expect(definitions.get('posts')).toBe(before)
  expect(await definitions.check(SYSTEM, 'posts', { listRule: '' })).toEqual([])
  await close()
})

test('what an update refuses is refused', async () => {
  const { definitions, close } = await filled()
  const wrong = { fields: [{ ...TITLE, type: 'number' }] }
  const refused = { code: 'INVALID', data: { fields: { 1: { code: 'validation_field_type_change' } } } }
  await expect(definitions.check(SYSTEM, 'posts', wrong)).rejects.toMatchObject(refused)
  await expect(definitions.check(SYSTEM, 'nope', {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(definitions.check(GUEST, 'posts', {})).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  await close()
})
