/** The example: articles with authors, all types of fields, and a rule for those who may read. */
import { createCollection } from '../../api/collections.ts'
import type { NewCollection } from '../../api/collections.ts'
import { createRecord } from '../../api/records.ts'
import type { Values } from '../../api/records.ts'

const DATES: NewCollection['fields'] = [
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
]

export const EXAMPLE: readonly [authors: NewCollection, articles: NewCollection] = [
  {
    name: 'authors',
    type: 'base',
    listRule: '',
    viewRule: '',
    fields: [
      { name: 'name', type: 'text', required: true, presentable: true },
      { name: 'email', type: 'email' },
      { name: 'site', type: 'url' },
      { name: 'since', type: 'date' },
      { name: 'home', type: 'geoPoint' },
      ...DATES,
    ],
  },
  {
    name: 'articles',
    type: 'base',
    listRule: 'status = "published"',
    viewRule: 'status = "published"',
    fields: [
      { name: 'title', type: 'text', required: true, presentable: true, searchable: true },
      { name: 'status', type: 'select', values: ['draft', 'review', 'published'], maxSelect: 1, required: true },
      { name: 'topics', type: 'select', values: ['food', 'travel', 'books', 'music', 'science'], maxSelect: 5 },
      { name: 'author', type: 'relation', maxSelect: 1 },
      { name: 'body', type: 'editor' },
      { name: 'reads', type: 'number', onlyInt: true, min: 0 },
      { name: 'featured', type: 'bool' },
      { name: 'published', type: 'date' },
      {
        name: 'cover',
        type: 'file',
        maxSelect: 1,
        mimeTypes: ['image/png', 'image/jpeg', 'image/webp'],
        thumbs: ['120x120'],
      },
      { name: 'details', type: 'json' },
      ...DATES,
    ],
  },
]

const AUTHORS: readonly (readonly [name: string, lon: number, lat: number])[] = [
  ['Ada Palmer', -0.13, 51.51],
  ['Bruno Keller', 13.4, 52.52],
  ['Chiara Conti', 12.5, 41.9],
  ['Dmitri Orlov', 24.11, 56.95],
  ['Emi Tanaka', 139.69, 35.69],
  ['Farah Haddad', -7.59, 33.57],
  ['Greta Lind', 18.07, 59.33],
  ['Hugo Silva', -9.14, 38.72],
]
const SUBJECTS = ['Bread', 'Rivers', 'Old maps', 'Night trains', 'Bees', 'Small museums', 'Winter', 'Letters', 'Tides']
const ANGLES = [
  'and what they teach',
  'for beginners',
  'seen from above',
  'in ten pictures',
  'after dark',
  'by bicycle',
]
const STATUSES = ['published', 'published', 'draft', 'review']
const DAY_MS = 24 * 3_600_000

/** @throws ApiError */
export async function loadExample(onProgress: (done: number, all: number) => void): Promise<void> {
  const [authors, articles] = EXAMPLE
  const titles = SUBJECTS.flatMap((subject) => ANGLES.map((angle) => `${subject} ${angle}`))
  const all = AUTHORS.length + titles.length
  const { id: collectionId } = await createCollection(authors)
  const fields = articles.fields.map((field) => (field.name === 'author' ? { ...field, collectionId } : field))
  await createCollection({ ...articles, fields })
  const ids: string[] = []
  for (const [at, author] of AUTHORS.entries()) {
    ids.push((await createRecord('authors', authorOf(author, at))).id)
    onProgress(ids.length, all)
  }
  for (const [at, title] of titles.entries()) {
    await createRecord('articles', articleOf(title, at, ids[at % ids.length]!))
    onProgress(ids.length + at + 1, all)
  }
}

function authorOf([name, lon, lat]: (typeof AUTHORS)[number], at: number): Values {
  const word = name.toLowerCase().replace(' ', '.')
  const since = new Date(Date.UTC(2018, at, 1 + at)).toISOString()
  return { name, email: `${word}@example.com`, site: `https://example.com/${word}`, since, home: { lon, lat } }
}

function articleOf(title: string, at: number, author: string): Values {
  const status = STATUSES[at % STATUSES.length]!
  const { values: topics = [] } = EXAMPLE[1].fields[2]!
  return {
    title,
    status,
    author,
    topics: topics.filter((_topic, number) => (at + number * 2) % 3 === 0),
    body: `<p>${title}: the <strong>first</strong> lines of an article that somebody is still writing.</p>`,
    reads: status === 'published' ? (at * 7919) % 5000 : 0,
    featured: at % 9 === 0,
    published: status === 'published' ? new Date(Date.UTC(2026, 0, 1) + at * DAY_MS).toISOString() : '',
    details: { minutes: 3 + (at % 9), sources: at % 4 === 0 ? [`https://example.com/${at}`] : [] },
  }
}
