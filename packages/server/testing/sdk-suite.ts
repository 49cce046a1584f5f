/** Every method of every service of PocketBase's own client, which is not changed. */
import PocketBase, { BaseAuthStore, ClientResponseError } from 'pocketbase'
import type { RecordSubscription } from 'pocketbase'
import { assertDefined, assertEqual, assertTrue } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'

/** A server, and its superuser. */
export interface SdkServer {
  readonly url: string
  readonly email: string
  readonly password: string
  /** Where mails go: a port of this machine. */
  readonly smtpPort: number
  /** Where texts of mails are read by `?to=ADDRESS`. */
  readonly inbox: string
}

const PASSWORD = '1234567890'

interface World {
  /** The superuser's client. */
  readonly admin: PocketBase
  readonly guest: PocketBase
  readonly user: PocketBase
  readonly userId: string
  /** The text of the mail to an address which came as number `count`. */
  readonly mailTo: (address: string, count?: number) => Promise<string>
  readonly mailCount: (address: string) => Promise<number>
}

const EMAIL = 'ann@example.com'

export function sdkSuite({ test, create }: SuiteContext<() => Promise<SdkServer>>): void {
  const called = noteCalls()
  const inWorld = (name: string, body: (world: World) => Promise<void>): void => {
    test(name, async () => body(await worldOf(await create())))
  }

  inWorld('collections are listed, read, created, changed and deleted', async ({ admin, guest, user }) => {
    const { collections } = admin
    const made = await collections.create({ name: 'notes', type: 'base', fields: [{ name: 'text', type: 'text' }] })
    assertEqual(
      made.fields.map(({ name }) => name),
      ['id', 'text'],
    )
    assertEqual((await collections.getOne('notes')).id, made.id)
    assertEqual((await collections.getOne(made.id)).name, 'notes')
    assertEqual((await collections.getFirstListItem('name = "notes"')).id, made.id)
    const page = await collections.getList(1, 2, { sort: 'name', filter: 'system = false' })
    assertEqual([page.page, page.perPage, page.items.length], [1, 2, 2])
    const all = await collections.getFullList({ filter: 'system = false' })
    assertEqual(all.map(({ name }) => name).toSorted(), ['items', 'members', 'notes'])
    await admin.collection('notes').create({ text: 'kept' })
    const fields = [...made.fields, { name: 'more', type: 'number' }]
    const changed = await collections.update('notes', { name: 'memos', listRule: '', fields })
    assertEqual([changed.name, changed.listRule, changed.id], ['memos', '', made.id])
    const [kept] = await guest.collection('memos').getFullList()
    assertEqual([kept?.['text'], kept?.['more']], ['kept', 0])
    assertEqual(
      [await status(guest.collections.getFullList()), await status(user.collections.getFullList())],
      [401, 403],
    )
    assertEqual(await collections.delete('memos'), true)
    assertEqual(await status(collections.getOne('memos')), 404)
  })

  inWorld('collections are imported and truncated; there are scaffolds and providers', async ({ admin }) => {
    const { collections } = admin
    const scaffolds = await collections.getScaffolds()
    assertEqual(Object.keys(scaffolds), ['auth', 'base', 'view'])
    const items = await collections.getOne('items')
    const more = { ...scaffolds.base, name: 'more', fields: [{ name: 'a', type: 'number' }] }
    assertEqual(await collections.import([items, more] as never, false), true)
    assertEqual((await collections.getOne('more')).type, 'base')
    await admin.collection('more').create({ a: 1 })
    assertEqual(await collections.truncate('more'), true)
    assertEqual((await admin.collection('more').getList()).totalItems, 0)
    const providers = await collections.getAllOAuth2Providers()
    assertTrue(
      providers.some(({ name }) => name === 'github'),
      'github is a provider',
    )
    await collections.delete('more')
  })

  inWorld('a view is tried, made and read', async ({ admin }) => {
    const query = 'select id, title from items'
    await admin.collection('items').create({ title: 'seen' })
    const tried = (await admin.collections.dryRunViewQuery(query)) as unknown as { sample: { title: string }[] }
    assertEqual(
      tried.sample.map(({ title }) => title),
      ['seen'],
    )
    await admin.collections.create({ name: 'titles', type: 'view', viewQuery: query, listRule: '' })
    const [only] = (await admin.collection('titles').getList()).items
    assertEqual(only?.['title'], 'seen')
    assertEqual(await status(admin.collection('titles').create({ title: 'no' })), 400)
    await admin.collections.delete('titles')
  })

  inWorld('records are created, read, listed, changed and deleted', async ({ user, guest, userId }) => {
    const items = user.collection('items')
    const made = await items.create({ title: 'one', count: 1, owner: userId }, { expand: 'owner' })
    assertEqual([made['title'], made.collectionName, made.expand?.['owner'].id], ['one', 'items', userId])
    assertEqual(await items.getOne(made.id, { fields: 'id,title' }), { id: made.id, title: 'one' } as never)
    for (const title of ['two', 'three']) await items.create({ title, owner: userId })
    const page = await items.getList(1, 2, { sort: '-title' })
    assertEqual([page.totalItems, page.totalPages, page.items.map((item) => item['title'])], [3, 2, ['two', 'three']])
    assertEqual((await items.getFullList({ batch: 1 })).length, 3)
    assertEqual((await items.getFirstListItem(user.filter('title = {:title}', { title: 'two' })))['title'], 'two')
    assertEqual(await status(items.getFirstListItem('title = "none"')), 404)
    const changed = await items.update(made.id, { 'count+': 4, 'tags+': ['a'] })
    assertEqual([changed['count'], changed['tags']], [5, ['a']])
    assertEqual(await status(guest.collection('items').update(made.id, { title: 'stolen' })), 404)
    assertEqual(await status(guest.collection('items').create({ title: 'a guest’s' })), 400)
    assertEqual(await items.delete(made.id), true)
    assertEqual(await status(items.getOne(made.id)), 404)
  })

  inWorld('errors say what is wrong with which field', async ({ user }) => {
    const error = await failure(user.collection('items').create({ title: '' }))
    assertEqual(error.response, {
      data: { title: { code: 'validation_required', message: 'Cannot be blank.' } },
      message: 'Failed to create record.',
      status: 400,
    })
  })

  inWorld('files are uploaded in a form, added and removed', async ({ user, userId }) => {
    const items = user.collection('items')
    const file = (name: string): File => new File([`content of ${name}`], name, { type: 'text/plain' })
    const made = await items.create({ title: 'files', owner: userId, docs: [file('a.txt'), file('b.txt')] })
    const docs = made['docs'] as string[]
    assertTrue(/^a\w+_\w{10}\.txt$/.test(docs[0]!), `the name ${docs[0]}`)
    const more = await items.update(made.id, { 'docs+': [file('cde.txt')], 'docs-': [docs[0]] })
    assertEqual((more['docs'] as string[]).length, 2)
    assertEqual((more['docs'] as string[])[0], docs[1])
    assertEqual((await items.update(made.id, { docs: [] }))['docs'], [])
  })

  inWorld('a batch is whole or nothing', async ({ admin, user, userId }) => {
    await admin.settings.update({ batch: { enabled: false } })
    const off = user.createBatch()
    off.collection('items').create({ title: 'off' })
    assertEqual(await status(off.send()), 403)
    await admin.settings.update({ batch: { enabled: true, timeout: 60 } })
    const first = 'batchrecord0001'
    const batch = user.createBatch()
    const docs = [new File(['content'], 'a.txt', { type: 'text/plain' })]
    batch.collection('items').create({ id: first, title: 'first', owner: userId, docs })
    batch.collection('items').upsert({ id: first, count: 2 })
    batch.collection('items').update(first, { title: 'changed' })
    const results = await batch.send()
    assertEqual(
      results.map((result) => result.status),
      [200, 200, 200],
    )
    const last = results[2]!.body as { readonly count: number; readonly docs: readonly string[] }
    assertEqual(last.count, 2)
    assertTrue(/^a\w{10}_\w{10}_\w{10}\.txt$/.test(last.docs[0]!), `the name ${last.docs[0]}`)
    const bad = user.createBatch()
    bad.collection('items').delete(first)
    bad.collection('items').create({ title: '' })
    const { status: refused, response } = await failure(bad.send())
    const { requests } = response['data'] as { readonly requests: Readonly<Record<string, { readonly code: string }>> }
    assertEqual([refused, Object.keys(requests), requests['1']?.code], [400, ['1'], 'batch_request_failed'])
    assertEqual((await user.collection('items').getOne(first))['title'], 'changed')
  })

  inWorld('statements of SQL read and change records', async ({ admin }) => {
    const { id, title } = await admin.collection('items').create({ title: 'by the API' })
    assertEqual(title, 'by the API')
    const changed = await admin.sql.run(`UPDATE items SET title = 'by SQL' WHERE id = '${id}'`)
    assertEqual([changed.affectedRows, changed.columns, changed.rows], [1, [], []])
    const { columns, rows } = await admin.sql.run(`SELECT title, NULL FROM items WHERE id = '${id}'`)
    assertEqual(
      columns.map(({ name, type }) => `${name} ${type}`),
      ['title TEXT', 'NULL '],
    )
    assertEqual(rows, [['by SQL', null]])
    assertEqual((await admin.collection('items').getOne(id))['title'], 'by SQL')
    assertEqual(await status(admin.sql.run('SELECT')), 400)
  })

  inWorld('an account logs in, and its token is refreshed', async ({ guest, user, userId }) => {
    const methods = await guest.collection('members').listAuthMethods()
    assertEqual([methods.password.enabled, methods.password.identityFields], [true, ['email']])
    const refreshed = await user.collection('members').authRefresh()
    assertEqual([refreshed.record.id, user.authStore.isValid, user.authStore.isSuperuser], [userId, true, false])
    const error = await failure(guest.collection('members').authWithPassword('ann@example.com', 'wrong'))
    assertEqual([error.status, error.response['message']], [400, 'Failed to authenticate.'])
    assertEqual(await status(guest.collection('members').authRefresh()), 401)
  })

  inWorld('an account proves its address by a mail', async ({ admin, guest, userId, mailTo, mailCount }) => {
    const members = guest.collection('members')
    const before = await mailCount(EMAIL)
    assertEqual(await members.requestVerification(EMAIL), true)
    assertEqual(await members.requestVerification('nobody@example.com'), true)
    assertEqual(await members.confirmVerification(tokenIn(await mailTo(EMAIL, before + 1))), true)
    assertEqual((await admin.collection('members').getOne(userId))['verified'], true)
    assertEqual(await status(members.confirmVerification('x')), 400)
  })

  inWorld('an account replaces a password that it has forgotten', async ({ guest, user, mailTo, mailCount }) => {
    const members = guest.collection('members')
    const before = await mailCount(EMAIL)
    assertEqual(await members.requestPasswordReset(EMAIL), true)
    const token = tokenIn(await mailTo(EMAIL, before + 1))
    assertEqual(await members.confirmPasswordReset(token, 'another one', 'another one'), true)
    assertEqual(await status(user.collection('members').authRefresh()), 401)
    assertEqual((await members.authWithPassword(EMAIL, 'another one')).record['verified'], true)
  })

  inWorld('an account changes its address', async ({ user, mailTo, mailCount }) => {
    const members = user.collection('members')
    const before = await mailCount('new@example.com')
    assertEqual(await members.requestEmailChange('new@example.com'), true)
    const token = tokenIn(await mailTo('new@example.com', before + 1))
    assertEqual(await status(members.confirmEmailChange(token, 'wrong')), 400)
    assertEqual(await members.confirmEmailChange(token, PASSWORD), true)
    assertEqual(user.authStore.isValid, false)
    assertEqual((await members.authWithPassword('new@example.com', PASSWORD)).record['verified'], true)
  })

  inWorld(
    'an account logs in by one-time passwords, alone and as a second method',
    async ({ admin, guest, mailTo, mailCount }) => {
      const members = guest.collection('members')
      assertEqual(await status(members.requestOTP(EMAIL)), 403)
      await admin.collections.update('members', { otp: { enabled: true }, mfa: { enabled: true } })
      const before = await mailCount(EMAIL)
      const first = await failure(members.authWithPassword(EMAIL, PASSWORD))
      assertEqual(first.status, 401)
      const { otpId } = await members.requestOTP(EMAIL)
      const password = /\b\d{8}\b/.exec(await mailTo(EMAIL, before + 1))![0]
      assertEqual(await status(members.authWithOTP(otpId, '00000000')), 400)
      const { record } = await members.authWithOTP(otpId, password, { mfaId: first.response['mfaId'] as string })
      assertEqual([record['email'], record['verified'], guest.authStore.isValid], [EMAIL, true, true])
      assertEqual(await status(members.authWithOTP(otpId, password)), 400)
    },
  )

  inWorld('a superuser acts for accounts, and tries the settings of mails', async ({ admin, userId, mailTo }) => {
    const client = await admin.collection('members').impersonate(userId, 60)
    assertEqual([client.authStore.isValid, client.authStore.record?.id], [true, userId])
    const { token } = client.authStore
    assertEqual((await client.collection('members').authRefresh()).token, token)
    assertEqual(await status(client.collection('members').impersonate(userId, 60)), 403)
    assertEqual(await status(admin.collection('members').impersonate('missing', 60)), 404)
    assertEqual(await admin.settings.testEmail('members', 'tester@example.com', 'otp'), true)
    assertTrue((await mailTo('tester@example.com')).includes('123456'), 'the mail has no one-time password')
    assertEqual(await status(admin.settings.testEmail('members', 'tester@example.com', 'nope')), 400)
  })

  inWorld('an account sees the logins by others that it has, and ends them', async ({ admin, user, userId }) => {
    const { id: collectionRef } = await admin.collections.getOne('members')
    const external = { collectionRef, recordRef: userId, provider: 'github', providerId: '1' }
    await admin.collection('_externalAuths').create(external)
    const found = await user.collection('members').listExternalAuths(userId)
    assertEqual(
      found.map(({ provider }) => provider as string),
      ['github'],
    )
    assertEqual(await user.collection('members').unlinkExternalAuth(userId, 'github'), true)
    assertEqual((await user.collection('members').listExternalAuths(userId)).length, 0)
  })

  inWorld('a superuser is known as one', async ({ admin }) => {
    assertEqual([admin.authStore.isSuperuser, admin.authStore.isValid], [true, true])
    assertEqual((await admin.collection('_superusers').getList()).totalItems > 0, true)
    assertEqual((await admin.health.check()).code, 200)
  })

  inWorld('changes come as messages, until nobody listens', async ({ user, admin, userId }) => {
    const items = user.collection('items')
    const got: string[] = []
    const note = (name: string) => (event: RecordSubscription) =>
      void got.push(`${name} ${event.action} ${String(event.record['title'])}`)
    const { id } = await items.create({ title: 'one', count: 1, owner: userId })
    await items.subscribe('*', note('all'))
    await items.subscribe(id, note('this'))
    const stop = await items.subscribe('*', note('counted'), { filter: 'count > 1', fields: 'title' })
    assertEqual(user.realtime.isConnected, true)
    await items.update(id, { title: 'two', count: 2 })
    await settled(() => got.length === 3)
    assertEqual(got.splice(0).toSorted(), ['all update two', 'counted update two', 'this update two'])
    await stop()
    await items.unsubscribe(id)
    await items.update(id, { title: 'three' })
    await settled(() => got.length === 1)
    await items.unsubscribe()
    assertEqual(user.realtime.isConnected, false)
    const stopByHand = await admin.realtime.subscribe('items/*', note('by hand'))
    await admin.realtime.subscribe(`items/${id}`, note('by prefix'))
    await items.update(id, { title: 'four' })
    await settled(() => got.length === 3)
    // The listener of `unsubscribeByTopicAndListener` is one that only the client knows.
    await stopByHand()
    await items.update(id, { title: 'five' })
    await settled(() => got.length === 4)
    await admin.realtime.unsubscribeByPrefix('items/')
    const last = ['by prefix update five', 'by prefix update four']
    assertEqual(got.toSorted(), ['all update three', 'by hand update four', ...last])
    await admin.realtime.unsubscribe()
  })

  inWorld('a file has a URL; a protected one needs a token', async ({ admin, user, guest, userId }) => {
    const made = await user.collection('items').create({
      title: 'files',
      owner: userId,
      docs: [new File(['shown'], 'a.txt', { type: 'text/plain' })],
      secret: new File(['kept'], 'b.txt', { type: 'text/plain' }),
    })
    const text = async (url: string): Promise<string> => {
      const answer = await fetch(url, { cache: 'no-store' })
      return answer.ok ? answer.text() : String(answer.status)
    }
    const name = (made['docs'] as string[])[0]!
    assertEqual(await text(guest.files.getURL(made, name)), 'shown')
    assertEqual(await text(guest.files.getUrl(made, name, { download: true })), 'shown')
    assertEqual(await text(guest.getFileUrl(made, name)), 'shown')
    const secret = made['secret'] as string
    const token = await user.files.getToken()
    assertEqual(await text(user.files.getURL(made, secret)), '404')
    assertEqual(await text(user.files.getURL(made, secret, { token })), 'kept')
    assertEqual(await status(guest.files.getToken()), 401)
    assertEqual(await status(admin.collection('items').update(made.id, { docs: [] })), 200)
    assertEqual(await text(guest.files.getURL(made, name)), '404')
  })

  inWorld('a superuser reads and removes logs, and sees and runs jobs', async ({ admin, guest }) => {
    await admin.settings.update({ logs: { maxDays: 5, minLevel: -4 } })
    assertEqual(await status(guest.logs.getList()), 401)
    await settled(async () => (await admin.logs.getList(1, 5, { filter: 'data.status = 401' })).totalItems > 0)
    const [first] = (await admin.logs.getList(1, 5, { filter: 'data.status = 401' })).items
    assertEqual((await admin.logs.getOne(first!.id)).id, first!.id)
    assertTrue((await admin.logs.getStats()).length > 0, 'there are hours with logs')
    const jobs = await admin.crons.getFullList()
    assertTrue(
      jobs.some(({ id }) => id === '__pbLogsCleanup__'),
      'there is a job for logs',
    )
    assertEqual(await admin.crons.run('__pbLogsCleanup__'), true)
    assertEqual(await status(admin.crons.run('missing')), 404)
    // PocketBase 0.39 has no route for it.
    assertTrue([200, 404].includes(await status(admin.logs.truncate())), 'logs are removed')
  })

  inWorld('a superuser changes settings', async ({ admin, guest }) => {
    const before = await admin.settings.getAll()
    const meta = { ...(before['meta'] as object), appName: 'Changed' }
    assertEqual(((await admin.settings.update({ meta }))['meta'] as { appName: string }).appName, 'Changed')
    assertEqual(await status(admin.settings.update({ meta: { ...meta, appName: '' } })), 400)
    await admin.settings.update({ meta: before['meta'] })
    assertEqual(await status(guest.settings.getAll()), 401)
    assertEqual(await status(admin.settings.testS3('storage')), 400)
    const { secret } = await admin.settings.generateAppleClientSecret(
      'com.example.app',
      'T234567890',
      'K234567890',
      await applePrivateKey(),
      3600,
    )
    assertEqual(secret.split('.').length, 3)
  })

  inWorld('a superuser makes, loads and brings back a backup', async ({ admin, guest }) => {
    const { backups } = admin
    for (const { key } of await backups.getFullList()) await backups.delete(key)
    assertEqual(await backups.create('one.zip'), true)
    assertEqual(
      (await backups.getFullList()).map(({ key }) => key),
      ['one.zip'],
    )
    const token = await admin.files.getToken()
    assertEqual(backups.getDownloadUrl(token, 'one.zip'), backups.getDownloadURL(token, 'one.zip'))
    const content = await (await fetch(backups.getDownloadURL(token, 'one.zip'))).blob()
    const file = new File([content], 'two.zip', { type: 'application/zip' })
    assertEqual(await backups.upload({ file }), true)
    assertEqual(
      (await backups.getFullList()).map(({ size }) => size),
      [content.size, content.size],
    )
    assertEqual(await status(backups.restore('missing.zip')), 400)
    assertEqual(await status(guest.backups.getFullList()), 401)
    for (const key of ['one.zip', 'two.zip']) assertEqual(await backups.delete(key), true)
  })

  inWorld('the client cancels requests, and makes filters and URLs', async ({ user }) => {
    user.autoCancellation(true)
    const slow = user.collection('items').getList()
    const [first, second] = await Promise.allSettled([slow, user.collection('items').getList()])
    assertEqual([first.status, second.status], ['rejected', 'fulfilled'])
    const cancelled = user.collection('items').getList(1, 1, { requestKey: 'mine' })
    user.cancelRequest('mine')
    const all = user.collection('items').getList()
    user.cancelAllRequests()
    assertEqual(
      (await Promise.allSettled([cancelled, all])).map((one) => one.status),
      ['rejected', 'rejected'],
    )
    const title = 'It\'s {:odd} \\ "both"'
    await user.collection('items').create({ title })
    const filter = user.filter('title = {:title} && at != {:when}', { title, when: new Date(0) })
    assertTrue(filter.includes('1970-01-01'), filter)
    const found = await user.collection('items').getFirstListItem(user.filter('title = {:title}', { title }))
    assertEqual(found['title'], title)
    assertEqual(user.buildUrl('/api/health'), user.buildURL('/api/health'))
    assertEqual((await user.send<{ code: number }>('/api/health', { method: 'GET' })).code, 200)
  })

  inWorld('members of an account are as rules say', async ({ admin, guest, user, userId }) => {
    assertEqual(await status(guest.collection('members').getOne(userId)), 404)
    const self = await user.collection('members').getOne(userId)
    assertEqual([self['email'], 'password' in self, 'tokenKey' in self], ['ann@example.com', false, false])
    assertDefined(await admin.collection('members').update(userId, { verified: true }))
    assertEqual(await status(user.collection('members').update(userId, { verified: false })), 400)
  })

  // It comes last.
  test('the cases have called every method of every service', () => {
    assertEqual(
      methods().filter((name) => !called.has(name) && !ELSEWHERE.has(name)),
      [],
    )
  })
}

