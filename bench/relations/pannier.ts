/** Pannier by its public interface. */
import { open, type Database } from 'pannier'
import type { Blog, Post } from './blog.ts'
import type { Answer, Contender } from './contender.ts'
import type { Question } from './workloads.ts'

export class PannierContender implements Contender {
  #database!: Database

  async open(place: string, { organizations, permissions, users, posts }: Blog): Promise<void> {
    this.#database = await open(place, {
      collections: {
        organizations: { indexes: ['name'] },
        permissions: { indexes: ['name', 'active'] },
        users: { indexes: ['name'], relations: { organization: 'organizations', permissions: ['permissions'] } },
        posts: { indexes: ['title', { on: 'type', multi: true }], relations: { author: 'users' } },
      },
    })
    const collections = { organizations, permissions, users, posts }
    for (const [name, documents] of Object.entries(collections)) {
      const collection = this.#database.collection<object>(name)
      await collection.insert(documents)
      await collection.ready()
    }
  }

  async answer({ of, selector, sort, skip = 0, limit, populate = [] }: Question): Promise<Answer> {
    const query = this.#database.collection<Record<string, unknown>>(of).find(selector as Record<string, unknown>)
    if (limit === 0) return { total: await query.count(), rows: [] }
    const sorted = sort === undefined ? query : query.sort(...sort.fields)
    const window = sorted.skip(skip).limit(limit)
    const { rows, total } = await (populate.length === 0 ? window : window.populate(...populate)).page()
    return { total, rows: rows as unknown as Answer['rows'] }
  }

  write({ _id, ...post }: Post): Promise<unknown> {
    return this.#database.collection<object>('posts').upsert({ _id, ...post })
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}
