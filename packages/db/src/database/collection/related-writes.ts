/** The effects of relations on the writes of collections. Loaded only if there are any. */
import { isPannierError, type PannierError } from '../../base/errors.ts'
import { pauseIn, retryWhenStale } from '../../base/long-work.ts'
import { decodeIdKey } from '../../codec/key-encoding.ts'
import { DocumentReader } from '../../document/document-reader.ts'
import type { DocumentWrite, IndexMaintenance } from '../../document/document-write.ts'
import type { DeleteTarget, EncodedBatch } from '../../document/encoded-batch.ts'
import {
  deleteDocuments,
  putDocuments,
  type WriteContext,
  type WriteFailure,
  type WriteMode,
} from '../../document/write-documents.ts'
import type { HeldTransaction, WriteTransaction } from '../../kv/key-value-store.ts'
import { CheckedMaintenance } from '../../relations/checked-writes.ts'
import { CollectionRelations } from '../../relations/collection-relations.ts'
import { declareRelations } from '../../relations/declare-relations.ts'
import { type ActingRelations, actingRelations, DeleteWork } from '../../relations/delete-work.ts'
import { indexOf } from '../../relations/references.ts'
import type { QueryRelations } from '../../query/query-run.ts'
import type { RelationGraph } from '../../relations/relation-graph.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { Collection } from './collection.ts'
import {
  type CollectionAccess,
  type DatabaseRelations,
  type DeleteRules,
  MigrationNeeded,
} from './collection-access.ts'
import type { JsonObject } from './document-types.ts'

/** Documents that follow a delete within its own turn. More of them take a transaction that releases the thread. */
const FOLLOWED_AT_ONCE_MAX = 100

/** Thrown to undo a delete that is too large for its turn. */
class TooLarge extends Error {}

type CollectionOf = (name: string) => Collection<JsonObject>

/** Takes up the relations of the declarations; gives these with the indexes that relations need. */
export function relateCollections(
  context: DatabaseContext,
  collections: Parameters<typeof declareRelations>[0],
  collectionOf: CollectionOf,
): Readonly<Record<string, object>> {
  const declared = declareRelations(collections)
  context.relations = new RelatedWrites(context, declared.graph, collectionOf)
  return declared.collections
}

/** The relations of a database. Another graph may take the place of the one that it has. */
export class RelatedWrites implements DatabaseRelations {
  readonly #context: DatabaseContext
  readonly #collectionOf: CollectionOf
  #graph: RelationGraph
  readonly #checked = new Map<string, IndexMaintenance>()
  readonly #acting = new Map<string, ActingRelations | undefined>()

  constructor(context: DatabaseContext, graph: RelationGraph, collectionOf: CollectionOf) {
    this.#context = context
    this.#collectionOf = collectionOf
    this.#graph = graph
  }

  get graph(): RelationGraph {
    return this.#graph
  }

  /** Writes and queries that begin from now on follow it. */
  set graph(graph: RelationGraph) {
    this.#graph = graph
    this.#checked.clear()
    this.#acting.clear()
  }

