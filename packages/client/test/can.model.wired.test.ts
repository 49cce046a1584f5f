/**
 * Goal: what `can()` answers is what the server says, and what it can't know it does not answer.
 * Method: random rules and records. Devices with different parts of the data are asked, also with writes that wait. Then the write is
 * done, and the server judges it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../db/testing/random.ts'
import type { Values, Write } from '../src/index.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, type AppClient } from './device.ts'

const ROUNDS = 8
const QUESTIONS = 12

/** What a device may answer, and what it can't. */
const CONDITIONS = [
  'owner = @request.auth.id',
  'owner != @request.auth.id',
  'project.members.id ?= @request.auth.id',
  'project.members.id = @request.auth.id',
  'project.team.name = "red"',
  '@request.auth.role = "admin"',
  '@request.auth.role != "admin"',
  '@request.auth.team.name = "red"',
  '@request.auth.team.people_via_team.role ?= "admin"',
  '@request.auth.id != ""',
  '@request.auth.verified = true',
  '@request.auth.secret = "no"',
  'status = "open"',
  'status != "shut" && count > 3',
  'count = 2',
  'tags:length > 1',
  'tags:each = "a"',
  'tags:each ?= "b"',
  'tags ~ "c"',
  'secret = "no"',
  'code = "1234"',
  'title ~ "x"',
  'parent = ""',
  'parent.owner = @request.auth.id',
  'parent.project.members.id ?= @request.auth.id',
  'jobs_via_parent.status ?= "open"',
  'jobs_via_parent.count < 4',
  '@request.body.status = "open"',
  '@request.body.status:isset = false',
  '@request.body.count > 3',
  '@request.body.count:changed = false',
  '@request.body.project.team.name = "red"',
  '@request.body.tags:length > 1',
  '@request.body.tags:each = "a"',
  '@request.body.owner = @request.auth.id',
  '@collection.boards.members.id ?= @request.auth.id && @collection.boards.id ?= project',
  '@collection.teams.name ?= title',
  '@collection.people.role ?= "admin"',
  '@request.headers.host = ""',
  '@now > created',
  'project.secret = "no"',
]
const LIST_RULES = ['', 'owner = @request.auth.id', 'project.members.id ?= @request.auth.id', 'count < 5']
const DECLARED = [['jobs', 'boards', 'teams'], ['jobs', 'boards'], ['jobs']]

let app: AppServer
let users: (User | undefined)[]

beforeAll(async () => {
  app = await AppServer.start()
  const define = async (name: string, fields: readonly object[], more: object = {}): Promise<string> => {
    const { status, text, json } = await app.call('POST /collections', {
      name,
      type: 'base',
      fields,
      listRule: '',
      ...more,
    })
    if (status !== 200) throw new Error(text)
    return String(json['id'])
  }
  const relation = (name: string, collectionId: string, maxSelect = 1): object => ({
    name,
    type: 'relation',
    collectionId,
    maxSelect,
  })
  const secret = { name: 'secret', type: 'text', hidden: true }
  const teams = await define('teams', [{ name: 'name', type: 'text' }])
  const role = { name: 'role', type: 'select', values: ['admin', 'guest'], maxSelect: 1 }
  const people = await define('people', [role, relation('team', teams), secret], {
    type: 'auth',
    createRule: '',
    listRule: '@request.auth.role = "admin"',
  })
  const boards = await define('boards', [relation('members', people, 9), relation('team', teams), secret])
  const jobs = await define('jobs', [
    { name: 'title', type: 'text' },
    { name: 'count', type: 'number' },
    { name: 'status', type: 'select', values: ['open', 'shut'], maxSelect: 1 },
    { name: 'tags', type: 'select', values: ['a', 'b', 'c'], maxSelect: 3 },
    { name: 'code', type: 'text' },
    secret,
    { name: 'created', type: 'autodate', onCreate: true },
    relation('owner', people),
    relation('project', boards),
  ])
  const { json } = await app.call('GET /collections/jobs')
  const fields = [...(json['fields'] as object[]), relation('parent', jobs)]
  expect((await app.call('PATCH /collections/jobs', { fields })).status).toBe(200)
  users = [undefined]
  for (const name of ['ann', 'ben']) {
    const email = `${name}@people.org`
    const account = {
      email,
      password: USER_PASSWORD,
      passwordConfirm: USER_PASSWORD,
      role: name === 'ann' ? 'admin' : 'guest',
    }
    users.push({ id: await app.add('people', account), email })
  }
})
afterAll(() => app[Symbol.asyncDispose]())

/** Not the write itself, which can be awaited. */
type Written = Pick<Write<unknown>, 'server'>

class World {
  readonly #random: Random
  readonly #ids: Record<'teams' | 'boards' | 'jobs', string[]> = { teams: [], boards: [], jobs: [] }
  readonly answers = { yes: 0, no: 0, unknown: 0 }

  constructor(random: Random) {
    this.#random = random
  }

