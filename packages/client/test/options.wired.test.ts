/** Goal: a misspelt option of any call is named, and a signal ends each wait. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { connect } from '../src/index.ts'
import { runReport } from '../src/report.ts'
import { AppServer, type User } from './app-server.ts'
import { Device, type AppClient } from './device.ts'

type Misspelt = Record<string, unknown>

const clock = virtualEnvironment()
let app: AppServer
let ann: User
let client: AppClient
let task: string

beforeAll(async () => {
  app = await AppServer.start(clock)
  ann = await app.addUser('ann')
  client = await new Device(app).openAs(ann)
  const project = await app.add('projects', { name: 'house', members: [ann.id] })
  task = await app.add('tasks', { title: 'roof', project })
  await client.sync()
})
afterAll(async () => {
  app.before = async () => {}
  await client.close()
  await app[Symbol.asyncDispose]()
})

const nothing = { id: 'a', collectionName: 'tasks' }
const CALLS: readonly (readonly [name: string, option: string, call: (options: Misspelt) => unknown])[] = [
  ['connect()', 'colections', (more) => connect(app.url, { collections: ['tasks'], storage: memory(), ...more })],
  ['connect(): collections.tasks', 'filtr', (more) => connect(app.url, { collections: { tasks: more } })],
  ['sync()', 'signl', (options) => client.sync(options)],
  ['file()', 'signl', (options) => client.file(nothing, 'a.txt', options)],
  ['signOut()', 'dat', (options) => client.signOut(options)],
  ['update()', 'overwrit', (options) => client.collection('tasks').update(task, {}, options)],
  ['delete()', 'overwrit', (options) => client.collection('tasks').delete(task, options)],
  ['password()', 'mfaID', (options) => client.signIn.password('users', 'ann', 'secret', options)],
  ['oneTimePassword()', 'mfaID', (options) => client.signIn.oneTimePassword('users', 'otp', '1', options)],
  ['oauth2()', 'createdata', (options) => client.signIn.oauth2('users', 'oidc', options)],
  ['passkey()', 'mfaID', (options) => client.signIn.passkey('users', options)],
  ['addPasskey()', 'signl', (options) => client.signIn.addPasskey('phone', options)],
  ['runReport()', 'parameter', (options) => runReport(app.url, 'twice', options)],
]

test.each(CALLS)('%s names an option %s that it does not know', async (name, option, call) => {
  const error = await (async () => call({ [option]: 'x' }))().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).toMatch(new RegExp(`^TypeError: ${name.replaceAll(/[().]/g, '\\$&')}: .*got '${option}'`))
})

test('signOut() does not take another word for wipe', async () => {
  await expect(client.signOut({ data: 'Wipe' as 'wipe' })).rejects.toThrow(/data must be 'keep' or 'wipe', got 'Wipe'/)
})

const WAITS: readonly (readonly [name: string, call: (signal: AbortSignal) => Promise<unknown>])[] = [
  ['sync()', (signal) => client.sync({ signal })],
  ['file()', (signal) => client.file(nothing, 'a.txt', { signal })],
  ['oauth2()', (signal) => client.signIn.oauth2('users', 'oidc', { signal, open: () => {} })],
  ['runReport()', (signal) => runReport(app.url, 'twice', { signal })],
]

test.each(WAITS)('%s ends with its signal, whatever it waits for', async (_name, call) => {
  const reason = new Error('the user has left')
  const aborted = { code: 'PANNIER_ABORTED', cause: reason }
  await expect(call(AbortSignal.abort(reason))).rejects.toMatchObject(aborted)
  const come = Promise.withResolvers<void>()
  app.before = (): Promise<never> => {
    come.resolve()
    return new Promise(() => {})
  }
  const controller = new AbortController()
  const called = call(controller.signal)
  called.catch(() => {})
  await come.promise
  controller.abort(reason)
  await expect(called).rejects.toMatchObject(aborted)
  app.before = async () => {}
})
