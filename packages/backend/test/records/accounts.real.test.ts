/** Goal: what belongs to an account ends with it; what proves an identity ends when it changes. */
import { afterEach, expect, test } from 'vitest'
import { recordsName } from '../../src/definitions/definition.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { ADMIN, account, openWorld, refusal, type World } from './world.ts'

const PUBLIC = { listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: '' }
const PASSWORD = { password: '1234567890', passwordConfirm: '1234567890' }
const [ANN, BOB, TEAM] = ['annannannannann', 'bobbobbobbobbob', 'teamteamteamtea']
const COLLECTIONS: readonly JsonObject[] = [
  { id: 'pbc_teams', name: 'teams', ...PUBLIC, fields: [] },
  {
    id: 'pbc_people',
    name: 'people',
    type: 'auth',
    ...PUBLIC,
    fields: [{ type: 'relation', name: 'team', collectionId: 'pbc_teams', cascadeDelete: true }],
  },
]

let world: World
afterEach(() => world.close())

/** Two accounts of a team, each with what belongs to accounts. */
async function start(): Promise<World> {
  world = await openWorld(COLLECTIONS)
  const { writes } = world
  await writes.create(ADMIN, 'teams', { id: TEAM })
  for (const id of [ANN, BOB]) {
    await writes.create(ADMIN, 'people', { id, email: `${id}@example.com`, team: TEAM, ...PASSWORD })
    const reference = { collectionRef: 'pbc_people', recordRef: id }
    await writes.create(ADMIN, '_externalAuths', { ...reference, provider: 'github', providerId: id })
    await writes.create(ADMIN, '_authOrigins', { ...reference, fingerprint: 'device' })
    await writes.create(ADMIN, '_mfas', { ...reference, method: 'password' })
    await writes.create(ADMIN, '_otps', { ...reference, password: '12345678', sentTo: 'x' })
  }
  return world
}

