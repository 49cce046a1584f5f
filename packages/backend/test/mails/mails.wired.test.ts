/** Goal: each mail arrives once, whatever the server does; a mail that can't be sent is in the log; nobody adds headers to one. */
import { aloneIn } from '../../src/fleet/fleet.ts'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { open } from 'pannier'
import type { Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MailServer, smtpError } from '../../../../tools/test/mail-server.ts'
import { authScaffold } from '../../src/definitions/scaffolds.ts'
import { withSystemFields } from '../../src/definitions/system-fields.ts'
import type { AuthDefinition } from '../../src/definitions/definition.ts'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { mailOf } from '../../src/mails/mail-content.ts'
import type { Mail } from '../../src/mails/mail-content.ts'
import { Mails } from '../../src/mails/mails.ts'
import type { MailOutcome } from '../../src/mails/mails.ts'
import { Settings } from '../../src/settings/settings.ts'
import { DEFAULT_SETTINGS } from '../../src/settings/settings-values.ts'
import { START_MS } from '../test-backend.ts'

const HOUR_MS = 3_600_000
let database: Database
let settings: Settings
let mails: Mails
let server: MailServer
let environment: VirtualEnvironment
let logs: LogEntry[]
let outcomes: [about: string, outcome: MailOutcome][]

beforeEach(async () => {
  environment = virtualEnvironment({ startMs: START_MS })
  logs = []
  outcomes = []
  database = await open('mails', { storage: memory(), environment })
  settings = await Settings.open(database)
  server = await MailServer.start()
  await settings.update(SYSTEM, server.settings as never)
  await start()
})

afterEach(async () => {
  await mails.close()
  await settings.close()
  await database.close()
  await server[Symbol.asyncDispose]()
})

async function start(): Promise<void> {
  mails = new Mails({
    environment,
    fleet: aloneIn(environment),
    database,
    settings,
    logs: { write: (entry) => void logs.push(entry), flush: async () => {} },
    around: (mail, send) => send(mail),
  })
  await mails.start(async (about, outcome) => void outcomes.push([about, outcome]))
}

function mailTo(to: string, more: object = {}): Parameters<Mails['queue']>[0] {
  return {
    to,
    subject: `To ${to}`,
    html: '<p>Hello</p>',
    text: 'Hello',
    untilMs: environment.wallClock() + HOUR_MS,
    ...more,
  }
}

async function stored(): Promise<number> {
  return (await database.collection('$mails').info()).documents
}

test('a mail arrives with subject, names, HTML and text, and leaves nothing behind', async () => {
  await settings.update(SYSTEM, { meta: { senderName: 'Åsa, "Support"', senderAddress: 'support@example.com' } })
  await mails.queue({
    ...mailTo('ann@example.com'),
    subject: 'Grüße 🎉',
    html: '<p>Zwölf</p>',
    text: 'Zwölf',
    about: 'x',
  })
  const { parsed, recipients } = await server.received(1)
  await environment.idle()
  expect(recipients).toEqual(['ann@example.com'])
  expect([parsed.subject, parsed.text?.trim(), parsed.html?.trim()]).toEqual(['Grüße 🎉', 'Zwölf', '<p>Zwölf</p>'])
  expect(parsed.from).toEqual({ name: 'Åsa, "Support"', address: 'support@example.com' })
  expect(parsed.messageId).toMatch(/^<[a-z0-9]{20}@example\.com>$/)
  expect([await stored(), outcomes]).toEqual([0, [['x', 'sent']]])
})

test('line ends in names, subjects and addresses add no header and no recipient', async () => {
  const evil = 'Ann\r\nBcc: eve@example.com\r\n\r\nBody'
  await settings.update(SYSTEM, { meta: { senderName: evil } })
  const definition = { ...authScaffold(environment), name: 'users' }
  const fields = withSystemFields(definition)
  const template = { subject: `{APP_NAME} {RECORD:email}\r\nX-Evil: 1`, body: '{RECORD:email}' }
  const { meta } = { meta: { ...settings.values.meta, appName: evil } }
  const record = { email: evil }
  const mail = mailOf({
    to: 'ann@example.com',
    template,
    meta,
    definition: { ...definition, fields },
    record,
    values: {},
  })
  await mails.queue({ ...mail, untilMs: environment.wallClock() + HOUR_MS })
  await mails.queue(mailTo('bob@example.com>\r\nRCPT TO:<eve@example.com'))
  await mails.queue(mailTo('"a\r\nBcc: eve@example.com"@example.com'))
  await environment.idle()
  expect(server.mails.flatMap(({ recipients }) => recipients)).not.toContain('eve@example.com')
  const { parsed, recipients, raw } = server.mails.find(({ recipients: [to] }) => to === 'ann@example.com')!
  expect(recipients).toEqual(['ann@example.com'])
  expect([parsed.bcc, parsed.headers.some(({ key }) => key === 'x-evil')]).toEqual([undefined, false])
  expect(parsed.from?.address).toBe('support@example.com')
  expect(parsed.subject).toContain('Bcc: eve@example.com')
  expect(raw.split('\r\n\r\n')[0]).not.toMatch(/^(?:bcc|x-evil):/im)
})