/** A provider is needed: oauth2.wired.test.ts and sdk.wired.browser.ts have one. */
const ELSEWHERE: ReadonlySet<string> = new Set(['RecordService.authWithOAuth2', 'RecordService.authWithOAuth2Code'])

/** Those for users of the client: their types have them. */
const SERVICES = {
  Client:
    'autoCancellation buildURL buildUrl cancelAllRequests cancelRequest collection createBatch filter getFileUrl send',
  CollectionService:
    'create delete dryRunViewQuery getAllOAuth2Providers getFirstListItem getFullList getList getOne getScaffolds import truncate update',
  RecordService:
    'authRefresh authWithOAuth2 authWithOAuth2Code authWithOTP authWithPassword confirmEmailChange confirmPasswordReset confirmVerification create delete getFirstListItem getFullList getList getOne impersonate listAuthMethods listExternalAuths requestEmailChange requestOTP requestPasswordReset requestVerification subscribe unlinkExternalAuth unsubscribe update',
  FileService: 'getToken getURL getUrl',
  LogService: 'getList getOne getStats truncate',
  SettingsService: 'generateAppleClientSecret getAll testEmail testS3 update',
  RealtimeService: 'subscribe unsubscribe unsubscribeByPrefix unsubscribeByTopicAndListener',
  HealthService: 'check',
  BackupService: 'create delete getDownloadURL getDownloadUrl getFullList restore upload',
  CronService: 'getFullList run',
  SQLService: 'run',
  BatchService: 'collection send',
  SubBatchService: 'create delete update upsert',
}