async function referring(id: string): Promise<Record<string, number>> {
  const names = ['_externalAuths', '_authOrigins', '_mfas', '_otps']
  const counts = names.map(async (name) => {
    const rows = Object.values(await world.stored(name)).filter(({ recordRef }) => recordRef === id)
    return [name, rows.length] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

const ALL = { _externalAuths: 1, _authOrigins: 1, _mfas: 1, _otps: 1 }
const NONE = { _externalAuths: 0, _authOrigins: 0, _mfas: 0, _otps: 0 }

test('what belongs to an account goes with it, and nothing else', async () => {
  const { writes } = await start()
  await writes.delete(ADMIN, 'people', ANN)
  expect(await referring(ANN)).toEqual(NONE)
  expect(await referring(BOB)).toEqual(ALL)
})

test('it also goes with accounts that a cascade takes along, that are truncated or go by another door', async () => {
  const { writes, stored } = await start()
  await writes.delete(ADMIN, 'teams', TEAM)
  expect(await stored('people')).toEqual({})
  expect([await referring(ANN), await referring(BOB)]).toEqual([NONE, NONE])
  await world.close()
  await start()
  await world.definitions.records(world.definitions.get('people')).delete(ANN)
  expect([await referring(ANN), await referring(BOB)]).toEqual([NONE, ALL])
  await world.definitions.truncate(SYSTEM, 'people')
  expect(await referring(BOB)).toEqual(NONE)
})

test('it goes with 10,500 accounts of one team, each of them with a device', async () => {
  const { writes, definitions, database, stored } = await start()
  const many = Array.from({ length: 10_500 }, (_, n) => `id${String(n).padStart(13, '0')}`)
  const [{ email: _, _rev: __, ...ann }, { _rev: ___, ...device }] = [
    (await stored('people'))[ANN]!,
    Object.values(await stored('_authOrigins'))[0]!,
  ]
  const insert = (name: string, documents: readonly JsonObject[]): Promise<unknown> =>
    database.collection<JsonObject>(recordsName(definitions.get(name))).insert(documents)
  await insert(
    'people',
    many.map((_id) => ({ ...ann, _id, email: `${_id}@example.com`, tokenKey: _id })),
  )
  await insert(
    '_authOrigins',
    many.map((_id) => ({ ...device, _id, recordRef: _id })),
  )
  await writes.delete(ADMIN, 'teams', TEAM)
  expect([await stored('people'), await stored('_authOrigins')]).toEqual([{}, {}])
})

test('a new account gets nothing of one that had its id, and was deleted on another server', async () => {
  const { writes, definitions, stored } = await start()
  const records = definitions.records(definitions.get('people'))
  const [generation, ...ids] = String((await stored('people'))[ANN]!['_rev']).split('-')
  const _revisions = { start: Number(generation) + 1, ids: ['f00d', ...ids] }
  const tombstone = { _id: ANN, _rev: `${_revisions.start}-f00d`, _deleted: true, _revisions }
  await records.put(tombstone, { newEdits: false })
  expect((await stored('people'))[ANN]).toBeUndefined()
  expect(await referring(ANN)).toEqual(ALL)
  await writes.create(ADMIN, 'people', { id: ANN, email: 'new@example.com', ...PASSWORD })
  expect([await referring(ANN), await referring(BOB)]).toEqual([NONE, ALL])
})

test('a new password ends all tokens, half logins and one-time passwords, and forgets the devices', async () => {
  const { writes, stored, passwords } = await start()
  const { tokenKey, password } = (await stored('people'))[ANN] as { tokenKey: string; password: string }
  expect(tokenKey).toMatch(/^\w{50}$/)
  expect(await passwords.verify(password, PASSWORD.password)).toBe(true)
  const change = { password: 'abcdefghij', passwordConfirm: 'abcdefghij' }
  const ann = account('pbc_people', (await stored('people'))[ANN]!)
  await writes.update(ann, 'people', ANN, { ...change, oldPassword: PASSWORD.password })
  const changed = (await stored('people'))[ANN]!
  expect(changed['tokenKey']).not.toBe(tokenKey)
  expect(await passwords.verify(changed['password'] as string, change.password)).toBe(true)
  expect(await referring(ANN)).toEqual({ ...ALL, _authOrigins: 0, _mfas: 0, _otps: 0 })
  expect(JSON.stringify(await stored('people'))).not.toContain(change.password)
})

test('an account that is verified loses the logins of others, and its tokens', async () => {
  const { writes, stored } = await start()
  const { tokenKey } = (await stored('people'))[ANN]!
  await writes.update(ADMIN, 'people', ANN, { verified: true })
  expect((await stored('people'))[ANN]!['tokenKey']).not.toBe(tokenKey)
  expect(await referring(ANN)).toEqual({ ...ALL, _externalAuths: 0, _otps: 0 })
  const { tokenKey: second } = (await stored('people'))[ANN]!
  await writes.update(ADMIN, 'people', ANN, { verified: false })
  await writes.update(ADMIN, 'people', ANN, { verified: true })
  expect((await stored('people'))[ANN]!['tokenKey']).toBe(second)
})

test('of two changes of a password at the same time with the old one, one is refused', async () => {
  const { writes, stored } = await start()
  const ann = account('pbc_people', (await stored('people'))[ANN]!)
  const changes = ['aaaaaaaaaa', 'bbbbbbbbbb'].map((password) =>
    refusal(writes.update(ann, 'people', ANN, { password, passwordConfirm: password, oldPassword: PASSWORD.password })),
  )
  const outcomes = await Promise.all(changes)
  expect(outcomes.filter((one) => one === undefined)).toHaveLength(1)
  expect(outcomes).toContainEqual([
    'INVALID',
    'Failed to update record.',
    { oldPassword: 'validation_invalid_old_password' },
  ])
})

test('no cascade takes the last superuser along', async () => {
  const { writes, stored, definitions } = await start()
  const { id: teams } = definitions.get('teams')
  const { fields } = definitions.get('_superusers')
  const team = { name: 'team', type: 'relation', collectionId: teams, maxSelect: 1, cascadeDelete: true }
  await definitions.update(SYSTEM, '_superusers', { fields: [...fields, team] })
  const [one, two] = ['superonesuperon', 'supertwosupertw']
  await writes.create(ADMIN, '_superusers', { id: one, email: 'one@example.com', team: TEAM, ...PASSWORD })
  const refused = await refusal(writes.delete(ADMIN, 'teams', TEAM))
  expect(refused).toEqual(['INVALID', "You can't delete the only existing superuser."])
  await expect(definitions.truncate(SYSTEM, 'teams')).rejects.toMatchObject({ code: 'INVALID', data: undefined })
  expect(Object.keys(await stored('teams'))).toEqual([TEAM])
  await writes.create(ADMIN, '_superusers', { id: two, email: 'two@example.com', ...PASSWORD })
  await writes.delete(ADMIN, 'teams', TEAM)
  expect(Object.keys(await stored('_superusers'))).toEqual([two])
})

test('the last superuser can not be deleted, not even by two deletes at the same time', async () => {
  const { writes, stored } = await start()
  const [one, two] = ['superonesuperon', 'supertwosupertw']
  for (const id of [one, two])
    await writes.create(ADMIN, '_superusers', { id, email: `${id}@example.com`, ...PASSWORD })
  const outcomes = await Promise.all([one, two].map((id) => refusal(writes.delete(ADMIN, '_superusers', id))))
  expect(outcomes).toContainEqual(['INVALID', "You can't delete the only existing superuser."])
  expect(Object.keys(await stored('_superusers'))).toHaveLength(1)
})
