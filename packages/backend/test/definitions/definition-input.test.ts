/** Goal: a typo in a migration is an error that names it, for the compiler and when it runs; and what a server has is an input. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBackend, type Backend, type MigrationApp } from '../../src/index.ts'
import { presentDefinition } from '../../src/definitions/present-definition.ts'
import { migrationApp } from '../../src/migrations/migration-app.ts'
import { IN_THREAD } from '../test-model.ts'

let backend: Backend
let app: MigrationApp
beforeAll(async () => {
  backend = await openBackend(await open('data', { storage: memory() }), { modelHome: IN_THREAD })
  app = migrationApp(backend)
})
afterAll(() => backend.close())

const WRONG: readonly (readonly [what: string, call: () => Promise<unknown>, message: string])[] = [
  [
    'an option of a collection',
    // @ts-expect-error -- listRule
    () => app.createCollection({ name: 'posts', listrule: '' }),
    "createCollection(): options must be known (did you mean 'listRule'?), got 'listrule'",
  ],
  [
    'an option of a field',
    // @ts-expect-error -- required
    () => app.createCollection({ name: 'posts', fields: [{ name: 't', type: 'text', requird: true }] }),
    "createCollection() fields[0]: options must be known (did you mean 'required'?), got 'requird'",
  ],
  [
    'an option of another type of field',
    // @ts-expect-error -- a flag has no maximum
    () => app.createCollection({ name: 'posts', fields: [{ name: 't', type: 'bool', max: 5 }] }),
    'createCollection() fields[0]: options must be among',
  ],
  [
    'a type of field',
    // @ts-expect-error -- text
    () => app.createCollection({ name: 'posts', fields: [{ name: 't', type: 'txt' }] }),
    "createCollection() fields[0]: type must be one of autodate, bool, date, editor, email, file, geoPoint, json, number, password, relation, select, text, url, got 'txt'",
  ],
  [
    'an option inside an option',
    // @ts-expect-error -- enabled
    () => app.updateCollection('users', { otp: { enable: true } }),
    "updateCollection() otp: options must be known (did you mean 'enabled'?), got 'enable'",
  ],
  [
    'an option of a field that is put',
    // @ts-expect-error -- hidden
    () => app.updateCollection('users', {}, { put: [{ at: 0, field: { name: 'x', type: 'text', hiden: true } }] }),
    "updateCollection() put: options must be known (did you mean 'hidden'?), got 'hiden'",
  ],
  [
    'an option in a list of collections',
    // @ts-expect-error -- indexes
    () => app.importCollections([{ name: 'posts', index: [] }]),
    "importCollections() [0]: options must be known (did you mean 'indexes'?), got 'index'",
  ],
]

test.each(WRONG)('%s that there is not is refused, and named', async (_what, call, message) => {
  const before = backend.definitions.all().length
  await expect(call()).rejects.toThrow(message)
  await expect(call()).rejects.toBeInstanceOf(TypeError)
  expect(backend.definitions.all()).toHaveLength(before)
})

test('each definition of a server is an input', async () => {
  await app.createCollection({
    name: 'accounts',
    type: 'auth',
    oauth2: { enabled: true, providers: [{ name: 'github', clientId: 'a', clientSecret: 'b' }] },
    passkey: { enabled: true },
    fields: [{ name: 'tags', type: 'select', values: ['a', 'b'], maxSelect: 2, viewRule: null, help: 'some' }],
  })
  await app.createCollection({ name: 'names', type: 'view', viewQuery: 'SELECT id, email FROM accounts' })
  const all = backend.definitions.all().map(presentDefinition)
  await app.importCollections(structuredClone(all) as never)
  expect(
    backend.definitions
      .all()
      .map(presentDefinition)
      .map(({ name }) => name),
  ).toEqual(all.map(({ name }) => name))
})