function methods(): readonly string[] {
  return Object.entries(SERVICES).flatMap(([service, names]) => names.split(' ').map((name) => `${service}.${name}`))
}

/** Which methods are called from now on. */
function noteCalls(): ReadonlySet<string> {
  const called = new Set<string>()
  const client = new PocketBase('http://127.0.0.1', new BaseAuthStore())
  const batch = client.createBatch()
  const services: Readonly<Record<keyof typeof SERVICES, object>> = {
    Client: client,
    CollectionService: client.collections,
    RecordService: client.collection('x'),
    FileService: client.files,
    LogService: client.logs,
    SettingsService: client.settings,
    RealtimeService: client.realtime,
    HealthService: client.health,
    BackupService: client.backups,
    CronService: client.crons,
    SQLService: client.sql,
    BatchService: batch,
    SubBatchService: batch.collection('x'),
  }
  for (const [service, instance] of Object.entries(services)) {
    const prototype = Object.getPrototypeOf(instance) as Record<string, (...parameters: unknown[]) => unknown>
    for (const name of SERVICES[service as keyof typeof SERVICES].split(' ')) {
      const method = prototype[name]!
      prototype[name] = function noted(...parameters) {
        called.add(`${service}.${name}`)
        return method.apply(this, parameters)
      }
    }
  }
  return called
}

