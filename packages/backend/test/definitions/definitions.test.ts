/** Goal: a new database has PocketBase's collections; definitions are made, found, changed and kept. */
import { readFileSync } from 'node:fs'
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { afterEach, expect, test } from 'vitest'
import { Definitions } from '../../src/definitions/definitions.ts'
import { presentDefinition } from '../../src/definitions/present-definition.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'

const opened: Database[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function database(): Promise<Database> {
  const made = await open('definitions', { storage: memory() })
  opened.push(made)
  return made
}

function golden(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8'))
}

test('a new database has the collections of a new PocketBase, in its JSON', async () => {
  const definitions = await Definitions.open(await database())
  const shown = definitions.all().map((one) => ({ ...presentDefinition(one), created: '', updated: '' }))
  expect(JSON.stringify(shown, undefined, 2)).toBe(JSON.stringify(golden('system-collections'), undefined, 2))
})

test('definitions survive, and are found by id and by name in any case', async () => {
  const db = await database()
  const first = await Definitions.open(db)
  const posts = await first.create(SYSTEM, { name: 'Posts', fields: [{ name: 'title', type: 'text' }] })
  expect(posts.id).toBe('pbc_2195335957')
  const second = await Definitions.open(db)
  for (const name of ['posts', 'POSTS', posts.id]) expect(second.find(name)).toEqual(posts)
  expect(second.find('other')).toBeUndefined()
  expect(second.all().at(-1)).toEqual(posts)
  expect(second.schema.find('posts')!.fields.has('title')).toBe(true)
})