  queriesOf(name: string): QueryRelations {
    return new CollectionRelations(this.#graph, name)
  }

  /** `maintenance`, with what the collection's relations check before it. */
  maintenanceOf(name: string, maintenance: IndexMaintenance): IndexMaintenance {
    let made = this.#checked.get(name)
    if (made === undefined) {
      const checked = this.#graph.relationsOf(name).filter(({ check }) => check)
      made = checked.length === 0 ? maintenance : new CheckedMaintenance(maintenance, this.#context.catalog, checked)
      this.#checked.set(name, made)
    }
    return made
  }

  /** The effects of deletes in the collection on referring documents; undefined: none. */
  deleteRulesOf(name: string): DeleteRules | undefined {
    return this.actingOn(name) && new FollowedDeletes(this.#context, name, this, this.#collectionOf)
  }

  /** The relations that act on deletes in the collection. */
  actingOn(name: string): ActingRelations | undefined {
    if (!this.#acting.has(name)) this.#acting.set(name, actingRelations(this.#graph, name))
    return this.#acting.get(name)
  }
}

/** Errors of what was to be written, and not of the storage. */
const refusals = new WeakSet<PannierError>()

function actingNowhere(name: string): ActingRelations {
  return { relations: [], byTarget: new Map(), collections: [name] }
}

interface Begun<T> {
  readonly work: DeleteWork
  readonly result: T
}

export class FollowedDeletes implements DeleteRules {
  readonly #context: DatabaseContext
  readonly #name: string
  readonly #related: RelatedWrites
  readonly #collectionOf: CollectionOf

  constructor(context: DatabaseContext, name: string, related: RelatedWrites, collectionOf: CollectionOf) {
    this.#context = context
    this.#name = name
    this.#related = related
    this.#collectionOf = collectionOf
  }

  async write<T>(access: CollectionAccess, write: (transaction: WriteTransaction) => T): Promise<T> {
    // A transaction's own turn is its function's: each of its steps is whole.
    const isInside = access.loadLiveHost === undefined
    const followedMax = isInside ? Infinity : FOLLOWED_AT_ONCE_MAX
    const { judgeFollowing } = access
    const atOnce = (transaction: WriteTransaction): T => {
      const { work, result } = this.#begun(transaction, write, judgeFollowing)
      while (this.#step(work, transaction)) if (work.count > followedMax) throw new TooLarge()
      return result
    }
    const inSteps = async (held: HeldTransaction, pause: () => Promise<void>): Promise<T> => {
      const { work, result } = await held.attempt(() => this.#begun(held, write, judgeFollowing))
      while (await held.attempt(() => this.#step(work, held))) await pause()
      return result
    }
    let run = (): Promise<T> => access.write(atOnce)
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (error instanceof TooLarge) run = () => access.pending(this.#inSteps(inSteps))
        else if (error instanceof MigrationNeeded && !isInside) await error.migrate()
        else throw error
      }
    }
  }

  async deleteEach(access: CollectionAccess, targets: readonly DeleteTarget[], many: boolean): Promise<unknown> {
    const { writing } = access
    const each = targets.map(async (target) => {
      const write = this.write(access, (transaction) => deleteDocuments(transaction, writing, [target])[0])
      return write.catch((error: unknown) => outcomeOf(target.id, error))
    })
    const outcomes = await Promise.all(each)
    return many ? outcomes : outcomes[0]
  }

  async putEach(access: CollectionAccess, batch: EncodedBatch, mode: WriteMode, many: boolean): Promise<unknown> {
    const parts: DocumentWrite[][] = []
    for (const write of batch.writes) {
      const last = parts.at(-1)
      if (last === undefined || write.deleted || last[0]!.deleted) parts.push([write])
      else last.push(write)
    }
    const each = parts.map(async (part) => {
      const write = this.write(access, (transaction) =>
        putDocuments(transaction, access.writing, batch.only(part), mode, false),
      )
      const [{ id, deleted }] = part as [DocumentWrite]
      return deleted ? write.catch((error: unknown) => [outcomeOf(id, error)]) : write
    })
    const outcomes = (await Promise.all(each)).flat()
    return many ? outcomes : outcomes[0]
  }

  /** Deletes all documents of the collection, and what follows from that, as one. `check` may throw. */
  async deleteAll(check: () => void): Promise<number> {
    const run = (): Promise<number> =>
      this.#inSteps(async (held, pause) => {
        const { work } = await held.attempt(() => this.#begun(held, () => undefined))
        let deleted = 0
        for (;;) {
          const count = await held.attempt(() => this.#deleteSome(held))
          if (count === 0) break
          deleted += count
          await pause()
          check()
        }
        while (await held.attempt(() => this.#step(work, held))) {
          await pause()
          check()
        }
        return deleted
      })
    for (;;) {
      try {
        return await run()
      } catch (error) {
        if (!(error instanceof MigrationNeeded)) throw error
        await error.migrate()
      }
    }
  }

  #deleteSome(transaction: WriteTransaction): number {
    const { writing } = this.#collectionOf(this.#name)
    const state = writing.catalog.collection(transaction, this.#name)
    if (state === undefined) return 0
    const cursor = new DocumentReader(transaction, state).ids()
    const targets: DeleteTarget[] = []
    while (targets.length < FOLLOWED_AT_ONCE_MAX && cursor.next())
      targets.push({ id: decodeIdKey(cursor.key), key: cursor.key, revision: undefined })
    if (targets.length > 0) deleteDocuments(transaction, writing, targets)
    return targets.length
  }

  /** A transaction that releases the thread between its steps: whenever `pause` is called. */
  #inSteps<T>(run: (held: HeldTransaction, pause: () => Promise<void>) => Promise<T>): Promise<T> {
    const { store, environment } = this.#context
    const name = (): string => `that deletes documents of '${this.#name}', and what refers to them,`
    return retryWhenStale(async () => {
      const held = await store.begin(name)
      const pause = pauseIn(environment)
      try {
        const result = await run(held, async () => {
          await held.relieve()
          await pause()
        })
        await held.commit()
        return result
      } finally {
        held.rollback()
      }
    })
  }

  /** Begins a write; an error undoes the write. @throws MigrationNeeded */
  #begun<T>(
    transaction: WriteTransaction,
    write: (transaction: WriteTransaction) => T,
    judgeFollowing?: CollectionAccess['judgeFollowing'],
  ): Begun<T> {
    // The relations of now: they may have changed since the delete was asked for.
    const acting = this.#related.actingOn(this.#name) ?? actingNowhere(this.#name)
    this.#assertReady(transaction, acting)
    const contextOf = (name: string): WriteContext => {
      const { writing } = this.#collectionOf(name)
      const judge = judgeFollowing?.(name)
      return judge === undefined ? writing : Object.assign(Object.create(writing) as WriteContext, { judge })
    }
    const work = new DeleteWork(transaction, acting, contextOf)
    return { work, result: noting(() => write(transaction)) }
  }

  #step(work: DeleteWork, transaction: WriteTransaction): boolean {
    return noting(() => work.step(transaction))
  }

  /** Documents of other collections will be found and written. */
  #assertReady(transaction: WriteTransaction, acting: ActingRelations): void {
    for (const name of acting.collections) {
      const { declarations } = this.#collectionOf(name)
      const state = this.#context.catalog.collection(transaction, name)
      if (declarations.schema.needsMigration(state, true))
        throw new MigrationNeeded(() => declarations.migrations.migrate())
      const relations = acting.relations.filter(({ from }) => from === name)
      if (state !== undefined && relations.some((relation) => indexOf(state, relation) === undefined))
        throw new MigrationNeeded(() => declarations.ready())
    }
  }
}

/** Notes what refuses a document. */
function noting<T>(write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (isPannierError(error) && error.code !== 'PANNIER_CORRUPT') refusals.add(error)
    throw error
  }
}

function outcomeOf(id: string, error: unknown): WriteFailure {
  if (isPannierError(error) && refusals.has(error)) return { id, error }
  throw error
}
