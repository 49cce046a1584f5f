/**
 * Goal: what follows the change of an account follows at every door that superusers write accounts by. What a login is known by ends when
 * it changes, and one superuser stays.
 * Method: a table of doors, as `doors.wired.test.ts` has it for records.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import { migrationApp } from '@pannier/backend/internal'
import { basic, send, type Answer } from '../test-server.ts'
import { EMAIL, ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

type Values = Readonly<Record<string, unknown>>

interface Door {
  update?(rest: RestServer, id: string, values: Values): Promise<unknown>
  create?(rest: RestServer, values: Values & { readonly id: string }): Promise<unknown>
  /** Deletes a team. */
  delete?(rest: RestServer, id: string): Promise<unknown>
  /** The form of passwords that the door takes; `texts` when left out. */
  readonly passwords?: 'none' | 'hashes'
}

const ROOT = { authorization: basic(`${EMAIL}:${PASSWORD}`) }
const USERS = '/collections/users/records'
const NEXT = 'the next password'

const couch = ({ url }: RestServer, request: string, body?: unknown): Promise<Answer> => send(url, request, body, ROOT)
const batch = (rest: RestServer, request: object): Promise<unknown> => rest.call('POST /batch', { requests: [request] })
const sql = (rest: RestServer, query: string): Promise<unknown> => rest.call('POST /sql', { query })
const stored = ({ server }: RestServer, collection: string, id: string): Promise<Values | undefined> => {
  const { definitions } = server.backend
  return definitions.records(definitions.get(collection)).get(id)
}
/** As CouchDB's clients change a document: it comes whole. */
const changed = async (rest: RestServer, id: string, values: Values): Promise<Values> => ({
  ...(await stored(rest, 'users', id)),
  ...values,
})
const confirmed = (values: Values): Values =>
  values['password'] === undefined ? values : { ...values, passwordConfirm: values['password'] }

