/** One replica of a collection, in Pannier or in PouchDB, as the differential tests drive it. */
import memoryAdapter from 'pouchdb-adapter-memory'
import PouchDB from 'pouchdb-core'
import type { PouchDocument } from 'pouchdb-core'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'

PouchDB.plugin(memoryAdapter)

/** A revision as it travels: `_rev`, `_revisions` (newest first), `_deleted`, and the fields. */
export type Revision = PouchDocument

/** What replicas must agree on, for one document. */
export interface DocumentState {
  /** `_rev` of the winner, and whether that is a tombstone. */
  readonly winner: string
  readonly deleted: boolean
  /** By `_rev`: ancestry and fields. */
  readonly leaves: readonly Revision[]
}

export interface Replica {
  readonly kind: 'pannier' | 'pouchdb'
  /** An edit made here: a child of the leaf `_rev`, or of whatever is there. */
  edit(document: PouchDocument): Promise<void>
  /** Revisions made elsewhere. */
  replicate(revisions: readonly Revision[]): Promise<void>
  /** Which of these revisions are not known here. */
  missing(revisions: ReadonlyMap<string, readonly string[]>): Promise<ReadonlyMap<string, readonly string[]>>
  state(): Promise<ReadonlyMap<string, DocumentState>>
  close(): Promise<void>
}

let made = 0

export async function pouchReplica(revisionsLimit: number): Promise<Replica> {
  const database = new PouchDB(`replica-${made++}`, { adapter: 'memory', revs_limit: revisionsLimit })
  return {
    kind: 'pouchdb',
    async edit(document) {
      await database.put(document)
    },
    async replicate(revisions) {
      await database.bulkDocs(revisions, { new_edits: false })
    },
    async missing(revisions) {
      const missing = new Map<string, readonly string[]>()
      // One by one: in its answer for several PouchDB takes 'constructor' for known.
      for (const [id, revs] of revisions) {
        const found = await database.revsDiff({ [id]: revs })
        missing.set(id, Object.hasOwn(found, id) ? found[id]!.missing : [])
      }
      return missing
    },
    async state() {
      const { results } = await database.changes({ style: 'main_only' })
      const states = new Map<string, DocumentState>()
      for (const { id, deleted = false, changes } of results) {
        const found = await database.get(id, { open_revs: 'all', revs: true })
        states.set(id, { winner: changes[0]!.rev, deleted, leaves: sorted(found.map(({ ok }) => ok!)) })
      }
      return states
    },
    async close() {
      await database.destroy()
    },
  }
}

export async function pannierReplica(revisionsLimit: number): Promise<Replica> {
  const database = await open(`replica-${made++}`, { storage: memory() })
  const collection = database.collection('documents', { revisionsLimit, indexes: ['value'] })
  return {
    kind: 'pannier',
    async edit(document) {
      await collection.put(document)
    },
    async replicate(revisions) {
      await collection.put(revisions, { newEdits: false })
    },
    async missing(revisions) {
      const found = await collection.revsDiff(Object.fromEntries(revisions))
      return new Map(Object.entries(found).map(([id, { missing }]) => [id, missing]))
    },
    async state() {
      const states = new Map<string, DocumentState>()
      for await (const { id, deleted = false, changes } of collection.changes()) {
        const found = await collection.getRevisions(id, 'all', { revs: true })
        const leaves = found.map((one) => ('ok' in one ? (one.ok as Revision) : undefined)!)
        states.set(id, { winner: changes[0]!.rev, deleted, leaves: sorted(leaves) })
      }
      return states
    },
    async close() {
      const { problems } = await database.check()
      await database.close()
      if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'))
    },
  }
}

/** Everything that `to` lacks of `from`, as a replicator would carry it. */
export async function carry(from: Replica, to: Replica): Promise<void> {
  const states = await from.state()
  const revisions = new Map([...states].map(([id, { leaves }]) => [id, leaves.map(({ _rev }) => _rev!)]))
  const missing = await to.missing(revisions)
  const wanted = [...states].flatMap(([id, { leaves }]) =>
    leaves.filter(({ _rev }) => missing.get(id)?.includes(_rev!)),
  )
  if (wanted.length > 0) await to.replicate(wanted)
}

function sorted(leaves: readonly Revision[]): Revision[] {
  return [...leaves].sort((left, right) => (left._rev! < right._rev! ? -1 : 1))
}