  async run(): Promise<void> {
    for (const collection of ['jobs', 'boards', 'teams']) {
      const { json } = await app.call(`GET /collections/${collection}/records?perPage=1000`)
      for (const { id } of json['items'] as { id: string }[])
        await app.call(`DELETE /collections/${collection}/records/${id}`)
    }
    for (const name of ['red', 'blue']) this.#ids.teams.push(await app.add('teams', { name }))
    for (let n = 0; n < 3; n++) this.#ids.boards.push(await app.add('boards', this.#board()))
    for (let n = 0; n < 8; n++) this.#ids.jobs.push(await app.add('jobs', this.#job()))
    for (let round = 0; round < ROUNDS; round++) await this.#round()
  }

  async #round(): Promise<void> {
    const { pick, chance } = this.#random
    const rules = Object.fromEntries(['create', 'update', 'delete'].map((action) => [`${action}Rule`, this.#rule()]))
    const changed = await app.call('PATCH /collections/jobs', { listRule: pick(LIST_RULES), ...rules })
    expect([changed.status, changed.text]).toEqual([200, expect.anything()])
    await app.call(`PATCH /collections/boards/records/${pick(this.#ids.boards)}`, this.#board())
    const user = pick(users)
    if (user !== undefined && chance(0.5)) {
      const person = { role: pick(['admin', 'guest', '']), team: pick(['', ...this.#ids.teams]), verified: chance(0.5) }
      await app.call(`PATCH /collections/people/records/${user.id}`, person)
    }
    const client = await new Device(app).open({ collections: pick(DECLARED) })
    if (user !== undefined) await client.signIn.password('people', user.email, USER_PASSWORD)
    for (let n = 0; n < QUESTIONS; n++) await this.#question(client, rules)
    await client.close()
  }

  async #question(client: AppClient, rules: object): Promise<void> {
    const { pick, chance } = this.#random
    await client.sync()
    const jobs = client.collection('jobs')
    const before = chance(0.3) ? await this.#write(client, this.#job(), pick(['create', 'update'])) : undefined
    const action = pick(['create', 'update', 'delete'] as const)
    const here = await jobs.find().toArray()
    const job = this.#job()
    const target = here.length === 0 ? undefined : String(pick(here)['id'])
    if (action !== 'create' && target === undefined) return
    const answer =
      action === 'create'
        ? await jobs.can('create', job)
        : action === 'update'
          ? await jobs.can('update', target!, job)
          : await jobs.can('delete', target!)
    const write = (await this.#write(client, job, action, target))!
    await client.sync()
    if ((await before?.server)?.status === 'rejected') return
    const said = await write.server
    // What a field refuses, such as a relation to what is gone, the rule has admitted.
    const isAdmitted = said.status === 'ok' || Object.keys(said.rejected.data).length > 0
    this.answers[answer === undefined ? 'unknown' : answer ? 'yes' : 'no']++
    if (answer !== undefined && answer !== isAdmitted)
      throw new Error(
        JSON.stringify({ answer, said, action, rules, job, target, of: client.account?.id }, undefined, 2),
      )
    for (const rejected of await client.rejected()) await rejected.discard()
  }

  /** Writes here. What the server says comes later. */
  async #write(client: AppClient, job: Values, action: string, target?: string): Promise<Written | undefined> {
    const jobs = client.collection('jobs')
    const id = target ?? (await jobs.find().first())?._id ?? ''
    if (id === '' && action !== 'create') return undefined
    const write: Write<unknown> =
      action === 'create' ? jobs.create(job) : action === 'update' ? jobs.update(id, job) : jobs.delete(id)
    await write
    return { server: write.server }
  }

  #rule(): string {
    const { pick, below } = this.#random
    const [first, ...rest] = Array.from({ length: 1 + below(3) }, () => pick(CONDITIONS))
    return rest.reduce((rule, one) => `(${rule}) ${pick(['&&', '||'])} (${one})`, first!)
  }

  #board(): object {
    const { chance, pick } = this.#random
    return {
      members: users.flatMap((user) => (user && chance(0.5) ? [user.id] : [])),
      team: pick(['', ...this.#ids.teams]),
      secret: pick(['no', '']),
    }
  }

  #job(): Values {
    const { chance, pick, below } = this.#random
    const all = {
      title: pick(['x', 'red', '']),
      count: below(6),
      status: pick(['open', 'shut', '']),
      tags: ['a', 'b', 'c'].filter(() => chance(0.4)),
      code: pick(['1234', '']),
      owner: pick(users)?.id ?? '',
      project: pick(['', ...this.#ids.boards]),
      parent: pick(['', '', ...this.#ids.jobs]),
    }
    return Object.fromEntries(Object.entries(all).filter(() => chance(0.6)))
  }
}

test.each(seedsOf('model', 0.4))('seed %i: can() says what the server says', async (seed) => {
  const world = new World(seededRandom(seed))
  await world.run()
  expect(Math.min(...Object.values(world.answers))).toBeGreaterThan(0)
})
