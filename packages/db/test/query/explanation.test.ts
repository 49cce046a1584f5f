/** Goal: an explanation says as text what it says as data. */
import { expect, test } from 'vitest'
import { memory } from '../../src/memory.ts'
import { open } from '../../src/index.ts'

test('explain is drawn as a tree, with the steps along relations', async () => {
  await using db = await open('drawn', {
    storage: memory(),
    collections: {
      users: { indexes: ['name'] },
      posts: { indexes: ['title', 'number'], relations: { author: 'users' } },
    },
  })
  const [users, posts] = [db.collection('users'), db.collection<Record<string, unknown>>('posts')]
  await users.insert(Array.from({ length: 10 }, (_, n) => ({ _id: `u${n}`, name: `name ${n % 5}` })))
  await posts.insert(
    Array.from({ length: 2000 }, (_, n) => ({
      title: `title ${n}`,
      number: n,
      author: `u${n % 10}`,
      text: `text ${n}`,
    })),
  )
  const joined = posts.find({ 'author.name': 'name 1', title: { $gte: 'title 5' } } as never)
  expect(String(await joined.sort('title').skip(5).limit(10).explain({ run: true }))).toBe(
    `fetch (gave 10)
└ limit 10 (gave 10)
  └ skip 5 (gave 10)
    └ intersection (400 rows, gave 15)
      ├ index scan of title, title: [{"$gte":"title 5"}] (555 rows, gave 96)
      └ index scan of author, author: [{"$eq":"u1"},{"$eq":"u6"}] (400 rows, gave 400)
'author' leads to users: by documents, 2 ids
└ project _id
  └ intersection (2 rows)
    ├ id scan (10 rows)
    └ index scan of name, name: [{"$eq":"name 1"}] (2 rows)
10 rows; read: 10 documents, 0 pages that were not in memory`,
  )
  const explanation = await posts.find({ text: 'text 7' }).sort('-number').explain()
  expect(String(explanation)).toBe(
    `fetch
└ sort by -number
  └ filter {"text":{"$some":[{"$eq":"text 7"}]}}
    └ full scan (2000 rows)
an index would help: ["text","-number"]`,
  )
  expect(Object.keys(explanation)).not.toContain('toString')
  const reversed = await posts.find().sort('-number').limit(1).explain()
  expect(String(reversed)).toContain('index scan of number, in reverse (2000 rows)')
  const many = { _id: { $in: ['a', 'b', 'c', 'd'] } }
  expect(String(await posts.find(many).skip(2).explain())).toContain('id scan _id: 4 values (0 rows)')
})
