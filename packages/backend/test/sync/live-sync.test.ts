/** Goal: a session gets a signal when a pull would bring something, and never of what is not for it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { LiveWorld, PASSWORD, type LiveClient } from '../events/live-world.ts'

const ANN = 'ann000000000000'
const BOB = 'bob000000000000'
const HERS = 'hers00000000000'
const HIS = 'his000000000000'

let world: LiveWorld
let ann: Principal
let bob: Principal

beforeEach(async () => {
  world = await LiveWorld.open([
    {
      id: 'pbc_projects',
      name: 'projects',
      listRule: 'members.id ?= @request.auth.id',
      fields: [
        { name: 'members', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 9 },
        { name: 'title', type: 'text' },
      ],
    },
    {
      name: 'tasks',
      listRule: 'project.members.id ?= @request.auth.id',
      fields: [
        { name: 'title', type: 'text' },
        { name: 'project', type: 'relation', collectionId: 'pbc_projects' },
      ],
    },
    { name: 'news', listRule: '', fields: [{ name: 'title', type: 'text' }] },
    { name: 'locked', fields: [] },
    {
      name: 'posts',
      listRule: "owner = '' || owner = @request.auth.id",
      fields: [
        { name: 'pay', type: 'number', viewRule: 'project.members.id ?= @request.auth.id' },
        { name: 'owner', type: 'text' },
        { name: 'project', type: 'relation', collectionId: 'pbc_projects' },
      ],
    },
  ])
  ann = await world.account('users', ANN)
  bob = await world.account('users', BOB)
  await world.create('projects', { id: HERS, members: [ANN] })
  await world.create('projects', { id: HIS, members: [BOB] })
})
afterEach(() => world[Symbol.asyncDispose]())

async function session(principal: Principal, ...topics: readonly string[]): Promise<LiveClient> {
  const client = world.connect()
  await client.subscribeAs(principal, ...topics)
  return client
}

/** The topics that sessions got signals of, since the last call. */
async function told(...clients: readonly LiveClient[]): Promise<string[]> {
  await world.settled()
  return clients.map(({ got }) =>
    got
      .splice(0)
      .map(({ topic, data }) => `${topic}${JSON.stringify(data)}`)
      .toSorted()
      .join(' '),
  )
}

test('a record is signalled to those who see it before or after', async () => {
  const both = [await session(ann, '@sync/tasks'), await session(bob, '@sync/tasks')] as const
  await world.create('tasks', { id: 'task00000000000', project: HERS })
  expect(await told(...both)).toEqual(['@sync/tasks{}', ''])
  await world.update('tasks', 'task00000000000', { title: 'a' })
  expect(await told(...both)).toEqual(['@sync/tasks{}', ''])
  await world.update('tasks', 'task00000000000', { project: HIS })
  expect(await told(...both)).toEqual(['@sync/tasks{}', '@sync/tasks{}'])
  await world.update('tasks', 'task00000000000', { title: 'b' })
  expect(await told(...both)).toEqual(['', '@sync/tasks{}'])
  await world.delete('tasks', 'task00000000000')
  expect(await told(...both)).toEqual(['', '@sync/tasks{}'])
})

test('a member who comes or goes is signalled what the project has', async () => {
  await world.create('tasks', { project: HERS })
  const both = [await session(ann, '@sync/tasks'), await session(bob, '@sync/tasks', '@sync/projects')] as const
  await world.update('projects', HERS, { 'members+': BOB })
  expect(await told(...both)).toEqual(['', '@sync/projects{} @sync/tasks{}'])
  await world.update('projects', HERS, { 'members-': ANN })
  expect(await told(...both)).toEqual(['@sync/tasks{}', '@sync/projects{}'])
  await world.update('projects', HERS, { title: 'a' })
  expect(await told(...both)).toEqual(['', '@sync/projects{}'])
})

test('those who see a record are signalled when other fields of it are shown, and nobody else', async () => {
  await world.create('posts', { project: HERS })
  await world.create('posts', { project: HIS, owner: ANN })
  const both = [await session(ann, '@sync/posts'), await session(bob, '@sync/posts')] as const
  await world.update('projects', HERS, { 'members+': BOB })
  expect(await told(...both)).toEqual(['', '@sync/posts{}'])
  await world.update('projects', HERS, { 'members-': [ANN, BOB] })
  expect(await told(...both)).toEqual(['@sync/posts{}', '@sync/posts{}'])
  // He does not see the record. Another field of it would be shown.
  await world.update('projects', HIS, { 'members-': BOB })
  expect(await told(...both)).toEqual(['', ''])
})

test('who has subscribed under several topics or in several sessions gets signals in each', async () => {
  const topics = ['@sync/tasks', '@sync/tasks?options={}']
  const sessions = [await session(ann, ...topics), await session(ann, '@sync/tasks')]
  await world.create('tasks', { project: HERS })
  expect(await told(...sessions)).toEqual(['@sync/tasks?options={}{} @sync/tasks{}', '@sync/tasks{}'])
  world.backend.realtime.disconnect(sessions[0]!.subscriber)
  await world.create('tasks', { project: HERS })
  expect(await told(...sessions)).toEqual(['', '@sync/tasks{}'])
})

test('who may not pull gets no signal', async () => {
  const topics = ['@sync/tasks', '@sync/locked', '@sync/nothing', '@sync/news']
  const sessions = [await session(SYSTEM, ...topics), await session(GUEST, ...topics), await session(ann, ...topics)]
  for (const name of ['tasks', 'locked', 'news']) await world.create(name, { project: HIS })
  expect(await told(...sessions)).toEqual(['', '@sync/news{}', '@sync/news{}'])
})

test('other rules are signalled to all', async () => {
  const both = [await session(ann, '@sync/tasks', '@sync/news'), await session(bob, '@sync/tasks')] as const
  await world.backend.definitions.update(SYSTEM, 'tasks', { listRule: "@request.auth.id != ''" })
  expect(await told(...both)).toEqual(['@sync/tasks{}', '@sync/tasks{}'])
  await world.create('tasks', { project: HIS })
  expect(await told(...both)).toEqual(['@sync/tasks{}', '@sync/tasks{}'])
  await world.backend.definitions.update(SYSTEM, 'tasks', { listRule: null })
  expect(await told(...both)).toEqual(['@sync/tasks{}', '@sync/tasks{}'])
  await world.create('tasks', { project: HIS })
  expect(await told(...both)).toEqual(['', ''])
})

test('an account that changes stays subscribed; one whose token has ended gets a signal, and is a guest', async () => {
  const [hers, his] = [await session(ann, '@sync/tasks', '@sync/news'), await session(bob, '@sync/tasks')]
  await world.update('users', ANN, { name: 'Ann' })
  expect(await told(hers, his)).toEqual(['', ''])
  await world.create('tasks', { project: HERS })
  expect(await told(hers, his)).toEqual(['@sync/tasks{}', ''])
  await world.update('users', ANN, { password: `${PASSWORD}!`, passwordConfirm: `${PASSWORD}!` })
  expect(await told(hers, his)).toEqual(['@sync/news{} @sync/tasks{}', ''])
  await world.create('tasks', { project: HERS })
  await world.create('news', {})
  expect(await told(hers, his)).toEqual(['@sync/news{}', ''])
})