/** Waits until it is so. */
async function settled(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 2400; round++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`It has not become so: ${String(isSo)}`)
}

async function applePrivateKey(): Promise<string> {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey))
  return `-----BEGIN PRIVATE KEY-----\n${btoa(String.fromCharCode(...bytes))}\n-----END PRIVATE KEY-----`
}

/** The collections of the cases, made again. */
async function worldOf({ url, email, password, smtpPort, inbox }: SdkServer): Promise<World> {
  // Each has a store of its own: in browsers they would share one.
  const client = (): PocketBase => new PocketBase(url, new BaseAuthStore()).autoCancellation(false)
  const [admin, guest, user] = [client(), client(), client()]
  await admin.collection('_superusers').authWithPassword(email, password)
  for (const { name } of await admin.collections.getFullList({ filter: 'system = false', sort: 'created' }))
    if (name === 'items') await admin.collections.delete(name)
  for (const { name } of await admin.collections.getFullList({ filter: 'system = false' }))
    await admin.collections.delete(name)
  const members = await admin.collections.create({
    name: 'members',
    type: 'auth',
    viewRule: 'id = @request.auth.id',
    updateRule: 'id = @request.auth.id',
  })
  await admin.collections.create({
    name: 'items',
    type: 'base',
    listRule: '@request.auth.id != ""',
    viewRule: '@request.auth.id != ""',
    createRule: '@request.auth.id != ""',
    updateRule: 'owner = @request.auth.id',
    deleteRule: 'owner = @request.auth.id',
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'count', type: 'number' },
      { name: 'tags', type: 'select', values: ['a', 'b'], maxSelect: 2 },
      { name: 'docs', type: 'file', maxSelect: 5 },
      { name: 'secret', type: 'file', protected: true },
      { name: 'owner', type: 'relation', collectionId: members.id },
    ],
  })
  const smtp = { enabled: true, host: '127.0.0.1', port: smtpPort, tls: false, username: '' }
  await admin.settings.update({ smtp })
  const account = { email: EMAIL, password: PASSWORD, passwordConfirm: PASSWORD }
  const { id: userId } = await admin.collection('members').create(account)
  await user.collection('members').authWithPassword(account.email, PASSWORD)
  const mailTo = (address: string, at?: number): Promise<string> => mailIn(inbox, address, at)
  const mailCount = async (address: string): Promise<number> => (await textsIn(inbox, address)).length
  return { admin, guest, user, userId, mailTo, mailCount }
}

async function textsIn(inbox: string, address: string): Promise<readonly string[]> {
  const answer = await fetch(`${inbox}?to=${encodeURIComponent(address)}`)
  return (await answer.json()) as readonly string[]
}

/** Waits for it. */
async function mailIn(inbox: string, address: string, at = 1): Promise<string> {
  for (let round = 0; round < 1200; round++) {
    const texts = await textsIn(inbox, address)
    if (texts.length >= at) return texts[at - 1]!
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`No mail to ${address} has come.`)
}

function tokenIn(text: string): string {
  return /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(text)![0]
}

/** 200 if it goes well. */
async function status(promise: Promise<unknown>): Promise<number> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) return 200
  if (error instanceof ClientResponseError) return error.status
  throw error
}

async function failure(promise: Promise<unknown>): Promise<ClientResponseError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ClientResponseError) return error
  throw new Error('a failure was expected', { cause: error })
}
