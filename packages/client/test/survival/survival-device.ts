/**
 * A device of a user: some handles on one database, which write, sync, are closed and are killed between commits. Each transaction makes
 * a note of its own. So the note says whether the transaction took place, whatever else it has changed.
 */
import { expect } from 'vitest'
import { until } from '../../../server/test/test-server.ts'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { ClientError, type Write } from '../../src/index.ts'
import { USER_PASSWORD, type User } from '../app-server.ts'
import type { CollectionDeclaration } from '../../src/declaration.ts'
import { Device, seen, type AppClient } from '../device.ts'
import { MortalStorage } from './mortal-storage.ts'
import { NAMES, type Fields, type SurvivalApp } from './survival-app.ts'

/**
 * What the device has heard of a transaction:
 * - `unsure`: the device ended before it said that it is stored, or has lost its power since.
 * - `stored`: it is stored on the device.
 * - `taken`: the server has said ok.
 * - `discarded`: the user has thrown it away, after the server refused it.
 */
type Fate = 'unsure' | 'stored' | 'taken' | 'discarded'

type Transacting = Parameters<Parameters<AppClient['transaction']>[0]>[0]

interface DeviceOptions {
  readonly seed: number
  readonly handles: number
  /** What the app declares of tasks. */
  readonly tasks?: CollectionDeclaration
}

/** The part of tasks that some devices sync. */
export const UNLOCKED: CollectionDeclaration = { filter: 'locked = false' }

/** Calls of the storage until a kill. */
const CALLS_MAX = 60
/** What a handle does when the server is gone. */
const OFFLINE_STEPS_MAX = 4

export class SurvivalDevice {
  readonly user: User
  readonly #app: SurvivalApp
  readonly #random: Random
  readonly #name: string
  readonly #handleCount: number
  readonly #tasks: CollectionDeclaration
  #storage: MortalStorage
  #device: Device
  #handles: AppClient[] = []
  #made = 0
  /** By the ids of notes. */
  readonly #fates = new Map<string, Fate>()
  /** Writes of open handles that have no answer of the server. */
  #unanswered = new Set<string>()
  /** Notes of before a fork of the server's history. What was refused and undone may be there again. */
  readonly #forked = new Set<string>()
  #forks = 0
  deaths = 0

  constructor(app: SurvivalApp, user: User, { seed, handles, tasks = {} }: DeviceOptions) {
    this.#tasks = tasks
    this.#app = app
    this.user = user
    this.#handleCount = handles
    this.#name = `d${seed}`
    this.#random = seededRandom(seed)
    this.#storage = new MortalStorage(this.#random)
    this.#device = new Device(app, this.#storage)
  }

