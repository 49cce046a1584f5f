/** Replicas of Pannier and PouchDB that are edited by chance, meet by chance, and must come to the same. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Collection, Database } from 'pannier'
import type { PouchDB } from './pouch.js'
import { expect } from 'vitest'
import type { Random } from '../../db/testing/random.ts'

const IDS = ['a', 'b', 'c', 'd', 'e/f', 'ü', 'hasOwnProperty', 'constructor'] as const
const STEPS = 40
const ROUNDS_MAX = 6
const TRIES_MAX = 400
const TRY_AGAIN_MS = 50

/** What replicas must agree on, by id: the winner, the live and dead leaves, the winner's content, its attachments. */
export type State = ReadonlyMap<string, DocumentState>

interface DocumentState {
  readonly winner: unknown
  readonly deleted: boolean
  readonly leaves: readonly string[]
  readonly content: readonly (readonly [string, unknown])[]
  readonly digests: readonly (readonly [string, string])[]
}

type Docs = Collection<Record<string, unknown>>

export interface Edit {
  readonly id: string
  readonly rev: string
}

interface Leaf {
  readonly _revisions: { readonly start: number; readonly ids: readonly string[] }
}

export interface Replica {
  readonly name: string
  readonly collection?: Docs
  readonly pouch?: PouchDB
  /** Under which others reach it: where the network is bad. */
  readonly url?: string
  /**
   * It may have other attachments in documents with several leaves. PouchDB pulls the attachment of a leaf from a server without naming
   * the revision (`getDocAttachmentsFromTargetOrSource`), so it takes that of the winner.
   */
  readonly mixesAttachments?: boolean
  /** Undefined: another edit was faster. */
  edit(random: Random, id: string): Promise<Edit | undefined>
  state(): Promise<State>
  lacks(edits: readonly Edit[]): Promise<readonly Edit[]>
  /** Both ways. */
  meet(other: Replica): Promise<void>
}

export interface Course {
  readonly replicas: readonly Replica[]
  /** The pairs that may meet. */
  readonly meetings: readonly Meeting[]
  /** Meetings that bring everything to everybody if they are held a few times. */
  readonly rounds: readonly Meeting[]
  /** Called before each step with the part that is done. */
  onStep?(done: number): Promise<void>
  /** Called before the rounds at the end. */
  calm(): void
}

export type Meeting = readonly [Replica, Replica]

/**
 * Edits and meetings by chance, then meetings until all replicas are equal.
 *
 * @throws (expect) if they do not become so, or lack what was acknowledged
 */
export async function converge(random: Random, { replicas, meetings, rounds, onStep, calm }: Course): Promise<void> {
  const acknowledged: Edit[] = []
  for (let step = 0; step < STEPS; step++) {
    await onStep?.(step / STEPS)
    if (random.chance(0.75)) {
      const replica = random.pick(replicas)
      const edit = await replica.edit(random, random.pick(IDS))
      if (edit !== undefined) acknowledged.push(edit)
    } else {
      const [one, other] = random.pick(meetings)
      await one.meet(other)
    }
  }
  calm()
  for (let round = 1; ; round++) {
    for (const [one, other] of rounds) await one.meet(other)
    const states = await Promise.all(replicas.map((replica) => replica.state()))
    const pairs = replicas.map((replica, at) => [comparable(replica, states[at]!), comparable(replica, states[0]!)])
    if (round === ROUNDS_MAX || pairs.every(([own, first]) => JSON.stringify(own) === JSON.stringify(first))) {
      for (const [at, [own, first]] of pairs.entries()) expect(own, replicas[at]!.name).toEqual(first)
      break
    }
  }
  for (const replica of replicas) expect(await replica.lacks(acknowledged), replica.name).toEqual([])
}

function comparable(
  { mixesAttachments = false }: Replica,
  state: State,
): readonly (readonly [string, DocumentState])[] {
  return [...state].map(([id, document]) => {
    const mayDiffer = mixesAttachments && document.leaves.length > 1
    return [id, mayDiffer ? { ...document, digests: [] } : document]
  })
}

/** The text of an attachment, sometimes long enough to be sent apart. */
function content(random: Random): string {
  return `${random.below(1000)} `.repeat(random.chance(0.2) ? 40_000 : 5)
}

