/** Random work of a server and of replicas that pull from it. After every complete pull both must agree. */
import { join } from 'node:path'
import type { Random } from '../../../db/testing/random.ts'
import type { PageLimits } from '../../src/sync/feed/feed-page.ts'
import type { PulledPage } from '../../src/sync/feed/feed.ts'
import { FeedChecks } from './feed-checks.ts'
import type { Backup, FeedWorld } from './feed-world.ts'
import { randomEdit, randomFilter, randomRule, replicateSome, setFieldRules, SYNCED, USERS } from './random-feed.ts'
import { Replica } from './replica.ts'

/** The replicas of the collections of one client. */
interface Client {
  readonly user: string | null
  readonly replicas: readonly Replica[]
}

/** What was done, for reports. */
export interface Counts {
  commits: number
  pages: number
  complete: number
  /** Bodies that were left out. */
  omitted: number
  restores: number
}

const PAGES_MAX = 600

export class FeedSimulation {
  readonly #random: Random
  readonly #world: FeedWorld
  readonly #clients: readonly Client[]
  readonly #checks: FeedChecks
  readonly #counts: Counts
  /** Where backups go; undefined: nothing makes a token useless. */
  readonly #folder: string | undefined
  readonly #backups: Backup[] = []
  /** Nothing changes any more. */
  #isOver = false

