/** Hooks around logins, mails and reads. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pause } from 'pannier/internal'
import type { VirtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import type { Backend, BackendOptions } from '../../src/backend.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { forbidden, invalid } from '../../src/gateway/service-error.ts'
import { HOOK_NAMES, type CollectionEvent, type HookEvents, type HookName } from '../../src/hooks/hook-events.ts'
import type { BoundHook, HookHandler } from '../../src/hooks/hooks.ts'
import { LiveWorld, type LiveClient } from '../events/live-world.ts'
import { ADMIN, NOBODY, refusal } from '../records/world.ts'
import { openTestBackend } from '../test-backend.ts'

const ANN = { email: 'ann@example.com', password: '1234567890', passwordConfirm: '1234567890' }

interface Hooked extends AsyncDisposable {
  readonly environment: VirtualEnvironment
  readonly logged: readonly LogEntry[]
  readonly backend: Backend
  on<Name extends HookName>(name: Name, handler: HookHandler<HookEvents[Name]>, ...tags: readonly string[]): void
}

async function hooked(options: BackendOptions = {}): Promise<Hooked> {
  const { environment, backend, printed: logged, close } = await openTestBackend(options)
  await backend.records.create(ADMIN, 'users', ANN)
  return {
    environment,
    backend,
    logged,
    on: (name, handler, ...tags) => backend.hooks.replace([{ name, handler, tags, source: 'hooks/test.ts:1' }]),
    [Symbol.asyncDispose]: close,
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
  await world.environment.idle()
  expect(mails().at(-1)?.['subject']).toBe('For an id of 15')
  world.on('onMailerSend', () => {
    throw invalid('No mails today.')
  })
  await accounts.verification.request(users, { email: ANN.email })
  await world.environment.idle()
  expect(mails().at(-1)?.['error']).toBe('No mails today.')
})

test('hooks are around changes of definitions, in the order of PocketBase; one refuses, and nothing has changed', async () => {
  await using world = await hooked()
  const { definitions, hooks } = world.backend
  const seen: string[] = []
  const names = HOOK_NAMES.filter((name) => name.startsWith('onCollection'))
  const traced = names.map((name): BoundHook => {
    const handler = async (e: CollectionEvent & { next(): Promise<void> }): Promise<void> => {
      seen.push(`${name} ${e.collection.name} ${e.type}`)
      await e.next()
    }
    return { name, handler, tags: ['posts', 'notes'], source: 'hooks/test.ts:1' }
  })
  hooks.replace(traced)
  const posts = await definitions.create(SYSTEM, { name: 'posts' })
  await definitions.create(SYSTEM, { name: 'others' })
  expect(seen.splice(0)).toEqual([
    'onCollectionCreate posts create',
    'onCollectionValidate posts validate',
    'onCollectionCreateExecute posts create',
    'onCollectionAfterCreateSuccess posts create',
  ])
  await definitions.update(SYSTEM, 'posts', { listRule: '' })
  await definitions.import(
    SYSTEM,
    [
      { ...posts, viewRule: '' },
      { name: 'notes', fields: [] },
    ],
    false,
  )
  expect(seen.splice(0).filter((line) => line.includes('Success'))).toEqual([
    'onCollectionAfterUpdateSuccess posts update',
    'onCollectionAfterCreateSuccess notes create',
    'onCollectionAfterUpdateSuccess posts update',
  ])
  expect(await refusal(definitions.update(SYSTEM, 'posts', { listRule: 'nothing = 1' }))).toMatchObject({
    0: 'INVALID',
  })
  expect(seen.splice(0)).toEqual([
    'onCollectionUpdate posts update',
    'onCollectionValidate posts validate',
    'onCollectionAfterUpdateError posts update',
  ])
  world.on('onCollectionDelete', () => {
    throw invalid('It is needed.')
  })
  expect(await refusal(definitions.delete(SYSTEM, 'posts'))).toEqual(['INVALID', 'It is needed.'])
  world.on('onCollectionDeleteExecute', () => {})
  expect(await refusal(definitions.delete(SYSTEM, 'posts'))).toMatchObject([
    'INVALID',
    expect.stringContaining('next()'),
  ])
  expect(definitions.find('posts')).toMatchObject({ viewRule: '' })
  hooks.replace(traced)
  const { id: collectionId } = definitions.get('posts')
  const fields = [{ name: 'post', type: 'relation', collectionId }]
  await definitions.create(SYSTEM, { name: 'needing', fields })
  seen.length = 0
  expect(await refusal(definitions.delete(SYSTEM, 'posts'))).toMatchObject([
    'INVALID',
    expect.stringMatching('needing'),
  ])
  expect(seen.splice(0)).toEqual([
    'onCollectionDelete posts delete',
    'onCollectionDeleteExecute posts delete',
    'onCollectionAfterDeleteError posts delete',
  ])
  await definitions.delete(SYSTEM, 'needing')
  seen.length = 0
  await definitions.delete(SYSTEM, 'posts')
  expect(seen).toEqual([
    'onCollectionDelete posts delete',
    'onCollectionDeleteExecute posts delete',
    'onCollectionAfterDeleteSuccess posts delete',
  ])
})

test('a hook hears of other settings, and that the server stops; what it throws then is logged', async () => {
  const seen: string[] = []
  const world = await hooked()
  world.on('onSettingsReload', (e) => {
    seen.push(e.app.settings().meta.appName)
    throw new Error('Too late.')
  })
  const { settings, logs } = world.backend
  await settings.update(SYSTEM, { meta: { ...settings.values.meta, appName: 'Other' } })
  expect([seen, settings.values.meta.appName]).toEqual([['Other'], 'Other'])
  await logs.flush()
  expect(world.logged.map(({ data }) => (data as { readonly error?: string }).error)).toEqual(['Error: Too late.'])
  world.on('onTerminate', async (e) => {
    await e.app.save(e.app.newRecord('users', { email: 'last@example.com', password: ANN.password }))
    seen.push(`${await e.app.countRecords('users')} users`)
  })
  await world[Symbol.asyncDispose]()
  expect(seen).toEqual(['Other', '2 users'])
})

test('hooks are around backups that are made, also by schedule, and restored', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hooks-backups-'))
  let restarts = 0
  await using world = await hooked({ backups: { dir, restart: () => restarts++ } })
  const { backups } = world.backend
  const seen: string[] = []
  world.on('onBackupCreate', async (e) => {
    seen.push(`before ${e.name} ${(await backups.list(SYSTEM)).length}`)
    await e.next()
    seen.push(`after ${e.name} ${(await backups.list(SYSTEM)).length}`)
  })
  await backups.create(SYSTEM, 'one.zip')
  expect(seen).toEqual(['before one.zip 0', 'after one.zip 1'])
  world.on('onBackupCreate', () => {
    throw invalid('Not at night.')
  })
  expect(await refusal(backups.create(SYSTEM, 'two.zip'))).toEqual(['INVALID', 'Not at night.'])
  world.on('onBackupRestore', () => {})
  expect(await refusal(backups.restore(SYSTEM, 'one.zip'))).toMatchObject([
    'INVALID',
    expect.stringContaining('next()'),
  ])
  expect([(await backups.list(SYSTEM)).length, restarts]).toEqual([1, 0])
  await rm(dir, { recursive: true, force: true })
})

test('a hook changes or holds back the message of one client, and a slow one delays no other', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', listRule: '', fields: [{ name: 'title', type: 'text' }] }])
  const account = await world.account('users', 'u'.repeat(15))
  const [guest, member, quick] = [world.connect(), world.connect(), world.connect()]
  await guest.subscribe('posts/*')
  await member.subscribeAs(account, 'posts/*')
  await quick.subscribe('posts/*')
  let ended = 0
  const handler: HookHandler<HookEvents['onRealtimeMessageSend']> = async (e) => {
    const { record } = e.message.data as { readonly record: { title: string } }
    if (e.client.id === guest.subscriber.id) await pause(world.environment, 20)
    if (record.title === 'secret' && e.client.auth === undefined) return
    if (e.client.auth !== undefined) record.title = `for ${e.client.auth.id.slice(0, 1)}: ${record.title}`
    await e.next()
    if (e.client.id !== quick.subscriber.id) ended++
  }
  world.backend.hooks.replace([{ name: 'onRealtimeMessageSend', handler, tags: [], source: 'hooks/test.ts:1' }])
  for (const title of ['one', 'secret', 'two', 'three']) await world.create('posts', { title })
  const titles = ({ got }: LiveClient): readonly string[] =>
    got.map(({ data }) => (data as { readonly record: { readonly title: string } }).record.title)
  await world.environment.until(() => ended === 7)
  expect(titles(guest)).toEqual(['one', 'two', 'three'])
  expect(titles(member)).toEqual(['for u: one', 'for u: secret', 'for u: two', 'for u: three'])
  expect(titles(quick)).toEqual(['one', 'two', 'three'])
  world.backend.hooks.replace([])
  await world.create('posts', { title: 'four' })
  await world.environment.idle()
  expect(titles(quick).at(-1)).toBe('four')
})

test('onRecordEnrich runs for messages: for each account its own, side by side, and what it refuses is not sent', async () => {
  await using world = await LiveWorld.open([{ name: 'posts', listRule: '', fields: [{ name: 'title', type: 'text' }] }])
  const account = await world.account('users', 'u'.repeat(15))
  const [guest, member] = [world.connect(), world.connect()]
  await guest.subscribe('posts/*')
  await member.subscribeAs(account, 'posts/*')
  const both = Promise.withResolvers<void>()
  let begun = 0
  const handler: HookHandler<HookEvents['onRecordEnrich']> = async (e) => {
    const { context } = e.requestInfo()
    if (context !== 'realtime') return
    // Each waits for the other: one after another they would never end.
    if (++begun === 2) both.resolve()
    await both.promise
    if (e.record.get('title') === 'members' && e.auth === undefined) throw new Error('Members only.')
    e.record.set('reader', e.auth?.id ?? 'guest')
    e.record.withCustomData(true)
    await e.next()
  }
  world.backend.hooks.replace([{ name: 'onRecordEnrich', handler, tags: ['posts'], source: 'hooks/test.ts:1' }])
  for (const title of ['one', 'members', 'two']) await world.create('posts', { title })
  const seen = ({ got }: LiveClient): readonly unknown[] =>
    got.map(({ data }) => {
      const { title, reader } = (data as { readonly record: { readonly title: string; readonly reader: string } })
        .record
      return [title, reader]
    })
  const of = (reader: string, ...titles: readonly string[]): unknown => titles.map((title) => [title, reader])
  await world.environment.idle()
  expect(seen(member)).toEqual(of('u'.repeat(15), 'one', 'members', 'two'))
  expect(seen(guest)).toEqual(of('guest', 'one', 'two'))
})

test('app sends a message of realtime to those who have subscribed to its topic', async () => {
  await using world = await LiveWorld.open([])
  const [guest, other] = [world.connect(), world.connect()]
  await guest.subscribe('news')
  await other.subscribe('sports')
  world.backend.app.sendMessage('news', { text: 'Hello' })
  await world.environment.idle()
  expect([guest.got.map(({ data }) => data), other.got]).toEqual([[{ text: 'Hello' }], []])
})

test('app sends mails, writes logs, and knows tokens and passwords of accounts', async () => {
  await using world = await hooked()
  const { app } = world.backend
  const sent: unknown[] = []
  world.on('onMailerSend', (e) => void sent.push({ ...e.message }))
  await app.sendMail({ to: 'eve@example.com', subject: 'Hello', text: 'a < b' })
  await world.environment.until(() => sent.length === 1)
  expect(sent).toEqual([{ to: 'eve@example.com', subject: 'Hello', text: 'a < b', html: '<pre>a &lt; b</pre>' }])
  await expect(app.sendMail({ to: '', subject: 'Hello', text: 'a' })).rejects.toThrow(
    'app.sendMail(): to must be a text',
  )
  app.log('The import has begun.', { rows: 3 }, 'warn')
  expect(world.logged).toContainEqual({ level: 4, message: 'The import has begun.', data: { rows: 3 } })
  const ann = await app.findAuthRecordByEmail('users', ANN.email)
  expect([await app.validatePassword(ann, ANN.password), await app.validatePassword(ann, 'wrong')]).toEqual([
    true,
    false,
  ])
  const token = await app.newAuthToken(ann)
  expect((await app.findAuthRecordByToken(token)).id).toBe(ann.id)
  await expect(app.findAuthRecordByToken('no.token.this')).rejects.toThrow('The token is not valid.')
  await expect(
    app.runInTransaction((inside) => inside.sendMail({ to: 'eve@example.com', subject: 'Hello', text: 'a' })),
  ).rejects.toThrow('app.sendMail(): must be called before the transaction, or after it')
})
