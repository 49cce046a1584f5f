/** Goal: paths through relations are typed like fields, forward and back. Checked by `npm run types`. */
import { z } from 'zod'
import { open } from '../../src/database/lifecycle/open.ts'
import type { Stored } from '../../src/database/collection/document-types.ts'
import { memory } from '../../src/storage/memory/memory.ts'
import { holds, type Same } from './equal.ts'

async function opened() {
  return await open('x', {
    storage: memory(),
    collections: {
      organizations: { schema: z.object({ name: z.string() }) },
      permissions: { schema: z.object({ name: z.string(), active: z.boolean() }) },
      users: {
        schema: z.object({
          name: z.string(),
          organization: z.string().optional(),
          permissions: z.array(z.string()),
          manager: z.string().optional(),
        }),
        indexes: ['name'],
        relations: { organization: 'organizations', permissions: ['permissions'], manager: 'users' },
      },
      posts: {
        schema: z.object({ title: z.string(), author: z.string(), stars: z.number() }),
        relations: { author: { to: 'users', check: true, onDelete: 'cascade' } },
      },
      log: { relations: { user: 'users' } },
    },
  })
}

export async function typed(): Promise<void> {
  const db = await opened()
  const posts = db.collection('posts')
  const users = db.collection('users')
  const rows = await posts.find({ 'author.organization.name': 'org', stars: { $gt: 3 } }).toArray()
  holds<Same<(typeof rows)[number], Stored<{ title: string; author: string; stars: number }>>>()
  posts.find({ author: 'ann', 'author.permissions.active': true, 'author.manager.name': { $ne: 'Bob' } })
  posts.find({ author: { name: 'Ann' } })
  posts.find({ 'author.permissions': { $every: { active: true } } }).sort('author.name', '-stars')
  users.find({ posts_via_author: { $some: { stars: { $gte: 5 }, 'author.name': 'Ann' } } })
  users.find({ 'posts_via_author.title': { $beginsWith: 'a' }, users_via_manager: { $none: { name: 'Bob' } } })
  users.find({ log_via_user: { $some: { any: 'thing' } } })
  db.collection('log').find({ 'user.name': 'Ann', other: 5 })
  await db.transaction(async (tx) => void (await tx.collection('posts').find({ 'author.name': 'Ann' }).first()))
  // @ts-expect-error the related document has no such field
  posts.find({ 'author.nmae': 'Ann' })
  // @ts-expect-error there is no such relation
  posts.find({ 'autor.name': 'Ann' })
  // @ts-expect-error the name is a string
  posts.find({ 'author.name': 5 })
  // @ts-expect-error active is a boolean
  posts.find({ 'author.permissions': { $some: { active: 'yes' } } })
  // @ts-expect-error a title leads to no documents
  posts.find({ title: { $some: { name: 'x' } } })
  // @ts-expect-error no relation leads back like this
  users.find({ 'posts_via_writer.title': 'x' })
  // @ts-expect-error there is no such path
  posts.find().sort('author.age')
}
