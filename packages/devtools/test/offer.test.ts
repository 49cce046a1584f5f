/** Goal: without a page devtools do nothing and fail nowhere; any client and database of an app may be given to them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Database } from 'pannier'
import type { Client } from '@pannier/client'
import { offerDevtools, type DevtoolsSources } from '../src/index.ts'
import { openShop } from './shop.ts'

interface Typed {
  readonly tasks: {
    readonly record: { id: string }
    readonly create: { title: string }
    readonly update: { title?: string }
  }
}

/** A database with types, and a client with types, are sources too. The compiler tests it. */
export function sourcesOf(client: Client<Typed>, db: Database<{ people: { name: string } }>): DevtoolsSources {
  return { clients: [client], databases: [db] }
}

test('on a server there is nothing to open', async () => {
  const db = await openShop(1)
  const devtools = offerDevtools({ databases: [db] })
  await devtools.open()
  await devtools.toggle()
  devtools.close()
  devtools.end()
  await db.close()
})

test('the extension has the version of the package', () => {
  const folder = join(import.meta.dirname, '..')
  const versions = ['package.json', 'extension/manifest.json'].map(
    (path) => (JSON.parse(readFileSync(join(folder, path), 'utf8')) as { readonly version: string }).version,
  )
  expect(new Set(versions).size).toBe(1)
})
