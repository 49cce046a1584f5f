/**
 * Goal: whatever happens on the way, devices come to what REST lists for their users, each write takes place once, and no text and no file
 * is lost. Method: users edit on several devices and tabs, others edit at the server. Answers get lost, sessions are revoked, and the server
 * starts again, also on an older copy of its data. Then all sync, and are compared.
 */
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { seededRandom, type Random } from '../../db/testing/random.ts'
import { ClientError } from '../src/index.ts'
import { AppServer, USER_PASSWORD, type User } from './app-server.ts'
import { Device, seen, type AppClient } from './device.ts'

const STEPS = 120
const LOSS = 0.15

const COLLECTIONS = { projects: {}, tasks: {}, albums: { merge: 'fields' } } as const
const MEMBERS = 'project.members.id ?= @request.auth.id'

/** A device with its tabs. */
interface Place {
  readonly user: User
  readonly device: Device
  readonly tabs: AppClient[]
}

class World {
  readonly #random: Random
  readonly app: AppServer
  readonly users: readonly User[]
  readonly places: Place[] = []
  readonly #projects: string[] = []
  #counter = ''
  #increments = 0
  /** Titles of what was created on devices, by id. */
  readonly #created = new Map<string, string>()
  readonly #deleted = new Set<string>()
  readonly #discarded = new Set<string>()
  #copy: string | undefined
  #next = 0

  private constructor(random: Random, app: AppServer, users: readonly User[]) {
    this.#random = random
    this.app = app
    this.users = users
  }

  static async make(random: Random): Promise<World> {
    const app = await AppServer.start()
    const users = [await app.addUser('ann'), await app.addUser('ben')]
    const world = new World(random, app, users)
    const members = users.map(({ id }) => id)
    await world.#defineAlbums()
    for (let n = 0; n < 3; n++) world.#projects.push(await app.add('projects', { name: `p${n}`, members }))
    const shared = await app.add('projects', { name: 'shared', members })
    world.#counter = await app.add('tasks', { title: 'counter', project: shared })
    for (const [user, tabs] of [
      [users[0]!, 2],
      [users[0]!, 1],
      [users[1]!, 1],
    ] as const) {
      const device = new Device(app)
      const place: Place = { user, device, tabs: [await device.openAs(user, { collections: COLLECTIONS })] }
      while (place.tabs.length < tabs) place.tabs.push(await device.open({ collections: COLLECTIONS }))
      world.places.push(place)
      await place.tabs[0]!.sync()
    }
    const network = random.fork()
    app.lose = () => (network.chance(LOSS) ? network.pick(['request', 'answer'] as const) : undefined)
    return world
  }

