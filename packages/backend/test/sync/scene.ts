/** A small world and replicas, for cases by hand: each pull is checked. */
import { makeFolder, removeFolder } from '../../../../tools/processes.ts'
import type { Mutation } from '../../../../tools/test/mutants.ts'
import type { PageLimits } from '../../src/sync/feed/feed-page.ts'
import type { PulledPage } from '../../src/sync/feed/feed.ts'
import { FeedChecks } from './feed-checks.ts'
import { dateOf, FeedWorld, START_MS, type FieldRules, type Fields, type Rows } from './feed-world.ts'
import { LiveSessions, type LiveSession } from './live-world.ts'
import { Replica } from './replica.ts'

/** A case, and what it is about: without one of the repairs it must fail. */
export interface SceneCase {
  /** What is true. */
  readonly name: string
  readonly rows: Rows
  /** The list rule of `docs`. */
  readonly rule: string
  /** View rules of fields of `docs`. */
  readonly fields?: FieldRules
  /** The manage rule of `users`. */
  readonly manage?: string
  /** It needs files, as it restores a backup. */
  readonly hasFiles?: boolean
  readonly run: (scene: Scene) => Promise<void>
  /** The repair, switched off. */
  readonly without: readonly Mutation[]
}

const PAGES_MAX = 50

/** Pages of one row. */
export const ONE: Partial<PageLimits> = { rows: 1, entries: 1000 }
export const OF_PROJECT = 'project.members.id ?= @request.auth.id'
export const USERS: Rows[string] = [
  { id: 'u1', role: '' },
  { id: 'u2', role: '' },
]

/** A date, that many seconds after the start. */
export function inTime(seconds: number): string {
  return dateOf(START_MS + seconds * 1000)
}

export class Scene {
  readonly world: FeedWorld
  /** Where a backup may go. */
  readonly folder: string
  readonly #checks: FeedChecks
  #live: LiveSessions | undefined

  private constructor(world: FeedWorld, folder: string) {
    this.world = world
    this.folder = folder
    this.#checks = new FeedChecks(world, ['u1', 'u2', null], ['docs', 'users'])
  }

  static async play({ rows, rule, fields = {}, manage = '', hasFiles = false, run }: SceneCase): Promise<void> {
    const folder = hasFiles ? makeFolder('scene') : ''
    const world = await FeedWorld.make(rows, { docs: rule }, hasFiles ? `${folder}/world.db` : undefined)
    world.setFieldRules(fields)
    world.setManageRule(manage)
    const scene = new Scene(world, folder)
    try {
      await run(scene)
    } finally {
      scene.#live?.close()
      await world.close()
      if (hasFiles) removeFolder(folder)
    }
  }

  replica(user: string | null = 'u1', collection: string = 'docs'): Replica {
    return new Replica(user, collection)
  }

  /** A session that gets signals of `docs` from now on. */
  async session(user: string = 'u1'): Promise<LiveSession> {
    this.#live ??= new LiveSessions(this.world)
    const session = this.#live.open(user, 'docs')
    await this.#live.follow()
    return session
  }

  /** Each session has got a signal since the last look, or none has. */
  async expectSignals(...expected: readonly (readonly [LiveSession, isSignalled: boolean])[]): Promise<void> {
    await this.#live!.follow()
    for (const [session, isSignalled] of expected) {
      if (isSignalled && session.signals === 0)
        throw new Error('missing: a pull would bring something, and there is no signal')
      if (!isSignalled && session.signals > 0) throw new Error('leak: a signal, and a pull would bring nothing')
      session.signals = 0
    }
  }

  /** A replica that is complete. */
  async synced(user?: string | null, collection?: string): Promise<Replica> {
    const replica = this.replica(user, collection)
    await this.finish(replica)
    return replica
  }

  /** Changes fields of a record, which may be new. */
  async edit(collection: string, id: string, fields: Fields): Promise<void> {
    const { id: _, ...before } = this.world.data[collection]!.get(id) ?? { id }
    await this.world.commit({ collection, id, fields: { ...before, ...fields } })
    this.#checks.observe()
  }

  async delete(collection: string, id: string): Promise<void> {
    await this.world.commit({ collection, id, fields: undefined })
  }

  async purge(collection: string, id: string): Promise<void> {
    await this.world.purge(collection, id)
  }

  /** Lets time pass. */
  wait(seconds: number): void {
    this.world.nowMs += seconds * 1000
    this.#checks.observe()
  }

  /** One page, which the replica applies. */
  async page(replica: Replica, limits?: Partial<PageLimits>): Promise<PulledPage> {
    const page = await this.ask(replica, limits)
    replica.apply(page)
    return page
  }

  /** One page, which the replica does not apply. */
  async ask(replica: Replica, limits?: Partial<PageLimits>): Promise<PulledPage> {
    const [page] = await this.world.pull([replica], limits)
    this.#checks.page(page!, replica)
    return page!
  }

  /** Pages until the replica is complete. Gives all their rows. */
  async finish(replica: Replica, limits?: Partial<PageLimits>): Promise<PulledPage['rows']> {
    const rows: PulledPage['rows'][number][] = []
    for (let count = 0; count < PAGES_MAX; count++) {
      const page = await this.page(replica, limits)
      rows.push(...page.rows)
      if (!page.isComplete) continue
      this.#checks.complete(replica)
      return rows
    }
    throw new Error(`stuck: ${replica.user} needs more than ${PAGES_MAX} pages`)
  }
}

/** Fails as the checks of pages do. */
export function claim(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(`wrong: ${otherwise}`)
}
