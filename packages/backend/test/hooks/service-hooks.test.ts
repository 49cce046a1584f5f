/** Hooks around logins, mails and reads. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { expect, test } from 'vitest'
import { openBackend, type Backend } from '../../src/backend.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { forbidden, invalid } from '../../src/gateway/service-error.ts'
import type { HookEvents, HookName } from '../../src/hooks/hook-events.ts'
import type { HookHandler } from '../../src/hooks/hooks.ts'
import { ADMIN, NOBODY, refusal } from '../records/world.ts'

const ANN = { email: 'ann@example.com', password: '1234567890', passwordConfirm: '1234567890' }

interface Hooked extends AsyncDisposable {
  readonly logged: readonly LogEntry[]
  readonly backend: Backend
  on<Name extends HookName>(name: Name, handler: HookHandler<HookEvents[Name]>, ...tags: readonly string[]): void
}

async function hooked(): Promise<Hooked> {
  const database = await open('hooks', { storage: memory() })
  const logged: LogEntry[] = []
  const backend = await openBackend(database, { print: (entry) => void logged.push(entry) })
  await backend.records.create(ADMIN, 'users', ANN)
  return {
    backend,
    logged,
    on: (name, handler, ...tags) => backend.hooks.replace([{ name, handler, tags, source: 'hooks/test.ts:1' }]),
    [Symbol.asyncDispose]: async () => {
      await backend.close()
      await database.close()
    },
  }
}

test('a hook sees who logs in and how, and refuses by throwing or by not calling next', async () => {
  await using world = await hooked()
  const { accounts } = world.backend
  const logIn = (): Promise<unknown> =>
    accounts.authWithPassword(NOBODY, 'users', { identity: ANN.email, password: ANN.password })
  const seen: unknown[] = []
  world.on(
    'onRecordAuthRequest',
    (e) => (seen.push(e.authMethod, e.record.get('email'), e.record.get('password')), e.next()),
  )
  expect(await logIn()).toMatchObject({ token: expect.any(String) as string })
  expect(seen).toEqual(['password', ANN.email, ''])
  world.on('onRecordAuthRequest', () => {
    throw invalid('Not on Sundays.')
  })
  expect(await refusal(logIn())).toEqual(['INVALID', 'Not on Sundays.'])
  world.on('onRecordAuthRequest', () => {}, 'users')
  expect(await refusal(logIn())).toEqual(['FORBIDDEN', ''])
  world.on('onRecordAuthRequest', () => {}, 'others')
  expect(await refusal(logIn())).toBeUndefined()
})

test('a hook changes what a list and a record show, and nothing that is stored', async () => {
  await using world = await hooked()
  const { records, definitions } = world.backend
  await definitions.create(SYSTEM, {
    name: 'posts',
    listRule: '',
    viewRule: '',
    fields: [{ name: 'title', type: 'text' }],
  })
  const { id } = await records.create(ADMIN, 'posts', { title: 'a' })
  world.on('onRecordsListRequest', (e) => {
    e.result.items = e.result.items.map((item) => ({ ...item, seenBy: e.auth?.id ?? 'guest' }))
    return e.next()
  })
  expect(await records.list(NOBODY, 'posts')).toMatchObject({ totalItems: 1, items: [{ title: 'a', seenBy: 'guest' }] })
  world.on('onRecordViewRequest', (e) => {
    e.result['title'] = 'changed'
    return e.next()
  })
  expect(await records.view(NOBODY, 'posts', id as string)).toMatchObject({ title: 'changed' })
  world.on('onRecordViewRequest', () => {
    throw forbidden('Not you.')
  })
  expect(await refusal(records.view(NOBODY, 'posts', id as string))).toEqual(['FORBIDDEN', 'Not you.'])
  expect(await refusal(records.view(NOBODY, 'posts', 'nope'))).toEqual(['NOT_FOUND', ''])
  world.backend.hooks.replace([])
  expect(await records.view(NOBODY, 'posts', id as string)).toMatchObject({ title: 'a' })
})

test('a hook hides fields of a record, and adds others, wherever it is shown', async () => {
  await using world = await hooked()
  const { records, definitions } = world.backend
  const fields = [
    { name: 'title', type: 'text' },
    { name: 'note', type: 'text', hidden: true },
    { name: 'parent', type: 'relation', collectionId: '' },
  ]
  await definitions.create(SYSTEM, { name: 'posts', listRule: '', viewRule: '', fields: fields.slice(0, 2) })
  const { id: collectionId } = definitions.find('posts')!
  await definitions.update(SYSTEM, 'posts', {
    fields: [...definitions.find('posts')!.fields, { ...fields[2], collectionId }],
  })
  const { id: parent } = await records.create(ADMIN, 'posts', { title: 'parent', note: 'secret' })
  const { id } = await records.create(ADMIN, 'posts', { title: 'child', parent })
  let runs = 0
  world.on(
    'onRecordEnrich',
    (e) => {
      runs++
      if (e.hasSuperuserAuth()) return e.next()
      e.record.hide('parent').unhide('note').withCustomData(true)
      e.record.set('shout', e.record.getString('title').toUpperCase())
      return e.next()
    },
    'posts',
  )
  const shown = await records.view(NOBODY, 'posts', id as string, { expand: 'parent' })
  expect(shown).toMatchObject({ title: 'child', shout: 'CHILD', note: '' })
  expect(shown).not.toHaveProperty('parent')
  expect(shown['expand']).toMatchObject({ parent: { title: 'parent', shout: 'PARENT', note: 'secret' } })
  expect(Object.keys(shown)).toEqual(Object.keys(shown).toSorted())
  expect(runs).toBe(2)
  const { items } = await records.list(NOBODY, 'posts', { fields: 'title,shout', sort: 'title' })
  expect(items).toEqual([
    { title: 'child', shout: 'CHILD' },
    { title: 'parent', shout: 'PARENT' },
  ])
  expect(await records.view(ADMIN, 'posts', id as string)).toMatchObject({ parent, note: '' })
})

test('a record that a hook answers with shows what everybody may see', async () => {
  await using world = await hooked()
  const { app, definitions } = world.backend
  const { fields } = definitions.find('users')!
  const more = [
    { name: 'nick', type: 'text' },
    { name: 'salary', type: 'number', viewRule: 'id = @request.auth.id' },
    { name: 'note', type: 'text', hidden: true },
  ]
  await definitions.update(SYSTEM, 'users', { fields: [...fields, ...more] })
  const ann = await app.findAuthRecordByEmail('users', ANN.email)
  ann.load({ nick: 'ann', salary: 5, note: 'secret' })
  await app.save(ann)
  const shown = JSON.parse(JSON.stringify(ann)) as object
  expect(shown).toMatchObject({ nick: 'ann', collectionName: 'users' })
  for (const name of ['email', 'salary', 'note', 'password', 'tokenKey']) expect(shown).not.toHaveProperty(name)
  ann.set('emailVisibility', true)
  expect(ann.toJSON()).toMatchObject({ email: ANN.email })
})

test('a hook changes a mail to an account, and one that refuses it is logged', async () => {
  await using world = await hooked()
  const { accounts } = world.backend
  const mails = (): readonly JsonObject[] =>
    world.logged.flatMap(({ data }) => (data?.['type'] === 'mail' ? [data] : []))
  const users = accounts.authDefinition('users')
  world.on('onMailerRecordPasswordResetSend', (e) => {
    e.message.subject = `For an id of ${e.record.id.length}`
    return e.next()
  })
  await accounts.passwordReset.request(users, { email: ANN.email })
  await expect.poll(() => mails().at(-1)?.['subject']).toBe('For an id of 15')
  world.on('onMailerSend', () => {
    throw invalid('No mails today.')
  })
  await accounts.verification.request(users, { email: ANN.email })
  await expect.poll(() => mails().at(-1)?.['error']).toBe('No mails today.')
})
