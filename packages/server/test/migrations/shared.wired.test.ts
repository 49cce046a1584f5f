/** Goal: of servers that share a database one applies what is pending, once, and the others wait. One that fails changes nothing. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import type { DatabaseStorage } from 'pannier/storage'
import { memory } from '../../../db/src/memory.ts'
import { makeFolder } from '../../../../tools/processes.ts'
import { createServer, type PannierServer } from '../../src/index.ts'

interface Case {
  readonly storage: DatabaseStorage
  readonly folder: string
  write(name: string, up: string): void
  start(options?: { automigrate?: boolean; password?: string }): Promise<PannierServer>
}

function newCase(): Case {
  const storage = memory()
  const folder = makeFolder('shared-migrations')
  return {
    storage,
    folder,
    write: (name, up) => writeFileSync(join(folder, name), `export async function up(app: any) { ${up} }`),
    start: ({ automigrate = false, password } = {}) =>
      createServer({
        storage: { storage },
        logger: false,
        app: { migrations: { dir: folder, automigrate } },
        ...(password !== undefined && { encryption: { password } }),
      }),
  }
}

const POSTS = `app.createCollection({ name: 'posts', fields: [{ name: 'title', type: 'text' }] })`
const save = (title: string): string => `app.save(app.newRecord('posts', { title: '${title}' }))`

async function titles({ backend }: PannierServer): Promise<string[]> {
  const posts = await backend.app.findRecordsByFilter('posts', '', 'title')
  return posts.map((post) => post.getString('title'))
}

test.each([undefined, 'a password of tests'])(
  'servers that start at the same time apply them once (password: %s)',
  async (password) => {
    const { write, start } = newCase()
    write('1_posts.ts', `await ${POSTS}; await ${save('a')}`)
    write('2_more.ts', `await ${save('b')}`)
    const given = password === undefined ? {} : { password }
    const servers = await Promise.all([start(given), start(given), start(given)])
    for (const server of servers) expect(await titles(server)).toEqual(['a', 'b'])
    write('3_last.ts', `await ${save('c')}`)
    servers.push(await start(given))
    // Those that run have it as well.
    for (const server of servers) {
      await server.database.refresh()
      expect(await titles(server)).toEqual(['a', 'b', 'c'])
    }
    for (const server of servers) await server.close()
  },
)

test('one that fails changes nothing, also not what those before it would have, and the server does not start', async () => {
  const { write, start } = newCase()
  write('1_posts.ts', `await ${POSTS}`)
  const server = await start()
  write('2_more.ts', `await ${save('lost')}`)
  write('3_wrong.ts', `await app.createCollection({ name: 'tags', fields: [] }); await ${POSTS}`)
  await expect(start()).rejects.toThrow(/The migration 3_wrong\.ts can't be applied.*Nothing was changed\./)
  await server.database.refresh()
  expect(await titles(server)).toEqual([])
  expect(server.backend.definitions.find('tags')).toBeUndefined()
  await server.close()
})

test('a change by the API writes a file with automigrate, and no other server applies it again', async () => {
  const { folder, start } = newCase()
  const server = await start({ automigrate: true })
  await server.backend.definitions.create(SYSTEM, { name: 'tags', fields: [] })
  expect(readdirSync(folder).filter((name) => name.includes('tags'))).toHaveLength(1)
  const other = await start()
  expect(other.backend.definitions.find('tags')).toBeDefined()
  await other.close()
  await server.close()
})