  async step(): Promise<void> {
    const { pick, below } = this.#random
    const place = pick(this.places)
    const client = pick(place.tabs)
    const dice = below(100)
    if (dice < 32) await this.#edit(client)
    else if (dice < 45) await this.#editAlbum(client)
    else if (dice < 65) await this.#editAtServer()
    else if (dice < 85) await Promise.all(place.tabs.map((tab) => this.#sync(tab, place)))
    else if (dice < 90) await this.#mend(client)
    else if (dice < 93) await this.#reopen(place)
    else if (dice < 95) await this.#revoke(place.user)
    else if (dice < 97) await this.app.restart()
    else await this.#restore()
  }

  /** All sign in, then all send what waits, then all pull. */
  async settle(): Promise<void> {
    this.app.lose = () => undefined
    for (let round = 0; round < 3; round++)
      for (const place of this.places) for (const tab of place.tabs) await this.#sync(tab, place)
  }

  async check(): Promise<void> {
    const tasks = await this.#stored('tasks')
    const there = new Set([...tasks.keys(), ...(await this.#stored('albums')).keys()])
    const refused = new Set<string>()
    let lost = 0
    for (const { user, tabs } of this.places) {
      for (const tab of tabs) {
        expect([tab.state.status, tab.state.unsent, tab.state.isComplete]).toEqual(['synced', 0, true])
        await this.#checkFiles(tab)
        for (const name of Object.keys(COLLECTIONS))
          expect([name, await seen(tab, name)]).toEqual([name, await this.app.listed(name, user)])
      }
      for (const { writes } of await tabs[0]!.rejected())
        for (const { id, mine } of writes)
          if (id === this.#counter) lost++
          else refused.add(String(mine['title']))
    }
    expect(Number(tasks.get(this.#counter)!['count']) + lost).toBe(this.#increments)
    const missing = [...this.#created].filter(
      ([id, title]) => !there.has(id) && !this.#deleted.has(id) && !refused.has(title) && !this.#discarded.has(title),
    )
    expect(missing).toEqual([])
  }

  async #stored(collection: string): Promise<Map<string, Record<string, unknown>>> {
    const { json } = await this.app.call(`GET /collections/${collection}/records?perPage=1000`)
    return new Map((json['items'] as { id: string }[]).map((record) => [record.id, record]))
  }

  /** Each file has what its name says. */
  async #checkFiles(tab: AppClient): Promise<void> {
    for (const { id, cover, pages } of (await seen(tab, 'albums')).values())
      for (const name of [cover, ...(pages as string[])].filter((one) => one !== '')) {
        const content = await tab.file({ collectionName: 'albums', id: String(id) }, String(name))
        expect(`${await content.text()}_`).toBe(/^file\d+_/.exec(String(name))![0])
      }
  }

  async #defineAlbums(): Promise<void> {
    const projects = await this.app.call('GET /collections/projects')
    const { status, text } = await this.app.call('POST /collections', {
      name: 'albums',
      type: 'base',
      listRule: MEMBERS,
      viewRule: MEMBERS,
      createRule: MEMBERS,
      updateRule: MEMBERS,
      fields: [
        { name: 'title', type: 'text' },
        { name: 'due', type: 'date' },
        { name: 'cover', type: 'file' },
        { name: 'pages', type: 'file', maxSelect: 99 },
        { name: 'project', type: 'relation', collectionId: projects.json['id'] },
      ],
    })
    expect([status, text]).toEqual([200, expect.anything()])
  }

  async close(): Promise<void> {
    for (const { tabs } of this.places) for (const tab of tabs) await tab.close()
    await this.app[Symbol.asyncDispose]()
    if (this.#copy !== undefined) await rm(this.#copy, { recursive: true })
  }

  async #edit(client: AppClient): Promise<void> {
    const { pick, below, chance } = this.#random
    const tasks = client.collection('tasks')
    const known = (await tasks.find({ _id: { $ne: this.#counter } }).toArray()).map(({ _id }) => String(_id))
    const kind = below(10)
    const title = `text ${this.#next++}`
    if (kind < 3 || known.length === 0) {
      const { id } = await tasks.create({ title, project: pick(this.#projects) })
      this.#created.set(id, title)
    } else if (kind < 5) await tasks.update(pick(known), { title }, { overwrite: chance(0.3) })
    else if (kind < 6) await tasks.update(pick(known), { project: pick(this.#projects), 'tags+': [pick(['a', 'b'])] })
    else if (kind < 7) {
      const id = pick(known)
      this.#deleted.add(id)
      await tasks.delete(id)
    } else if (kind < 9) {
      if ((await tasks.get(this.#counter)) === undefined) return
      this.#increments++
      await tasks.update(this.#counter, { 'count+': 1 }, { overwrite: true })
    } else
      await client.transaction(async (tx) => {
        const { id } = await tx.collection('tasks').create({ title, project: pick(this.#projects) })
        await tx.collection('tasks').update(id, { 'count+': 2 })
        await tx.collection('tasks').update(pick(known), { count: 7 })
        this.#created.set(id, title)
      })
  }

  /** Files, and values that the server completes. Fields merge. */
  async #editAlbum(client: AppClient): Promise<void> {
    const { pick, below, chance } = this.#random
    const albums = client.collection('albums')
    const known = await albums.find().toArray()
    const file = (): File => {
      const text = `file${this.#next++}`
      return new File([text], `${text}.txt`)
    }
    if (known.length === 0 || chance(0.3)) {
      const title = `album ${this.#next++}`
      const { id } = await albums.create({
        title,
        project: pick(this.#projects),
        cover: file(),
        pages: [file(), file()],
      })
      this.#created.set(id, title)
      return
    }
    const { _id: id, pages } = pick(known)
    const waiting = pages as readonly string[]
    const changes = [
      { title: `text ${this.#next++}` },
      { due: `2026-01-0${1 + below(9)}` },
      { cover: file() },
      { 'pages+': file() },
      { pages: [...waiting.slice(1), file()] },
      waiting.length > 0 ? { 'pages-': pick([...waiting]) } : { pages: [] },
    ]
    await albums.update(id, pick(changes))
  }

  async #editAtServer(): Promise<void> {
    const { pick, below, chance } = this.#random
    const { json } = await this.app.call('GET /collections/tasks/records?perPage=1000')
    const others = (json['items'] as { id: string }[]).filter(({ id }) => id !== this.#counter)
    const kind = below(3)
    if (kind === 0 || others.length === 0) {
      const members = this.users.filter(() => chance(0.6)).map(({ id }) => id)
      await this.app.call(`PATCH /collections/projects/records/${pick(this.#projects)}`, { members })
    } else {
      const change = kind === 1 ? { count: below(100) } : { locked: chance(0.3) }
      await this.app.call(`PATCH /collections/tasks/records/${pick(others).id}`, change)
    }
  }

  /** What may fail on the way fails with a code; a session that has ended is begun again. */
  async #sync(client: AppClient, { user }: Place): Promise<void> {
    try {
      await client.sync()
    } catch (error) {
      if (!(error instanceof ClientError) || !['PANNIER_PEER_UNREACHABLE', 'PANNIER_SIGNED_OUT'].includes(error.code))
        throw error
      if (error.code === 'PANNIER_SIGNED_OUT') await client.signIn.password('users', user.email, USER_PASSWORD)
    }
  }

  async #mend(client: AppClient): Promise<void> {
    const [rejected] = await client.rejected()
    if (rejected === undefined) return
    if (rejected.writes.some(({ id }) => id === this.#counter) || this.#random.chance(0.5)) await rejected.retry()
    else {
      for (const { mine } of rejected.writes) this.#discarded.add(String(mine['title']))
      await rejected.discard()
    }
  }

  async #reopen(place: Place): Promise<void> {
    const index = this.#random.below(place.tabs.length)
    await place.tabs[index]!.close()
    place.tabs[index] = await place.device.open({ collections: COLLECTIONS })
  }

  /** Ends all sessions of a user. */
  async #revoke({ id }: User): Promise<void> {
    await this.app.call(`PATCH /collections/users/records/${id}`, {
      password: USER_PASSWORD,
      passwordConfirm: USER_PASSWORD,
    })
  }

  /** Takes a copy of the data, or goes back to the one that was taken. */
  async #restore(): Promise<void> {
    if (this.#copy === undefined) this.#copy = await this.app.copy()
    else {
      await this.app.restart(this.#copy)
      await rm(this.#copy, { recursive: true })
      this.#copy = undefined
    }
  }
}

test.each(seedsOf('model'))('seed %i', async (seed) => {
  const world = await World.make(seededRandom(seed))
  try {
    for (let step = 0; step < STEPS; step++) await world.step()
    await world.settle()
    await world.check()
  } finally {
    await world.close()
  }
})