test('placeholders are filled once, escaped in HTML, and fields that are hidden or ruled stay unfilled', () => {
  const definition: AuthDefinition = { ...authScaffold(environment), name: 'users' }
  const named = { ...withSystemFields(definition)[3]!, name: 'name' }
  const fields = [...withSystemFields(definition), named, { ...named, name: 'salary', viewRule: null }]
  const template = {
    subject: '{APP_NAME}: <{RECORD:name}> {RECORD:tokenKey} {RECORD:salary}',
    body: '<p>{RECORD:name}</p><p><a class="btn" href="{APP_URL}/x/{TOKEN}">Verify &amp; go</a></p>{RECORD:id} {NOPE} {RECORD:verified}',
  }
  const { html, subject, text } = mailOf({
    to: 'ann@example.com',
    template,
    meta: { ...DEFAULT_SETTINGS.meta, appURL: 'http://x.test/?a=1&b="' },
    definition: { ...definition, fields },
    record: { _id: 'ann', name: '<b>{TOKEN}</b>', tokenKey: 'secret', salary: 'secret', verified: true },
    values: { TOKEN: 'the.token' },
  })
  expect(subject).toBe('Acme: <<b>{TOKEN}</b>> {RECORD:tokenKey} {RECORD:salary}')
  expect(html).toContain('<p>&lt;b&gt;{TOKEN}&lt;/b&gt;</p>')
  expect(html).toContain('href="http://x.test/?a=1&amp;b=&#34;/x/the.token"')
  expect(html).toContain('ann {NOPE} true')
  expect(text).toBe('<b>{TOKEN}</b>\n\nVerify & go: http://x.test/?a=1&b="/x/the.token\n\nann {NOPE} true')
})

test('a mail that the server refuses for now arrives later, once', async () => {
  let left = 2
  server.refuse = () => (left-- > 0 ? smtpError(451, 'busy') : undefined)
  await mails.queue(mailTo('ann@example.com', { about: 'x' }))
  await environment.idle()
  expect(server.mails.length).toBe(0)
  // After 5 seconds, and after 30 more.
  await environment.advance(36_999)
  expect(server.mails.length).toBe(1)
  await environment.advance(HOUR_MS)
  expect([server.mails.length, await stored(), outcomes]).toEqual([1, 0, [['x', 'sent']]])
  expect(logs.map(({ level, data }) => [level, data?.['to']])).toEqual([
    [4, 'ann@example.com'],
    [4, 'ann@example.com'],
  ])
})

test('a mail that the server refuses for good is in the log, with its text', async () => {
  server.refuse = () => smtpError(550, 'no such user')
  await mails.queue(mailTo('nobody@example.com', { about: 'x' }))
  await environment.idle()
  expect([await stored(), outcomes]).toEqual([0, [['x', 'failed']]])
  expect(logs).toMatchObject([{ level: 8, data: { to: 'nobody@example.com', text: 'Hello' } }])
  expect(String(logs[0]!.data!['error'])).toContain('no such user')
})

test('mails wait while no server answers, also over a restart', async () => {
  const { port } = server
  await server[Symbol.asyncDispose]()
  for (const name of ['ann', 'bob', 'carol']) await mails.queue(mailTo(`${name}@example.com`))
  await environment.idle()
  expect(logs.length).toBe(3)
  await mails.close()
  expect(await stored()).toBe(3)
  server = await MailServer.start()
  expect(server.port).not.toBe(port)
  await settings.update(SYSTEM, server.settings as never)
  await start()
  await environment.idle()
  expect(server.mails.map(({ recipients }) => recipients.join(',')).toSorted()).toEqual([
    'ann@example.com',
    'bob@example.com',
    'carol@example.com',
  ])
  expect(await stored()).toBe(0)
})