export function pannierReplica(db: Database, name: string): Replica {
  const docs: Docs = db.collection(name)
  const options = { retry: true, backOff: () => 2, batchSize: 7, silenceMsMax: 5000 }
  return {
    name,
    collection: docs,
    async edit(random, id) {
      const [leaf] = random.chance(0.3) ? (await docs.getRevisions(id, 'all')).slice(-1) : []
      const old = leaf !== undefined && 'ok' in leaf ? leaf.ok : await docs.get(id)
      const fields = { n: random.below(1000), by: name, deep: { list: [1, 'ü', null] } }
      const _rev = old?._rev
      const base = _rev === undefined ? { _id: id, ...fields } : { _id: id, _rev, ...fields }
      try {
        if (old !== undefined && random.chance(0.25)) return await docs.put({ ...base, _deleted: true })
        if (!random.chance(0.4)) return await docs.put({ ...base, _attachments: old?._attachments ?? {} })
        const data = new Blob([content(random)], { type: 'text/plain' })
        return await docs.put({ ...base, _attachments: { ...old?._attachments, [`at ${random.below(2)}`]: { data } } })
      } catch (error) {
        if ((error as { code?: string }).code === 'PANNIER_CONFLICT') return undefined
        throw error
      }
    },
    async state() {
      const states: [string, DocumentState][] = []
      for (const change of await docs.changes({ style: 'all', docs: true }).toArray())
        states.push([change.id, stateOf(change.changes, change.deleted, change.doc as Record<string, unknown>)])
      return sorted(states)
    },
    async lacks(edits) {
      const known = await docs.revsDiff(Object.fromEntries(group(edits)))
      return Object.entries(known).flatMap(([id, { missing }]) => missing.map((rev) => ({ id, rev })))
    },
    async meet(other) {
      await docs.sync(other.collection ?? other.url!, options)
    },
  }
}

/** `url`: in place of the database itself, for others. */
export function pouchReplica(docs: PouchDB, name: string, url?: string): Replica {
  return {
    name,
    pouch: docs,
    ...(url !== undefined && { url }),
    async edit(random, id) {
      const old = await docs.get(id).catch(() => undefined)
      const fields = { n: random.below(1000), by: name }
      const kept = old?._attachments
      const base = { _id: id, ...(old === undefined ? {} : { _rev: old._rev }), ...fields }
      if (old !== undefined && random.chance(0.25)) return await docs.put({ ...base, _deleted: true })
      if (!random.chance(0.4)) return await docs.put({ ...base, ...(kept === undefined ? {} : { _attachments: kept }) })
      const data = Buffer.from(content(random)).toString('base64')
      const added = { [`at ${random.below(2)}`]: { content_type: 'text/plain', data } }
      return await docs.put({ ...base, _attachments: { ...kept, ...added } })
    },
    async state() {
      const { results } = await docs.changes({ style: 'all_docs', include_docs: true })
      return sorted(results.map(({ id, changes, deleted, doc }) => [id, stateOf(changes, deleted, doc!)]))
    },
    async lacks(edits) {
      const lacking: Edit[] = []
      for (const [id, revs] of group(edits)) {
        // Not by revsDiff, which counts ancestors whose content is gone as missing.
        const leaves = (await docs.get(id, { open_revs: 'all', revs: true })) as unknown as readonly { ok: Leaf }[]
        const known = new Set(
          leaves.flatMap(({ ok: { _revisions } }) =>
            _revisions.ids.map((hash, at) => `${_revisions.start - at}-${hash}`),
          ),
        )
        lacking.push(...revs.filter((rev) => !known.has(rev)).map((rev) => ({ id, rev })))
      }
      return lacking
    },
    async meet(other) {
      if (other.pouch === undefined) return other.meet(this)
      // PouchDB tries nothing twice unless it is live.
      await again(() => docs.replicate.to(other.url ?? other.pouch!))
      await again(() => docs.replicate.from(other.url ?? other.pouch!))
    },
  }
}

function stateOf(
  changes: readonly { readonly rev: string }[],
  deleted: boolean | undefined,
  doc: Readonly<Record<string, unknown>>,
): DocumentState {
  const { _attachments = {}, _conflicts: _, ...fields } = doc
  const digests = Object.entries(_attachments as Record<string, { digest: string }>).map(
    ([name, { digest }]): [string, string] => [name, digest],
  )
  const content = Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1))
  return {
    winner: doc['_rev'],
    deleted: deleted === true,
    leaves: changes.map(({ rev }) => rev).sort(),
    content,
    digests: digests.toSorted(([left], [right]) => (left < right ? -1 : 1)),
  }
}

function sorted(states: readonly (readonly [string, DocumentState])[]): State {
  return new Map([...states].sort(([left], [right]) => (left < right ? -1 : 1)))
}

function group(edits: readonly Edit[]): Map<string, string[]> {
  const byId = new Map<string, string[]>()
  for (const { id, rev } of edits) byId.set(id, [...(byId.get(id) ?? []), rev])
  return byId
}

/** Until it succeeds. */
export async function again<T>(work: () => PromiseLike<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      await sleep(TRY_AGAIN_MS)
    }
  }
}