const DOORS: Readonly<Record<string, Door>> = {
  REST: {
    create: (rest, values) => rest.call(`POST ${USERS}`, confirmed(values)),
    update: (rest, id, values) => rest.call(`PATCH ${USERS}/${id}`, confirmed(values)),
    delete: (rest, id) => rest.call(`DELETE /collections/teams/records/${id}`),
  },
  'a batch': {
    create: (rest, values) => batch(rest, { method: 'POST', url: `/api${USERS}`, body: confirmed(values) }),
    update: (rest, id, values) => batch(rest, { method: 'PATCH', url: `/api${USERS}/${id}`, body: confirmed(values) }),
    delete: (rest, id) => batch(rest, { method: 'DELETE', url: `/api/collections/teams/records/${id}` }),
  },
  'the SQL console': {
    update: (rest, id, values) => {
      const set = Object.entries(values).map(([name, value]) => `${name} = ${literal(value)}`)
      return sql(rest, `UPDATE users SET ${set.join(', ')} WHERE id = '${id}'`)
    },
    delete: (rest, id) => sql(rest, `DELETE FROM teams WHERE id = '${id}'`),
    passwords: 'none',
  },
  'an import with checks': {
    create: (rest, values) => rest.call('POST /imports/users/records', { rows: [values] }),
    update: (rest, id, values) => rest.call('POST /imports/users/records', { rows: [{ id, ...values }], upsert: true }),
  },
  'a migration': {
    create: async ({ server }, values) => {
      const app = migrationApp(server.backend)
      await app.save(app.newRecord('users', { ...values }))
    },
    update: async ({ server }, id, values) => {
      const app = migrationApp(server.backend)
      const record = await app.findRecordById('users', id)
      record.load(values)
      await app.save(record)
    },
    delete: async ({ server }, id) => {
      const app = migrationApp(server.backend)
      await app.delete(await app.findRecordById('teams', id)).catch(() => {})
    },
  },
  "CouchDB's door": {
    create: (rest, { id, ...values }) => couch(rest, `PUT /users/${id}`, values),
    update: async (rest, id, values) => couch(rest, `PUT /users/${id}`, await changed(rest, id, values)),
    delete: async (rest, id) => {
      const rev = (await stored(rest, 'teams', id))?.['_rev']
      return couch(rest, `DELETE /teams/${id}?rev=${String(rev)}`)
    },
    passwords: 'hashes',
  },
  _bulk_docs: {
    create: (rest, { id, ...values }) => couch(rest, 'POST /users/_bulk_docs', { docs: [{ _id: id, ...values }] }),
    update: async (rest, id, values) =>
      couch(rest, 'POST /users/_bulk_docs', { docs: [await changed(rest, id, values)] }),
    delete: async (rest, id) => {
      const rev = (await stored(rest, 'teams', id))?.['_rev']
      return couch(rest, 'POST /teams/_bulk_docs', { docs: [{ _id: id, _rev: rev, _deleted: true }] })
    },
    passwords: 'hashes',
  },
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

let rest: RestServer
beforeAll(async () => {
  rest = await startRest({ limits: {} })
  await rest.server.backend.settings.update(SYSTEM, { batch: { enabled: true } })
})
afterAll(() => rest.close())

let accounts = 0

interface Made {
  readonly id: string
  readonly token: string
}

/** An account that has logged in, with a link to a login elsewhere and a device that it is known by. */
async function made(): Promise<Made> {
  const { records } = rest.server.backend
  const email = `account${++accounts}@example.com`
  const { id } = await records.create(ITSELF, 'users', { email, password: PASSWORD, passwordConfirm: PASSWORD })
  const recordRef = String(id)
  const token = await tokenFor(rest.url, 'users', email, PASSWORD)
  await link(recordRef)
  return { id: recordRef, token }
}

async function link(recordRef: string): Promise<void> {
  const { definitions } = rest.server.backend
  const collectionRef = definitions.get('users').id
  const records = definitions.records(definitions.get('_externalAuths'))
  await records.insert({ collectionRef, recordRef, provider: 'google', providerId: recordRef })
}

async function links(recordRef: string): Promise<number> {
  const { definitions } = rest.server.backend
  return definitions.records(definitions.get('_externalAuths')).find({ recordRef }).count()
}

const isValid = async (token: string): Promise<boolean> =>
  (await rest.server.backend.accounts.bearerOf(token)) !== undefined

const ways = (kind: 'create' | 'update' | 'delete'): readonly (readonly [string, Door])[] =>
  Object.entries(DOORS).filter(([, door]) => door[kind] !== undefined)

describe.each(ways('update'))('by %s', (_name, door) => {
  test('another address ends the tokens', async () => {
    const { id, token } = await made()
    const email = `next${accounts}@example.com`
    await door.update!(rest, id, { email })
    expect((await stored(rest, 'users', id))!['email']).toBe(email)
    expect(await isValid(token)).toBe(false)
  })

  if (door.passwords !== 'none')
    test('another password ends the tokens', async () => {
      const { id, token } = await made()
      const { password: before } = (await stored(rest, 'users', id))!
      const other = await made()
      const { password: hash } = (await stored(rest, 'users', other.id))!
      await door.update!(rest, id, { password: door.passwords === 'hashes' ? hash : NEXT })
      expect((await stored(rest, 'users', id))!['password']).not.toBe(before)
      expect(await isValid(token)).toBe(false)
    })

  test('a verified address ends the tokens, and forgets the logins of others', async () => {
    const { id, token } = await made()
    expect(await links(id)).toBe(1)
    await door.update!(rest, id, { verified: true })
    expect((await stored(rest, 'users', id))!['verified']).toBe(true)
    expect(await links(id)).toBe(0)
    expect(await isValid(token)).toBe(false)
  })

  test('another name ends nothing', async () => {
    const { id, token } = await made()
    await door.update!(rest, id, { name: 'Ann' })
    expect((await stored(rest, 'users', id))!['name']).toBe('Ann')
    expect([await links(id), await isValid(token)]).toEqual([1, true])
  })
})

test.each(ways('create'))('by %s a new account gets no login of one before it', async (_name, door) => {
  const id = `account${String(++accounts).padStart(8, '0')}`
  await link(id)
  await door.create!(rest, { id, email: `${id}@example.com`, password: PASSWORD })
  expect(await stored(rest, 'users', id)).toBeDefined()
  expect(await links(id)).toBe(0)
})

test.each(ways('create'))('by %s no account gets the id of one of another collection', async (name, door) => {
  const { records, definitions } = rest.server.backend
  if (definitions.find('members') === undefined) await definitions.create(SYSTEM, { name: 'members', type: 'auth' })
  const id = `account${String(++accounts).padStart(8, '0')}`
  const account = { id, email: `${id}@example.com`, password: PASSWORD, passwordConfirm: PASSWORD }
  await records.create(ITSELF, 'members', account)
  await Promise.resolve(door.create!(rest, { id, email: account.email, password: PASSWORD })).catch(() => {})
  expect([name, await stored(rest, 'users', id)]).toEqual([name, undefined])
})

test.each(ways('delete'))('by %s no cascade takes the last superuser along', async (_name, door) => {
  const { records, definitions } = rest.server.backend
  if (definitions.find('teams') === undefined) {
    const teams = await definitions.create(SYSTEM, { name: 'teams', type: 'base', fields: [] })
    const { fields } = definitions.get('_superusers')
    const team = { name: 'team', type: 'relation', collectionId: teams.id, maxSelect: 1, cascadeDelete: true }
    await definitions.update(SYSTEM, '_superusers', { fields: [...fields, team] })
  }
  const { id: team } = await records.create(ITSELF, 'teams', {})
  const [superuser] = await definitions.records(definitions.get('_superusers')).find({}).toArray()
  await records.update(ITSELF, '_superusers', String(superuser!['_id']), { team })
  await door.delete!(rest, String(team))
  expect(await stored(rest, 'teams', String(team))).toBeDefined()
  expect(await stored(rest, '_superusers', String(superuser!['_id']))).toBeDefined()
})