  constructor(random: Random, world: FeedWorld, folder: string | undefined, counts: Counts) {
    this.#random = random
    this.#world = world
    this.#folder = folder
    this.#counts = counts
    const names = SYNCED.filter((name) => name === 'docs' || random.chance(0.4))
    this.#clients = ['u1', 'u1', 'u2', 'u3', null].map((user) => ({
      user,
      replicas: names.map((name) => this.#replica(user, name)),
    }))
    this.#checks = new FeedChecks(world, [...USERS, null], names)
  }

  #replica(user: string | null, name: string): Replica {
    const replica = new Replica(user, name)
    replica.filter = randomFilter(this.#random, name)
    return replica
  }

  async run(steps: number): Promise<void> {
    const { below, chance, pick } = this.#random
    for (let step = 0; step < steps; step++) {
      if (this.#folder !== undefined && chance(0.1)) await this.#disturb(this.#folder)
      const what = below(100)
      if (what < 36) await this.#commit()
      else if (what < 40) await this.#replicate()
      else if (what < 76) await this.#pullSome()
      else if (what < 82) await this.#flip(pick(this.#clients))
      else if (what < 90) {
        // The clock of a machine may be set back.
        this.#world.nowMs += pick([1, 1, 2, 3, 3, -2]) * 1000
        this.#checks.observe()
      } else if (what < 92) await this.#world.restart()
      else if (what < 93) await this.#world.compact('docs')
      else if (what < 94) await this.#tryTokens()
      else if (what < 95) this.#choosePart()
      else if (what < 96) await this.#purge()
      else if (this.#folder !== undefined) await this.#disturb(this.#folder)
    }
    this.#isOver = true
    for (const client of this.#clients)
      for (let pages = 0; !(await this.#pull(client, { rows: 2, entries: 7 }, false)); pages++)
        if (pages > PAGES_MAX) throw new Error(`stuck: ${client.user} needs more than ${PAGES_MAX} pages`)
  }

  async #commit(): Promise<void> {
    const edits = Array.from({ length: this.#random.pick([1, 1, 2, 3]) }, () => randomEdit(this.#random, this.#world))
    // One document once in a commit: the library would refuse another base.
    await this.#world.commit(...new Map(edits.map((edit) => [`${edit.collection}/${edit.id}`, edit])).values())
    this.#counts.commits++
    this.#checks.observe()
  }

  /** Conflicts: the winner is what counts. */
  async #replicate(): Promise<void> {
    await replicateSome(this.#random, this.#world)
    this.#counts.commits++
    this.#checks.observe()
  }

  async #pullSome(): Promise<void> {
    const { below, pick, chance } = this.#random
    const limits = chance(0.4) ? undefined : { rows: 1 + below(3), entries: pick([1, 2, 4, 9, 1000]) }
    if (chance(0.2)) this.#world.late = () => this.#commit()
    await this.#pull(pick(this.#clients), limits, chance(0.1))
  }

  /** Pages in a row, with something that comes, goes and comes back between them. */
  async #flip(client: Client): Promise<void> {
    const { pick, chance } = this.#random
    const { data } = this.#world
    const edit = randomEdit(this.#random, this.#world)
    const { id: _, ...before } = data[edit.collection]!.get(edit.id) ?? { id: '' }
    const isThere = data[edit.collection]!.has(edit.id)
    for (let round = 0; round < 6; round++) {
      await this.#pull(client, { rows: pick([1, 1, 2, 5]), entries: pick([1, 3, 1000]) }, chance(0.05))
      if (chance(0.3)) await this.#commit()
      else {
        const isBack = round % 2 === 1
        await this.#world.commit(isBack ? { ...edit, fields: isThere ? before : undefined } : { ...edit, fresh: false })
        this.#counts.commits++
      }
      if (chance(0.2)) this.#world.nowMs += 1000
      this.#checks.observe()
    }
  }

  /** What makes tokens of no use. */
  async #disturb(folder: string): Promise<void> {
    const { below, pick } = this.#random
    const world = this.#world
    switch (pick(['forget', 'horizon', 'horizon', 'rule', 'backup', 'backup', 'restore', 'drop', 'truncate'])) {
      case 'forget': {
        const tokens = this.#clients.flatMap(({ replicas }) => replicas.map(({ token }) => token?.builtTo ?? 0))
        await world.forgetLeft(below(Math.max(...tokens) + 1))
        break
      }
      case 'horizon':
        await world.forgetOld()
        break
      case 'rule': {
        const name = pick(SYNCED)
        if (this.#random.chance(0.5)) world.setRule(randomRule(this.#random, world, name), name)
        else setFieldRules(this.#random, world, name)
        break
      }
      case 'backup':
        this.#backups.push(world.backup(join(folder, `backup${this.#backups.length}.db`)))
        break
      case 'restore':
        if (this.#backups.length > 0) {
          await world.restore(pick(this.#backups))
          this.#counts.restores++
        }
        break
      case 'drop':
        await world.drop('shares')
        break
      default:
        await world.truncate(pick(['docs', 'shares', 'projects']))
    }
    this.#checks.observe()
  }

  /** An app of another version wants another part. */
  #choosePart(): void {
    const replica = this.#random.pick(this.#random.pick(this.#clients).replicas)
    replica.filter = randomFilter(this.#random, replica.collection)
  }

  async #purge(): Promise<void> {
    const { collection, id, fields } = randomEdit(this.#random, this.#world)
    // Nothing may lead to it.
    await this.#world.commit({ collection, id, fields: collection === 'shares' ? fields : undefined })
    if (this.#random.chance(0.5)) await this.#pullSome()
    await this.#world.purge(collection, id)
    this.#checks.observe()
  }

  /** Tokens of other accounts and collections are of no use, and give nothing away. */
  async #tryTokens(): Promise<void> {
    const { pick } = this.#random
    const [{ user, replicas }, other] = [pick(this.#clients), pick(this.#clients)]
    const [mine, theirs] = [pick(replicas), pick(other.replicas)]
    const isThere = user === null || this.#world.data['users']!.has(user)
    if (!isThere || theirs.token === undefined || (user === other.user && mine.collection === theirs.collection)) return
    const page = await this.#world.pullWith(user, mine.collection, theirs.token)
    if (!page.isReset) throw new Error(`leak: a token of ${other.user} for ${theirs.collection} is of use to ${user}`)
    this.#checks.page(page, { user, collection: mine.collection, token: theirs.token, filter: '' })
  }

  /** Whether all replicas of the client are complete. */
  async #pull({ user, replicas }: Client, limits: Partial<PageLimits> | undefined, isLost: boolean): Promise<boolean> {
    // An account that is deleted can't ask. It may be made again.
    if (user !== null && !this.#world.data['users']!.has(user)) return true
    const isLate = this.#world.late !== undefined
    const pages = await this.#ask(replicas, limits).catch((error: unknown) => {
      const isGone = user !== null && !this.#world.data['users']!.has(user)
      if (!isGone || (error as { readonly code?: string }).code !== 'UNAUTHENTICATED') throw error
      return undefined
    })
    if (pages === undefined) return true
    if (user !== null && !this.#world.data['users']!.has(user))
      throw new Error(`leak: ${user} is gone, and is answered`)
    for (const [index, replica] of replicas.entries()) this.#take(replica, pages[index]!, isLost, isLate)
    return pages.every(({ isComplete }) => isComplete)
  }

  /** A client asks for bodies, names what it has, or does so only if it lacks something. */
  async #ask(replicas: readonly Replica[], limits: Partial<PageLimits> | undefined): Promise<PulledPage[]> {
    const hasRevision = (replica: Replica, id: string, rev: string): boolean => replica.has(id, rev)
    const way = this.#random.pick(['bodies', 'revisions', 'known'])
    if (way === 'bodies') return this.#world.pull(replicas, limits)
    if (way === 'known') return this.#world.pull(replicas, limits, hasRevision)
    const pages = await this.#world.pull(replicas, limits, () => true)
    const isKnown = pages.every(({ rows }, index) =>
      rows.every((row) => !('rev' in row) || replicas[index]!.has(row.id, row.rev)),
    )
    if (isKnown) return pages
    if (!this.#isOver && this.#random.chance(0.5)) await this.#commit()
    return this.#world.pull(replicas, limits, hasRevision)
  }

  /** `isLate`: something was written that the index does not have, so the next pull has it. */
  #take(replica: Replica, page: PulledPage, isLost: boolean, isLate: boolean): void {
    const { user, collection, token } = replica
    this.#counts.pages++
    this.#counts.omitted += page.rows.filter((row) => 'rev' in row).length
    this.#checks.page(page, replica)
    // Where nothing was written yet, there is no collection.
    if (
      this.#folder === undefined &&
      page.isReset &&
      token !== undefined &&
      token.collection !== 0 &&
      replica.isSamePart
    )
      throw new Error(`reset: the token of ${user} for ${collection} is of no use`)
    if (isLost) return replica.lose(page)
    replica.apply(page)
    if (page.isComplete && isLate) return
    if (page.isComplete) {
      this.#counts.complete++
      this.#checks.complete(replica)
    } else if (JSON.stringify(replica.token) === JSON.stringify(token)) throw new Error(`stuck: ${user} makes no way`)
  }
}