test('a connection that ends after the content is not tried again, as the server may have the mail', async () => {
  let contents = 0
  const dying = createServer((socket) => {
    socket.write('220 here\r\n')
    let content: string | undefined
    socket.on('data', (data) => {
      if (content !== undefined) {
        content += data.toString()
        if (!content.endsWith('\r\n.\r\n')) return
        contents++
        socket.destroy()
      } else if (data.toString().startsWith('DATA')) {
        content = ''
        socket.write('354 go on\r\n')
      } else socket.write('250 yes\r\n')
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => dying.listen(0, '127.0.0.1', resolve))
  const { port } = dying.address() as AddressInfo
  await settings.update(SYSTEM, { smtp: { port } })
  await mails.queue(mailTo('ann@example.com', { about: 'x' }))
  await environment.idle()
  await environment.advance(HOUR_MS)
  expect([contents, await stored(), outcomes]).toEqual([1, 0, [['x', 'unknown']]])
  expect(logs).toMatchObject([{ level: 8, data: { to: 'ann@example.com', text: 'Hello' } }])
  dying.close()
})

test('a mail that was being sent when the process ended is not sent again, but logged', async () => {
  await mails.close()
  await database.collection('$mails').insert({ ...mailTo('ann@example.com', { about: 'x' }), tries: 0, isMarked: true })
  await start()
  await environment.idle()
  expect([server.mails.length, await stored(), outcomes]).toEqual([0, 0, [['x', 'unknown']]])
  expect(logs).toMatchObject([{ level: 8, message: expect.stringContaining('may have been sent') as string }])
})

test('an expired mail is not sent', async () => {
  server.refuse = () => smtpError(451, 'busy')
  await mails.queue(mailTo('ann@example.com', { about: 'x' }))
  await environment.idle()
  server.refuse = () => undefined
  environment.jump(HOUR_MS)
  await environment.advance(10_000)
  expect([server.mails.length, await stored(), outcomes]).toEqual([0, 0, [['x', 'failed']]])
})

test('many mails to one address do not hold up one to another', async () => {
  const queued = Promise.withResolvers<undefined>()
  server.refuse = () => queued.promise
  await Promise.all(Array.from({ length: 60 }, () => mails.queue(mailTo('flooded@example.com'))))
  await mails.queue(mailTo('ann@example.com'))
  queued.resolve(undefined)
  await environment.idle()
  const place = server.mails.findIndex(({ recipients }) => recipients[0] === 'ann@example.com')
  expect(server.mails.length).toBe(61)
  expect(place).toBeLessThan(40)
})

test('without an SMTP server the log has the mail, and a decoy is nowhere', async () => {
  await settings.update(SYSTEM, { smtp: { enabled: false } })
  await mails.queue(mailTo('ann@example.com', { about: 'x' }))
  await mails.queue(mailTo('nobody@example.com', { isDecoy: true }))
  await environment.idle()
  expect(logs.map(({ data }) => data)).toEqual([
    { type: 'mail', to: 'ann@example.com', subject: 'To ann@example.com', text: 'Hello' },
  ])
  expect([server.mails.length, await stored(), outcomes]).toEqual([0, 0, []])
})

test('a server that wants a login gets it, and a wrong password is tried again later', async () => {
  const strict = await MailServer.start({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password, method }, _session, done) =>
      password === 'right' ? done(null, { user: `${username} ${method}` }) : done(new Error('wrong')),
  })
  const login = (password: string, authMethod = ''): object => ({
    smtp: { ...(strict.settings.smtp as object), username: 'root', password, authMethod },
  })
  await settings.update(SYSTEM, login('wrong') as never)
  await mails.queue(mailTo('ann@example.com'))
  await environment.idle()
  expect(logs.length).toBe(1)
  await settings.update(SYSTEM, login('right', 'LOGIN') as never)
  await environment.advance(60_000)
  await strict.received(1)
  await settings.update(SYSTEM, login('right', 'PLAIN') as never)
  await mails.sendNow(mailTo('bob@example.com') as Mail)
  expect(strict.mails.length).toBe(2)
  await environment.idle()
  await strict[Symbol.asyncDispose]()
})

test('a server that hangs does not hold up the end, and its mail is sent by the next start', async () => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  await settings.update(SYSTEM, { smtp: { port: (silent.address() as AddressInfo).port } })
  const connected = new Promise<void>((resolve) => silent.once('connection', () => resolve()))
  await mails.queue(mailTo('ann@example.com'))
  await connected
  await mails.close()
  silent.close()
  await settings.update(SYSTEM, server.settings as never)
  await start()
  await server.received(1)
  await environment.idle()
  expect(await stored()).toBe(0)
})
