/** A small world and replicas, for cases by hand: each pull is checked. */
import { makeFolder, removeFolder } from '../../../../tools/processes.ts'
import type { Mutation } from '../../../../tools/test/mutants.ts'
import type { PageLimits } from '../../src/sync/feed-page.ts'
import type { PulledPage } from '../../src/sync/feed.ts'
import { FeedChecks } from './feed-checks.ts'
import { FeedWorld, type FieldRules, type Fields, type Rows } from './feed-world.ts'
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

export class Scene {
  readonly world: FeedWorld
  /** Where a backup may go. */
  readonly folder: string
  readonly #checks: FeedChecks

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
    try {
      await run(new Scene(world, folder))
    } finally {
      await world.close()
      if (hasFiles) removeFolder(folder)
    }
  }

  replica(user: string | null = 'u1', collection: string = 'docs'): Replica {
    return new Replica(user, collection)
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
  async page(replica: Replica, limits?: PageLimits): Promise<PulledPage> {
    const page = await this.ask(replica, limits)
    replica.apply(page)
    return page
  }

  /** One page, which the replica does not apply. */
  async ask(replica: Replica, limits?: PageLimits): Promise<PulledPage> {
    const [page] = await this.world.pull([replica], limits)
    this.#checks.page(page!, replica)
    return page!
  }

  /** Pages until the replica is complete. Gives all their rows. */
  async finish(replica: Replica, limits?: PageLimits): Promise<PulledPage['rows']> {
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
