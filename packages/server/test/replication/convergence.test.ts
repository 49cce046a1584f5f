/**
 * Goal: replicas in Pannier and PouchDB come to the same winners, conflicts and contents, whatever fails between them, and lose nothing
 * that was acknowledged. Method: random edits (conflicts, deletions, attachments) on random replicas, random replications between
 * random pairs over a faulty proxy; then a ring of replications until all are equal. A failing seed is run alone by
 * SEED=n; SEEDS=n runs so many.
 */
import { expect, test } from 'vitest'
import { open } from 'pannier'
import type { Collection, Database } from 'pannier'
import { memory } from 'pannier/memory'
import type PouchDB from 'pouchdb'
import { seededRandom } from '../../../db/testing/random.ts'
import type { Random } from '../../../db/testing/random.ts'
import { faultProxy } from '../../testing/fault-proxy.ts'
import { pouchServer } from '../../testing/pouchdb-server.ts'

const only = process.env['SEED']
const count = Number(process.env['SEEDS'] ?? 20)
const seeds = only === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(only)]

const IDS = ['a', 'b', 'c', 'd', 'e/f', 'ü', 'hasOwnProperty', 'constructor'] as const
const STEPS = 40
const ROUNDS_MAX = 6

/** What replicas must agree on, by id: the winner, the live and dead leaves, the winner's content, its attachments. */
type State = ReadonlyMap<string, unknown>
type Docs = Collection<Record<string, unknown>>

interface Edit {
  readonly id: string
  readonly rev: string
}

interface Leaf {
  readonly _revisions: { readonly start: number; readonly ids: readonly string[] }
}

interface Replica {
  readonly name: string
  readonly collection?: Docs
  readonly pouch?: PouchDB
  /** Undefined: another edit was faster. */
  edit(random: Random, id: string): Promise<Edit | undefined>
  state(): Promise<State>
  lacks(edits: readonly Edit[]): Promise<readonly Edit[]>
  /** Both ways. */
  meet(other: Replica): Promise<void>
}

for (const seed of seeds) {
  test(`seed ${seed} (SEED=${seed})`, { timeout: 60_000 }, async () => {
    const server = await pouchServer()
    const proxy = await faultProxy(server.url, seed)
    const db = await open(`convergence-${seed}`, { storage: memory() })
    try {
      const replicas: Replica[] = [
        ...['p1', 'p2'].map((name) => pouchReplica(server.database(name), name)),
        ...['n1', 'n2', 'n3'].map((name) => pannierReplica(db, name, proxy.url)),
      ]
      await run(seededRandom(seed), replicas, () => (proxy.faults = 0.05))
      expect(await db.check()).toEqual([])
      expect(proxy.made.size, 'kinds of faults').toBeGreaterThan(0)
    } finally {
      await db.close()
      await proxy.close()
      await server.close()
    }
  })
}

async function run(random: Random, replicas: readonly Replica[], calm: () => void): Promise<void> {
  const acknowledged: Edit[] = []
  for (let step = 0; step < STEPS; step++) {
    const replica = random.pick(replicas)
    if (random.chance(0.75)) {
      const edit = await replica.edit(random, random.pick(IDS))
      if (edit !== undefined) acknowledged.push(edit)
    } else {
      const other = random.pick(replicas)
      if (other !== replica) await replica.meet(other)
    }
  }
  calm()
  for (let round = 1; ; round++) {
    for (const [at, replica] of replicas.entries()) await replica.meet(replicas[(at + 1) % replicas.length]!)
    const [first, ...others] = await Promise.all(replicas.map((replica) => replica.state()))
    if (round === ROUNDS_MAX || others.every((other) => JSON.stringify([...other]) === JSON.stringify([...first!]))) {
      for (const [at, other] of others.entries()) expect([...other], replicas[at + 1]!.name).toEqual([...first!])
      break
    }
  }
  for (const replica of replicas) expect(await replica.lacks(acknowledged), replica.name).toEqual([])
}

/** The text of an attachment, long enough now and then to go on its own. */
function content(random: Random): string {
  return `${random.below(1000)} `.repeat(random.chance(0.2) ? 40_000 : 5)
}

function pannierReplica(db: Database, name: string, proxy: string): Replica {
  const docs: Docs = db.collection(name)
  const options = { retry: true, backOff: () => 2, batchSize: 7, timeoutMs: 5000 }
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
      const states: [string, unknown][] = []
      for (const change of await docs.changes({ style: 'all', docs: true }).toArray())
        states.push([change.id, stateOf(change.changes, change.deleted, change.doc as Record<string, unknown>)])
      return sorted(states)
    },
    async lacks(edits) {
      const known = await docs.revsDiff(Object.fromEntries(group(edits)))
      return Object.entries(known).flatMap(([id, { missing }]) => missing.map((rev) => ({ id, rev })))
    },
    async meet(other) {
      const target = other.collection ?? `${proxy}/${other.name}`
      await docs.sync(target, options)
    },
  }
}

function pouchReplica(docs: PouchDB, name: string): Replica {
  return {
    name,
    pouch: docs,
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
      await docs.replicate.to(other.pouch)
      await docs.replicate.from(other.pouch)
    },
  }
}

function stateOf(
  changes: readonly { readonly rev: string }[],
  deleted: boolean | undefined,
  doc: Readonly<Record<string, unknown>>,
): unknown {
  const { _attachments = {}, _conflicts: _, ...fields } = doc
  const digests = Object.entries(_attachments as Record<string, { digest: string }>).map(([name, { digest }]) => [
    name,
    digest,
  ])
  const content = Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1))
  return {
    winner: doc['_rev'],
    deleted: deleted === true,
    leaves: changes.map(({ rev }) => rev).sort(),
    content,
    digests: digests.toSorted(([left], [right]) => (left! < right! ? -1 : 1)),
  }
}

function sorted(states: readonly (readonly [string, unknown])[]): State {
  return new Map([...states].sort(([left], [right]) => (left < right ? -1 : 1)))
}

function group(edits: readonly Edit[]): Map<string, string[]> {
  const byId = new Map<string, string[]>()
  for (const { id, rev } of edits) byId.set(id, [...(byId.get(id) ?? []), rev])
  return byId
}