  /** Works until the server is gone, and a little longer. */
  async load(isOver: () => boolean): Promise<void> {
    const { chance, below, pick } = this.#random
    if (chance(0.3)) this.#storage.killAt(below(CALLS_MAX))
    await this.#open()
    await Promise.all(
      this.#handles.map(async (handle) => {
        while (!isOver() && !this.#storage.isGone) await this.#step(handle)
        for (let left = below(OFFLINE_STEPS_MAX); left > 0; left--) await this.#step(handle)
      }),
    )
    this.#storage.spare()
    const end = this.#storage.isGone ? 'killed' : pick(['killed', 'power', 'closed', 'open', 'open', 'open'] as const)
    if (end === 'closed') await this.close()
    else if (end !== 'open') this.#die(end === 'power')
  }

  /** Syncs all handles until everything is sent and all is here. */
  async settle(): Promise<void> {
    await this.#open()
    for (let round = 0; round < 2; round++) for (const handle of this.#handles) await this.#sync(handle)
  }

  /** Every handle shows what the user may see, and no transaction is lost. `notes`: those of the server. */
  async check(notes: ReadonlyMap<string, Fields>): Promise<void> {
    for (const handle of this.#handles) {
      const { status, unsent, isComplete, error } = handle.state
      expect([this.#name, status, unsent, isComplete, error]).toEqual([this.#name, 'synced', 0, true, undefined])
    }
    for (const name of NAMES) {
      const visible = await this.#app.visible(name, this.user)
      if (name === 'tasks' && this.#tasks === UNLOCKED)
        for (const [id, { locked }] of visible) if (locked === true) visible.delete(id)
      for (const handle of this.#handles)
        expect([this.#name, name, await seen(handle, name)]).toEqual([this.#name, name, visible])
    }
    const rejected = await this.#handles[0]!.rejected()
    // What builds on a refused write goes with it. What builds on a write that the server has lost is sent after it.
    expect([this.#name, rejected.filter(({ code }) => code === 'DEPENDS')]).toEqual([this.#name, []])
    const refused = new Set(rejected.flatMap(({ writes }) => writes.map(({ id }) => id)))
    if (this.#forks !== this.#app.forks) for (const id of this.#fates.keys()) this.#forked.add(id)
    this.#forks = this.#app.forks
    for (const [id, fate] of this.#fates) {
      const isForked = this.#forked.has(id)
      if (fate === 'unsure' || (fate === 'discarded' && isForked)) continue
      const places = [...(notes.has(id) ? ['the server'] : []), ...(refused.has(id) ? ['the refused ones'] : [])]
      const count = fate === 'discarded' ? 0 : isForked ? Math.max(1, places.length) : 1
      expect([id, fate, places, places.length]).toEqual([id, fate, places, count])
      // Taken before an older copy came back, and refused then.
      if (refused.has(id)) this.#fates.set(id, 'stored')
    }
    await until(
      () => this.#unanswered.size === 0,
      () => [...this.#unanswered],
    )
  }

  /** The user writes again what was refused, or throws it away. */
  async mend(): Promise<void> {
    const [handle] = this.#handles
    for (const rejected of await handle!.rejected()) {
      // One that was taken, and is refused again since the power went, stays unsure.
      const notes = rejected.writes.flatMap(({ collection, id }) =>
        collection === 'notes' && this.#fates.get(id) !== 'unsure' ? [id] : [],
      )
      if (this.#random.chance(0.5)) await this.#follow(notes, rejected.retry())
      else {
        await rejected.discard()
        for (const id of notes) this.#fates.set(id, 'discarded')
      }
    }
  }

  /** The device is lost, and the user has a new one. */
  wipe(): void {
    this.#die(true)
    this.#fates.clear()
    this.#storage = new MortalStorage(this.#random)
    this.#device = new Device(this.#app, this.#storage)
  }

  async close(): Promise<void> {
    for (const handle of this.#handles.splice(0)) await handle.close()
  }

  /** Ends the processes of the device. With the power goes what is not durable, and nobody knows what that is. */
  #die(power: boolean): void {
    this.#storage.kill({ power })
    this.#storage.revive()
    this.#handles = []
    this.#unanswered = new Set()
    this.deaths++
    if (!power) return
    for (const [id, fate] of this.#fates) {
      if (fate === 'taken') this.#app.kept.add(id)
      this.#fates.set(id, 'unsure')
    }
  }

  /** Undefined: the processes have ended meanwhile. */
  #alive<T>(work: PromiseLike<T>): Promise<T | undefined> {
    return Promise.race([work, this.#storage.gone.then(() => undefined)])
  }

  async #open(): Promise<void> {
    while (this.#handles.length < this.#handleCount && !this.#storage.isGone) {
      const handle = await this.#alive(
        this.#device.open({ collections: { projects: {}, tasks: this.#tasks, notes: {} } }),
      )
      if (handle === undefined) return
      this.#handles.push(handle)
      if (handle.account === undefined) await this.#signIn(handle)
    }
  }

  async #signIn(handle: AppClient): Promise<void> {
    await this.#online(handle.signIn.password('users', this.user.email, USER_PASSWORD))
  }

  /** What may fail on the way fails with a code. Gives it. */
  async #online(work: Promise<unknown>): Promise<string | undefined> {
    try {
      await this.#alive(work)
      return undefined
    } catch (error) {
      if (!(error instanceof ClientError) || !['PANNIER_PEER_UNREACHABLE', 'PANNIER_SIGNED_OUT'].includes(error.code))
        throw error
      return error.code
    }
  }

  async #sync(handle: AppClient): Promise<void> {
    if (handle.account === undefined) await this.#signIn(handle)
    if (handle.account === undefined) return
    if ((await this.#online(handle.sync())) !== 'PANNIER_SIGNED_OUT') return
    await this.#signIn(handle)
    await this.#online(handle.sync())
  }

  async #step(handle: AppClient): Promise<void> {
    if (this.#storage.isGone) return
    if (handle.account !== undefined && this.#random.chance(0.4)) await this.#edit(handle)
    else await this.#sync(handle)
  }

  async #edit(handle: AppClient): Promise<void> {
    const id = `${this.#name}n${this.#made++}`.padEnd(15, 'x')
    const project = this.#random.pick(this.#app.projects)
    const known = (await this.#alive(handle.collection('tasks').find().toArray())) ?? []
    const tasks = known.map(({ _id }) => String(_id)).filter((task) => task !== this.#app.counter)
    this.#fates.set(id, 'unsure')
    const write = handle.transaction(async (tx) => {
      const counted = await this.#change(tx, { tasks, project })
      await tx.collection('notes').create({ id, text: `text of ${id}`, counted, project })
    })
    try {
      await this.#follow([id], write)
    } catch (error) {
      // The record has left meanwhile.
      if (!(error instanceof ClientError) || error.code !== 'PANNIER_NOT_FOUND') throw error
      this.#fates.delete(id)
    }
  }

  /** What a transaction does beside its note. Gives 1 if it counts. */
  async #change(
    { collection }: Transacting,
    { tasks, project }: { readonly tasks: readonly string[]; readonly project: string },
  ): Promise<number> {
    const { pick, below, chance } = this.#random
    const kind = below(10)
    const title = `${this.#name} ${this.#made}`
    if (kind < 3) await collection('tasks').update(this.#app.counter, { 'count+': 1 }, { overwrite: true })
    else if (kind < 5 || tasks.length < 3) {
      const { id } = await collection('tasks').create({ title, project, owner: this.user.id, secret: chance(0.3) })
      if (chance(0.3)) await collection('tasks').update(id, { 'count+': 2 })
    } else if (kind < 7) await collection('tasks').update(pick(tasks), { title }, { overwrite: chance(0.2) })
    else if (kind < 8) await collection('tasks').update(pick(tasks), { project })
    else if (kind < 9) await collection('tasks').delete(pick(tasks))
    return Number(kind < 3)
  }

  /** Resolves when it is stored on the device. */
  async #follow(ids: readonly string[], write: Write<unknown>): Promise<void> {
    const isStored = await this.#alive(write.then(() => true))
    if (isStored === undefined) return
    const unanswered = this.#unanswered
    for (const id of ids) {
      this.#fates.set(id, 'stored')
      unanswered.add(id)
    }
    void write.server
      .then(({ status }) => {
        if (status === 'ok') for (const id of ids) if (this.#fates.get(id) === 'stored') this.#fates.set(id, 'taken')
      })
      // The handle was closed.
      .catch(() => {})
      .then(() => ids.forEach((id) => unanswered.delete(id)))
  }
}
