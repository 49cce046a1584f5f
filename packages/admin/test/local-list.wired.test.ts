/** Goal: a list of the records on a device is the list of the server, for each filter and order that a device can answer. */
import { connect, type Client, type UntypedCollections } from '@pannier/client'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRest, type RestServer } from '../../server/test/rest/rest-server.ts'
import type { Collection } from '../src/api/collections.ts'
import type { ApiError } from '../src/api/request.ts'
import { collections } from '../src/state/collections.ts'
import { LocalLists } from '../src/state/device/local-list.ts'

const clock = virtualEnvironment()
const TASKS = 60
const PER_PAGE = 25

let server: RestServer
let client: Client<UntypedCollections>
let lists: LocalLists

beforeAll(async () => {
  server = await startRest({ environment: clock })
  const made = await server.call('POST /collections', {
    name: 'projects',
    type: 'base',
    fields: [{ name: 'title', type: 'text', presentable: true }],
  })
  await server.call('POST /collections', { name: 'elsewhere', type: 'base', fields: [{ name: 'key', type: 'text' }] })
  await server.call('POST /collections', {
    name: 'tasks',
    type: 'base',
    fields: [
      { name: 'title', type: 'text', searchable: true },
      { name: 'secret', type: 'text', hidden: true },
      { name: 'count', type: 'number' },
      { name: 'done', type: 'bool' },
      { name: 'tags', type: 'select', values: ['a', 'b', 'c'], maxSelect: 3 },
      { name: 'extra', type: 'json' },
      { name: 'project', type: 'relation', collectionId: made.json['id'] },
      { name: 'created', type: 'autodate', onCreate: true },
    ],
  })
  const projects: unknown[] = []
  for (const title of ['House', 'garden', 'Über'])
    projects.push((await server.call('POST /collections/projects/records', { title })).json['id'])
  for (let at = 0; at < TASKS; at++) {
    // Each has a time of its own.
    await clock.advance(1)
    await server.call('POST /collections/tasks/records', {
      title: ['roof', 'Wall', 'ärgern', '', 'roof 2'][at % 5],
      secret: at % 4 === 0 ? 'yes' : 'no',
      count: (at * 7) % 11,
      done: at % 3 === 0,
      tags: ['a', 'b', 'c'].filter((_, tag) => (at + tag) % 2 === 0),
      extra: at % 2 === 0 ? { at } : null,
      project: at % 4 === 3 ? '' : projects[at % 3],
    })
  }
  client = await connect(server.url, {
    collections: ['tasks', 'projects'],
    storage: memory(),
    live: false,
    environment: clock,
  })
  await client.signIn.token('_superusers', server.token)
  await client.sync()
  const { json } = await server.call('GET /collections?perPage=200')
  collections.set({ status: 'ready', list: json['items'] as unknown as readonly Collection[] })
  lists = new LocalLists(clock, client, { tasks: '', projects: '' })
})
afterAll(async () => {
  await client.close()
  await server.close()
})

const FILTERS = [
  '',
  'count > 3 && done = true',
  "title ~ 'ROOF'",
  "title != ''",
  "secret = 'yes' || count = 0",
  "tags ?= 'a' && tags:length > 1",
  "tags = 'b'",
  'extra.at > 10',
  "project.title = 'House'",
  "project.title ~ 'g' && count < 9",
  "project = ''",
  "created > '2020-01-01' && created <= @now",
  "@collection.projects.title ?= 'House' && count = 1",
]
const SORTS = ['-@rowid', '@rowid', 'title', '-count', '-done,title', 'project.title', '-created', 'id', '-id']

test.each(FILTERS)('the list of filter "%s" is that of the server, in each order', async (filter) => {
  for (const sort of SORTS) {
    // Without ties, as their order is nobody's.
    const order = sort.includes('id') ? sort : `${sort},id`
    for (const page of [1, 2]) {
      const query = { page, perPage: PER_PAGE, filter, sort: order }
      const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
      const { json, text } = await server.call(`GET /collections/tasks/records?${search.toString()}`)
      const there = (json['items'] as { id: string }[] | undefined)?.map(({ id }) => id)
      const { items, totalItems } = await lists.page('tasks', query)
      expect([sort, items.map(({ id }) => id), totalItems]).toEqual([sort, there ?? text, json['totalItems']])
    }
  }
})

test('rows have what REST shows to superusers, and what their relations lead to', async () => {
  const query = {
    page: 1,
    perPage: 1,
    filter: "project.title = 'House' && secret = 'yes'",
    sort: 'id',
    expand: 'project',
  }
  const [row] = (await lists.page('tasks', query)).items
  expect(row).toMatchObject({ collectionName: 'tasks', secret: 'yes', expand: { project: [{ title: 'House' }] } })
})

test.each(["search('roof')", "@collection.elsewhere.key ?= 'a'"])('%s is refused in words', async (filter) => {
  const refused = lists.page('tasks', { page: 1, perPage: 10, filter })
  await expect(refused).rejects.toSatisfy(
    (error: ApiError) => error.status === 400 && /not on this device/.test(error.message),
  )
})

test('what a collection leads to is not answered by a part of it', async () => {
  const ofPart = new LocalLists(clock, client, { tasks: '', projects: "title = 'House'" })
  const query = { page: 1, perPage: 10, filter: "project.title = 'garden'", sort: 'id' }
  await expect(ofPart.page('tasks', query)).rejects.toMatchObject({ status: 400 })
  const sorted = { page: 1, perPage: 10, filter: '', sort: 'project.title' }
  await expect(ofPart.page('tasks', sorted)).rejects.toMatchObject({ status: 400 })
})

test('a wrong filter is refused as the server refuses it', async () => {
  await expect(lists.page('tasks', { page: 1, perPage: 10, filter: 'nothing = 1' })).rejects.toMatchObject({
    status: 400,
  })
})

test('a write on the device makes the list another one', async () => {
  const query = { page: 1, perPage: 10, filter: "title = 'new one'", sort: 'title' }
  expect((await lists.page('tasks', query)).totalItems).toBe(0)
  const { id } = await client.collection('tasks').create({ title: 'new one' })
  expect((await lists.page('tasks', query)).items.map((row) => row.id)).toEqual([id])
  const newest = { page: 1, perPage: 1, filter: '', sort: '-@rowid' }
  expect((await lists.page('tasks', newest)).items.map((row) => row.id)).toEqual([id])
  await client.collection('tasks').update(String(id), { title: 'another' })
  expect((await lists.page('tasks', query)).totalItems).toBe(0)
  const all = { page: 1, perPage: 100, filter: '', sort: 'title,id' }
  const before = (await lists.page('tasks', all)).items.map((row) => row.id)
  await client.collection('tasks').update(String(id), { title: 'zz' })
  const after = (await lists.page('tasks', all)).items.map((row) => row.id)
  // It is taken in at the place that a walk would give it.
  expect(after).not.toEqual(before)
  const walked = new LocalLists(clock, client, { tasks: '', projects: '' })
  expect(after).toEqual((await walked.page('tasks', all)).items.map((row) => row.id))
  const joined = { page: 1, perPage: 10, filter: "project.title = 'Shed'", sort: 'id' }
  expect((await lists.page('tasks', joined)).totalItems).toBe(0)
  const [house] = (await lists.page('projects', { page: 1, perPage: 1, filter: "title = 'House'" })).items
  await client.collection('projects').update(house!.id, { title: 'Shed' })
  expect((await lists.page('tasks', joined)).totalItems).toBeGreaterThan(0)
  await client.collection('tasks').delete(String(id))
  expect((await lists.page('tasks', all)).totalItems).toBe(before.length - 1)
})
