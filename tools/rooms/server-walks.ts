/**
 * Requests to a server on a file, in this process: a collection with rules, one hook, one subscriber of realtime, and a device that
 * syncs. The device keeps its records in memory.
 */
import { SYSTEM, type Actor } from '@pannier/backend'
import { connect } from '@pannier/client'
import { createServer } from '@pannier/server'
import { memory } from 'pannier/memory'
import { makeFolder } from '../processes.ts'
import type { Walks } from './walks.ts'

type Json = Record<string, unknown>

const next = ({ next }: { next(): unknown }): unknown => next()

interface App {
  /** Creates a record by REST, and waits until the subscriber has it. */
  readonly create: () => Promise<unknown>
  readonly login: () => Promise<unknown>
  /** Creates a record on the device, and syncs. */
  readonly push: () => Promise<void>
}

const ACCOUNT = { email: 'ann@example.com', password: 'a long password', passwordConfirm: 'a long password' }
const ITSELF: Actor = { principal: SYSTEM, request: { context: 'default', method: 'POST', query: {}, headers: {} } }
const OWN = 'author = @request.auth.id'
const POSTS = {
  name: 'posts',
  type: 'base',
  listRule: `${OWN} || title ~ "news"`,
  viewRule: `${OWN} || title ~ "news"`,
  createRule: OWN,
  updateRule: OWN,
  deleteRule: OWN,
  fields: [
    { name: 'title', type: 'text', required: true, max: 100 },
    { name: 'author', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 1 },
    { name: 'created', type: 'autodate', onCreate: true },
    { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
  ],
}

export const SERVER: Walks<App> = {
  open: openApp,
  walks: {
    create: { bar: [110, 500], run: (app) => app.create() },
    login: { bar: [100, 450], run: (app) => app.login() },
    push: { bar: [180, 1100], run: (app) => app.push() },
  },
}

async function openApp(): Promise<App> {
  const server = await createServer({ dir: makeFolder('rooms-server'), logger: false })
  const url = await server.listen({ port: 0 })
  const { definitions, records, hooks } = server.backend
  await definitions.create(SYSTEM, POSTS)
  const { id: author } = await records.create(ITSELF, 'users', ACCOUNT)
  hooks.replace([{ name: 'onRecordCreate', handler: next, tags: ['posts'], source: 'rooms.ts' }])
  const send = async (path: string, body: object, token = ''): Promise<Json> => {
    const headers = { 'content-type': 'application/json', ...(token !== '' && { authorization: token }) }
    const answer = await fetch(`${url}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.status === 204 ? {} : ((await answer.json()) as Json)
  }
  const login = (): Promise<Json> =>
    send('collections/users/auth-with-password', { identity: ACCOUNT.email, password: ACCOUNT.password })
  const token = String((await login())['token'])
  const heard = await subscribe(url, (clientId) => send('realtime', { clientId, subscriptions: ['posts/*'] }, token))
  const client = await connect(url, { collections: ['posts'], storage: memory(), name: 'rooms', live: false })
  await client.signIn.password('users', ACCOUNT.email, ACCOUNT.password)
  await client.sync()
  let made = 0
  const post = (): Json => ({ title: `post ${made++}`, author })
  return {
    create: async () => {
      await send('collections/posts/records', post(), token)
      await heard()
    },
    login,
    push: async () => {
      await client.collection('posts').create(post())
      await client.sync()
      await heard()
    },
  }
}

/** Connects to realtime. The result waits for the next message. */
async function subscribe(url: string, choose: (clientId: string) => Promise<unknown>): Promise<() => Promise<void>> {
  const { body } = await fetch(`${url}/api/realtime`)
  const messages = body!.pipeThrough(new TextDecoderStream()).getReader()
  const { value: first = '' } = await messages.read()
  await choose(/"clientId":"([^"]+)"/.exec(first)![1]!)
  return async () => void (await messages.read())
}
