/** Goal: statements of indexes, differences of definitions and the places of a diagram are right, whatever the definitions are. */
import { expect, test } from 'vitest'
import type { Collection, NewField } from '../src/api/collections.ts'
import { changesBetween } from '../src/views/definition/changes.ts'
import { duplicateOf } from '../src/views/definition/duplicate.ts'
import {
  indexParts,
  indexStatement,
  newIndexName,
  readsColumn,
  withRenamedColumns,
} from '../src/views/definition/index-statement.ts'
import { layoutOf } from '../src/views/relations/layout.ts'
import { importedChanges, readDefinitions } from '../src/views/schema/imported.ts'

function collection(name: string, fields: readonly NewField[] = [], more: Partial<Collection> = {}): Collection {
  const complete = fields.map((field) => ({
    id: `id_${field.name}`,
    system: false,
    hidden: false,
    presentable: false,
    ...field,
  }))
  const rules = { listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null }
  const rest = { id: name, name, type: 'base', system: false, indexes: [], created: '', updated: '' } as const
  return { ...rest, ...rules, fields: complete, ...more }
}

test('statements of indexes are read, with quotes of any kind', () => {
  expect(
    indexParts(
      'CREATE UNIQUE INDEX IF NOT EXISTS `idx_a` ON `posts` (\n  `title` DESC,\n  "author"\n) WHERE title != \'\'',
    ),
  ).toEqual({
    name: 'idx_a',
    isUnique: true,
    columns: ['title DESC', 'author'],
    where: "title != ''",
  })
  expect(indexParts('create index b on posts ([title] COLLATE NOCASE)')?.columns).toEqual(['title COLLATE NOCASE'])
  expect(indexParts('CREATE INDEX c ON posts (lower(title))')).toBeUndefined()
  expect(indexParts('DROP INDEX c')).toBeUndefined()
})

test('statements of indexes are made, with names that nobody has', () => {
  const statement = indexStatement('posts', 'idx_posts_a_b', true, ['a', '-b'])
  expect(statement).toBe('CREATE UNIQUE INDEX `idx_posts_a_b` ON `posts` (`a`, `b` DESC)')
  expect(newIndexName('posts', ['a', '-b'], [statement])).toBe('idx_posts_a_b_2')
  expect(newIndexName('posts', ['a'], [statement])).toBe('idx_posts_a')
})

test('an index follows the new names of its fields, and texts in it stay', () => {
  const statement = "CREATE INDEX `a_b` ON `a` (`a`, b) WHERE a != 'a' AND b > 1"
  const names = new Map([
    ['a', 'b'],
    ['b', 'a'],
  ])
  expect(withRenamedColumns(statement, names)).toBe("CREATE INDEX `a_b` ON `a` (`b`, a) WHERE b != 'a' AND a > 1")
  expect(readsColumn(statement, 'b')).toBe(true)
  expect(readsColumn('CREATE INDEX `a_b` ON `a` (`about`)', 'a')).toBe(false)
})

test('differences say what goes, what comes and what a rule means', () => {
  const before = collection(
    'posts',
    [
      { name: 'title', type: 'text' },
      { name: 'body', type: 'editor' },
    ],
    { indexes: ['CREATE INDEX `x` ON `posts` (`title`)'] },
  )
  const [title] = before.fields
  const after = {
    ...before,
    name: 'articles',
    listRule: '',
    fields: [
      ...collection('', [{ name: 'date', type: 'date' }]).fields,
      { ...title!, name: 'headline', required: true },
    ],
    indexes: [],
  }
  expect(changesBetween(before, after)).toEqual([
    { kind: 'change', text: 'Name of the collection', from: 'posts', to: 'articles' },
    { kind: 'remove', text: 'The field body goes, with all its values' },
    { kind: 'add', text: 'New field date (Date and time)' },
    { kind: 'change', text: 'The field gets another name', from: 'title', to: 'headline' },
    { kind: 'change', text: 'headline: required', from: 'nothing', to: 'true' },
    { kind: 'remove', text: 'The index x goes' },
    { kind: 'change', text: 'listRule', from: 'superusers only', to: 'everybody' },
  ])
  expect(changesBetween(before, before)).toEqual([])
  const swapped = { ...before, fields: before.fields.toReversed() }
  expect(changesBetween(before, swapped)).toEqual([{ kind: 'change', text: 'The order of the fields' }])
})

test('a duplicate has its own indexes and no ids or secrets', () => {
  const source = collection('posts', [{ name: 'title', type: 'text' }], {
    indexes: ['CREATE INDEX `idx_posts_title` ON `posts` (`title`)'],
    listRule: '',
  })
  const made = duplicateOf(source, 'copies', [source])
  expect(made).not.toHaveProperty('id')
  expect(made.fields).toEqual([{ name: 'title', type: 'text', system: false, hidden: false, presentable: false }])
  expect(made.indexes).toEqual(['CREATE INDEX `idx_copies_title` ON `posts` (`title`)'])
  expect(made.listRule).toBe('')
})

test('an import is planned: fields that the list lacks stay, or go with the collections', () => {
  const posts = collection('posts', [
    { name: 'title', type: 'text' },
    { name: 'body', type: 'editor' },
  ])
  const others = collection('others')
  const given = [{ name: 'POSTS', fields: [{ name: 'title', type: 'text' }] }]
  const plan = (deletes: boolean): unknown =>
    importedChanges([posts, others], given, deletes).map(({ name, changes }) => [name, changes.map(({ text }) => text)])
  expect(plan(false)).toEqual([['POSTS', ['Name of the collection']]])
  expect(plan(true)).toEqual([
    ['POSTS', ['Name of the collection', 'The field body goes, with all its values']],
    ['others', ['The collection others is deleted, with all its records.']],
  ])
  expect(readDefinitions('[{ "name": "a" }]')).toEqual({ collections: [{ name: 'a' }] })
  const both = { collections: [{ name: 'a' }], reports: [{ name: 'r' }] }
  expect(readDefinitions(JSON.stringify(both))).toEqual(both)
  expect(readDefinitions('{}')).toBe('This is no list of definitions.')
  expect(readDefinitions('[1]')).toBe('This is no list of definitions.')
  expect(readDefinitions('[')).toContain('This can’t be read')
})

test('no two boxes of a diagram meet, and circles of relations have an end', () => {
  const relation = (name: string, collectionId: string): NewField => ({ name, type: 'relation', collectionId })
  const list = [
    collection('users'),
    collection('posts', [relation('author', 'users'), relation('related', 'posts'), relation('top', 'comments')]),
    collection('comments', [relation('post', 'posts'), relation('by', 'users'), relation('gone', 'nothing')]),
    ...Array.from({ length: 9 }, (_, at) =>
      collection(
        `alone${at}`,
        Array.from({ length: 12 }, (_field, no) => ({ name: `f${no}`, type: 'text' as const })),
      ),
    ),
  ]
  const { boxes, edges, width, height } = layoutOf(list)
  expect(boxes.length).toBe(list.length)
  expect(edges.map(({ from, to }) => `${from.name} ${to.name}`)).toEqual([
    'posts users',
    'posts posts',
    'posts comments',
    'comments posts',
    'comments users',
  ])
  for (const one of boxes) {
    expect(one.x + one.width <= width && one.y + one.height <= height).toBe(true)
    for (const other of boxes)
      if (one !== other) {
        const apart =
          one.x + one.width < other.x ||
          other.x + other.width < one.x ||
          one.y + one.height < other.y ||
          other.y + other.height < one.y
        expect(apart).toBe(true)
      }
  }
  expect(layoutOf([])).toMatchObject({ boxes: [], edges: [] })
})
