/** Goal: a new database has PocketBase's collections; definitions are made, found, changed and kept. */
import { readFileSync } from 'node:fs'
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { afterEach, expect, test } from 'vitest'
import { Definitions } from '../../src/definitions/definitions.ts'
import { presentDefinition } from '../../src/definitions/present-definition.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { modelledDefinitions } from '../test-model.ts'

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

test('a filter of definitions has the time of the clock that the server was given', async () => {
  const clock = virtualEnvironment()
  const made = await open('definitions', { storage: memory(), environment: clock })
  opened.push(made)
  const definitions = await Definitions.open(made)
  const later = (): number => definitions.list(SYSTEM, { filter: 'created > @now' }).totalItems
  expect(later()).toBe(0)
  clock.jump(-3_600_000)
  expect(later()).toBe(definitions.all().length)
})

test("types for @pannier/client have the app's own collections, and those for PocketBase's SDK have all", async () => {
  const definitions = await Definitions.open(await database())
  const namesIn = (text: string): readonly string[] =>
    Array.from(text.matchAll(/^ {2}(\w+): \{$/gm), ([, name]) => name!)
  expect(namesIn(definitions.typeDeclarations(SYSTEM, 'client'))).toEqual(['users'])
  expect(namesIn(definitions.typeDeclarations(SYSTEM))).toEqual(definitions.all().map(({ name }) => name))
})

test('what code of the operator gets of a definition can not be changed, and puts nothing in force', async () => {
  const definitions = await Definitions.open(await database())
  interface Written {
    listRule: string
    readonly fields: [{ hidden?: boolean }, ...object[]]
    readonly passwordAuth: { enabled: boolean }
    readonly indexes: string[]
  }
  const changes: ((users: Written) => unknown)[] = [
    (users) => (users.listRule = ''),
    (users) => users.fields.push({}),
    (users) => (users.fields[0].hidden = true),
    (users) => (users.passwordAuth.enabled = false),
    (users) => users.indexes.pop(),
  ]
  const refuses = (one: unknown): void => {
    for (const change of changes) expect(() => change(one as Written)).toThrow(TypeError)
  }
  refuses(definitions.get('users'))
  await definitions.update(SYSTEM, 'users', { listRule: 'id = @request.auth.id' })
  refuses(definitions.get('users'))
  const seen: unknown[] = []
  definitions.around = (pairs, check, write) => {
    for (const { before, after } of pairs) seen.push(before, after)
    return check().then(write)
  }
  await definitions.update(SYSTEM, 'users', { viewRule: '' })
  expect(seen).toHaveLength(2)
  for (const one of seen) refuses(one)
})

test('a server of databases gets no collection that strangers may sign up for', async () => {
  const served = await database()
  await served.collection('cities').insert({ name: 'Oslo' })
  const definitions = await Definitions.open(served)
  expect(definitions.all().filter(({ system }) => !system)).toEqual([])
  expect(definitions.find('_superusers')).toBeDefined()
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

test('scaffolds are those of PocketBase', async () => {
  const definitions = await Definitions.open(await database())
  const text = JSON.stringify(definitions.scaffolds(SYSTEM), undefined, 2)
  const shown = text.replaceAll(/(idx_(?:tokenKey|email)_)\w{10}`/g, '$1RANDOM`')
  expect(shown).toBe(JSON.stringify(golden('scaffolds'), undefined, 2))
})

test('only admins change definitions, or see all of them', async () => {
  const definitions = await Definitions.open(await database())
  const user: Principal = { name: 'ann', roles: [], isAdmin: false, by: 'token' }
  for (const [principal, code] of [
    [GUEST, 'UNAUTHENTICATED'],
    [user, 'FORBIDDEN'],
  ] as const) {
    const refused = { code }
    await expect(definitions.create(principal, { name: 'x' })).rejects.toMatchObject(refused)
    await expect(definitions.update(principal, 'users', {})).rejects.toMatchObject(refused)
    await expect(definitions.delete(principal, 'users')).rejects.toMatchObject(refused)
    await expect(definitions.truncate(principal, 'users')).rejects.toMatchObject(refused)
    await expect(definitions.import(principal, [{ name: 'x' }], true)).rejects.toMatchObject(refused)
    await expect(definitions.dryRunView(principal, 'select id from users')).rejects.toMatchObject(refused)
    expect(() => definitions.list(principal, {})).toThrow(expect.objectContaining(refused))
    expect(() => definitions.scaffolds(principal)).toThrow(expect.objectContaining(refused))
  }
})

test('a unique index without upper and lower case', async () => {
  const definitions = await Definitions.open(await database())
  const fields = [
    { id: 'fa', name: 'a', type: 'text' },
    { id: 'fb', name: 'b', type: 'text' },
  ]
  const input = { fields, indexes: ["CREATE UNIQUE INDEX u ON many (a COLLATE NOCASE) WHERE a != ''"] }
  const records = definitions.records(await definitions.create(SYSTEM, { name: 'many', ...input }))
  await records.insert([
    { a: 'Ann', b: 'x' },
    { a: 'bob', b: 'X' },
    { a: '', b: '' },
    { a: '', b: 'y' },
  ])
  await expect(records.insert({ a: 'ANN', b: 'z' })).rejects.toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
  const swapped = fields.map((field, place) => ({ ...field, name: ['b', 'a'][place] }))
  const refused = definitions.update(SYSTEM, 'many', { ...input, fields: swapped })
  await expect(refused).rejects.toMatchObject({
    data: { indexes: { 0: { code: 'validation_invalid_index_expression' } } },
  })
  await expect(records.insert({ a: 'BOB', b: 'z' })).rejects.toMatchObject({ code: 'PANNIER_NOT_UNIQUE' })
})

test('files of a field that goes, go; others stay', async () => {
  const definitions = await Definitions.open(await database())
  const [one, two] = [
    { id: 'f1', name: 'one', type: 'file' },
    { id: 'f2', name: 'two', type: 'file' },
  ]
  const records = definitions.records(await definitions.create(SYSTEM, { name: 'papers', fields: [one, two] }))
  await records.insert({ _id: 'p', one: 'a.txt', two: 'b.txt' })
  await records.putAttachment('p', 'a.txt', 'of one')
  await records.putAttachment('p', 'b.txt', 'of two')
  await definitions.update(SYSTEM, 'papers', { fields: [{ ...two, name: 'paper' }] })
  const document = (await records.get('p'))!
  expect(document).toMatchObject({ _id: 'p', paper: 'b.txt' })
  expect(Object.keys(document['_attachments'] as object)).toEqual(['b.txt'])
  expect(await (await records.getAttachment('p', 'b.txt'))!.text()).toBe('of two')
})

test('views that read each other are refused', async () => {
  const definitions = await modelledDefinitions(await database())
  await definitions.create(SYSTEM, { name: 'one', type: 'view', viewQuery: 'select id from users' })
  await definitions.create(SYSTEM, { name: 'two', type: 'view', viewQuery: 'select id from one' })
  const refused = definitions.update(SYSTEM, 'one', { viewQuery: 'select id from two' })
  await expect(refused).rejects.toMatchObject({ data: { viewQuery: { code: 'validation_invalid_view_query' } } })
})

test('relations follow definitions', async () => {
  const definitions = await Definitions.open(await database())
  const { id } = await definitions.create(SYSTEM, { name: 'teams' })
  const field = { id: 'ft', name: 'team', type: 'relation', collectionId: id, cascadeDelete: true }
  const tasks = await definitions.create(SYSTEM, { name: 'tasks', fields: [field] })
  const [teams, records] = [definitions.records(definitions.get('teams')), definitions.records(tasks)]
  await teams.insert([{ _id: 'red' }, { _id: 'blue' }])
  await records.insert([
    { _id: 'a', team: 'red' },
    { _id: 'b', team: 'blue' },
  ])
  await teams.delete('red')
  expect(await records.get('a')).toBeUndefined()
  await definitions.update(SYSTEM, 'tasks', { fields: [{ ...field, name: 'group', cascadeDelete: false }] })
  await teams.delete('blue')
  expect(await records.get('b')).toMatchObject({ group: '' })
})

test('a definition is current until it changes', async () => {
  const db = await database()
  const definitions = await Definitions.open(db)
  const before = await definitions.create(SYSTEM, { name: 'posts' })
  const stored = new Map((await db.collection('$definitions').find({}).toArray()).map((one) => [one._id, one]))
  const reader = { get: (_: string, id: string) => stored.get(id) }
  expect(definitions.isCurrent(before, reader)).toBe(true)
  const after = await definitions.update(SYSTEM, 'posts', { listRule: '' })
  expect(definitions.isCurrent(before, reader)).toBe(false)
  expect(definitions.isCurrent(after, reader)).toBe(false)
})

test('superusers with two methods keep their passwords: to turn them off is refused, as by PocketBase', async () => {
  const definitions = await Definitions.open(await database())
  await definitions.update(SYSTEM, '_superusers', { passwordAuth: { enabled: false } })
  expect(definitions.get('_superusers')).toMatchObject({ passwordAuth: { enabled: true } })
  const error = { mfa: { enabled: { code: 'validation_mfa_not_enough_auths' } } }
  const both = { mfa: { enabled: true }, otp: { enabled: true } }
  await expect(
    definitions.update(SYSTEM, '_superusers', { ...both, passwordAuth: { enabled: false } }),
  ).rejects.toMatchObject({ data: error })
  await definitions.update(SYSTEM, '_superusers', both)
  await expect(definitions.update(SYSTEM, '_superusers', { passwordAuth: { enabled: false } })).rejects.toMatchObject({
    data: error,
  })
})

test('a provider of OAuth2 keeps its own secret when the one before it is removed', async () => {
  const definitions = await Definitions.open(await database())
  const provider = (name: string): object => ({ name, clientId: name })
  const secretsOf = async (providers: readonly object[]): Promise<unknown> => {
    const updated = await definitions.update(SYSTEM, 'users', { oauth2: { enabled: true, providers } })
    return updated.type === 'auth' && updated.oauth2.providers.map(({ name, clientSecret }) => [name, clientSecret])
  }
  await secretsOf(['google', 'github'].map((name) => ({ ...provider(name), clientSecret: `of ${name}` })))
  expect(await secretsOf([provider('github')])).toEqual([['github', 'of github']])
  expect(await secretsOf([provider('github'), { ...provider('google'), clientSecret: 'new' }])).toEqual([
    ['github', 'of github'],
    ['google', 'new'],
  ])
  expect(await secretsOf([provider('google'), provider('github')])).toEqual([
    ['google', 'new'],
    ['github', 'of github'],
  ])
})

test('a provider of OAuth2 keeps what is stored under its name, and has nothing of the one whose place it takes', async () => {
  const definitions = await Definitions.open(await database())
  const old = {
    name: 'oidc',
    clientId: 'id-of-old',
    clientSecret: 'secret-of-old',
    authURL: 'https://old.example.org/auth',
    tokenURL: 'https://old.example.org/token',
    userInfoURL: 'https://old.example.org/user',
  }
  const google = { name: 'google', clientId: 'g', clientSecret: 'secret-of-google' }
  const providersOf = async (...providers: readonly object[]): Promise<Record<string, unknown>[]> => {
    const input = { oauth2: { enabled: true, providers } }
    const changed = await definitions.update(SYSTEM, 'users', input)
    return changed.type === 'auth' ? changed.oauth2.providers.map((one) => ({ ...one })) : []
  }
  await providersOf(old)
  const [replaced] = await providersOf(google)
  expect(JSON.stringify(replaced)).not.toContain('old')
  await expect(providersOf({ name: 'github', clientId: 'h' })).rejects.toMatchObject({ code: 'INVALID' })
  const [first, second] = await providersOf(old, { name: 'google', clientId: 'g2' })
  expect([first!['clientSecret'], second!['clientSecret']]).toEqual(['secret-of-old', 'secret-of-google'])
  const [moved] = await providersOf({ name: 'google' })
  expect([moved!['clientId'], moved!['clientSecret']]).toEqual(['g2', 'secret-of-google'])
})
