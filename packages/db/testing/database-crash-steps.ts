/**
 * Seeded work on a database for crash simulations: everything that documents can go through. A step is fixed when it is made, so
 * that it can be run on a database that crashes and on one that does not; it gives what the caller is answered.
 */
import { isPannierError } from '../src/base/errors.ts'
import type { Collection } from '../src/database/collection/collection.ts'
import type { Database } from '../src/database/database.ts'
import { contentBytes, contentPieces } from './attachment-fixture.ts'
import type { Random } from './random.ts'

export interface CrashStep {
  readonly name: string
  /** It is several commits, each of which may be the last; run again it continues where it was. */
  readonly resumable: boolean
  /** It takes its turn when it is asked for, and not when something is loaded. */
  readonly isOrdered: boolean
  run(db: Database): Promise<unknown>
}

const WRITES = ['insert', 'upsert', 'put', 'partly', 'update', 'delete', 'replicate', 'conflict'] as const

type Docs = Collection<Record<string, unknown>>
type Work = (docs: Docs, db: Database) => Promise<unknown>

/** The first one sees most of the work. */
const COLLECTIONS = ['docs', 'docs', 'docs', 'more'] as const
const IDS: readonly string[] = Array.from({ length: 8 }, (_, n) => `d${n}`)
/** What documents may answer to a step that does not fit them. */
const ANSWERS = ['PANNIER_CONFLICT', 'PANNIER_NOT_FOUND', 'PANNIER_ATTACHMENT_MISSING'] as const
/** Longer than what is read into memory: it is uploaded ahead. */
const LONG_BYTES: number = 1024 * 1024 + 5

/** `reference` tells the revisions that there are. */
export async function randomStep(random: Random, reference: Database): Promise<CrashStep> {
  const kinds = Object.keys(STEPS) as (keyof typeof STEPS)[]
  const kind = random.chance(0.3) ? random.pick(WRITES) : random.pick(kinds)
  const name = random.pick(COLLECTIONS)
  const work = await STEPS[kind](random, reference.collection(name))
  return {
    name: kind,
    resumable: kind === 'compact' || kind === 'index' || kind === 'settings',
    isOrdered: (WRITES as readonly string[]).includes(kind),
    run: async (db) => {
      try {
        return plain(await work(db.collection(name), db))
      } catch (error) {
        if (ANSWERS.some((code) => isPannierError(error, code))) return (error as Error).message
        throw error
      }
    },
  }
}

function content(random: Random): Record<string, unknown> {
  const length = random.pick([0, 10, 10, 300, 300, 20_000])
  return { n: random.below(20), tag: `t${random.below(4)}`, filling: 'x'.repeat(length) }
}

function batch(random: Random): (Record<string, unknown> & { _id: string })[] {
  const count = random.pick([1, 1, 1, 4, 12])
  const from = random.below(IDS.length)
  return Array.from({ length: count }, (_, at) => ({ _id: IDS[(from + at) % IDS.length]!, ...content(random) }))
}

/** Revisions of other replicas: few suffixes, so that they join what is there. */
function replicated(random: Random): Record<string, unknown> & { _id: string } {
  const length = 1 + random.below(4)
  const start = length + random.below(2)
  const ids = Array.from({ length }, () => random.pick(['a', 'b', 'c', '0123456789abcdef0123456789abcdef']))
  return {
    ...content(random),
    _id: random.pick(IDS),
    _rev: `${start}-${ids[0]}`,
    _revisions: { start, ids },
    ...(random.chance(0.2) && { _deleted: true }),
  }
}

async function someLeaf(random: Random, docs: Docs, id: string): Promise<string | undefined> {
  const leaves = (await docs.getRevisions(id, 'all')).flatMap((leaf) => ('ok' in leaf ? [leaf.ok._rev] : []))
  return leaves.length === 0 || random.chance(0.1) ? undefined : random.pick(leaves)
}

const STEPS = {
  insert: async (random): Promise<Work> => {
    const documents = batch(random)
    return (docs) => docs.insert(documents)
  },
  upsert: async (random): Promise<Work> => {
    const documents = batch(random)
    return (docs) => docs.upsert(documents)
  },
  put: async (random, reference): Promise<Work> => {
    const _id = random.pick(IDS)
    const _rev = await someLeaf(random, reference, _id)
    const document = { _id, ...content(random), ...(_rev !== undefined && { _rev }) }
    return (docs) => docs.put(document)
  },
  partly: async (random): Promise<Work> => {
    const documents = batch(random)
    return async (docs) =>
      (await docs.insert(documents, { atomic: false })).map((result) => ('rev' in result ? result.rev : result.id))
  },
  update: async (random): Promise<Work> => {
    const id = random.pick(IDS)
    return (docs) => docs.update(id, (document) => ({ ...document, n: Number(document['n'] ?? 0) + 1 }))
  },
  delete: async (random, reference): Promise<Work> => {
    const _id = random.pick(IDS)
    const _rev = await someLeaf(random, reference, _id)
    return (docs) => docs.delete(_rev === undefined ? _id : { _id, _rev })
  },
  replicate: async (random): Promise<Work> => {
    const documents = Array.from({ length: 1 + random.below(4) }, () => replicated(random))
    return (docs) => docs.put(documents, { newEdits: false })
  },
  conflict: async (random): Promise<Work> => {
    const _id = random.pick(IDS)
    const documents = ['x', 'y', 'z'].map((suffix) => ({ _id, _rev: `1-${suffix}`, ...content(random) }))
    return (docs) => docs.put(documents, { newEdits: false })
  },
  resolve: async (random): Promise<Work> => {
    const id = random.pick(IDS)
    return (docs) =>
      docs.resolve(id, (leaves) => ({ n: leaves.reduce((sum, leaf) => sum + Number(leaf['n'] ?? 0), 0) }))
  },
  purge: async (random, reference): Promise<Work> => {
    const id = random.pick(IDS)
    const rev = random.chance(0.5) ? await someLeaf(random, reference, id) : undefined
    return (docs) => docs.purge(id, rev)
  },
  compact: async (): Promise<Work> => (docs) => docs.compact(),
  inline: async (random): Promise<Work> => {
    const seed = random.below(3)
    const document = { ...content(random), _id: random.pick(IDS) }
    const data = contentBytes(seed, random.pick([0, 20, 3000]))
    return (docs) => docs.upsert({ ...document, _attachments: { inline: { data } } })
  },
  stream: async (random): Promise<Work> => {
    const id = random.pick(IDS)
    const seed = random.below(3)
    const length = random.pick([100, 5000, LONG_BYTES])
    return (docs) => docs.putAttachment(id, 'streamed', contentPieces(seed, length))
  },
  detach: async (random): Promise<Work> => {
    const id = random.pick(IDS)
    const name = random.pick(['inline', 'streamed'])
    return (docs) => docs.deleteAttachment(id, name)
  },
  local: async (random, reference): Promise<Work> => {
    const _id = random.pick(['p', 'q'])
    const _rev = (await reference.local.get(_id))?._rev
    const document = { _id, n: random.below(100), ...(_rev !== undefined && { _rev }) }
    return random.chance(0.3) ? (docs) => docs.local.delete(_id) : (docs) => docs.local.put(document)
  },
  index: async (random): Promise<Work> => {
    const index = random.pick(['n', 'tag'])
    if (random.chance(0.3)) return (docs) => docs.dropIndex(index)
    return async (_, db) => {
      await db.collection('docs', { indexes: [index] }).ready()
    }
  },
  settings: async (random): Promise<Work> => {
    const history = random.chance(0.5)
    const revisionsLimit = random.pick([3, 1000])
    return async (docs, db) => {
      await db.collection(docs.name, { history, revisionsLimit }).ready()
    }
  },
  drop: async (): Promise<Work> => (_, db) => db.dropCollection('more'),
  transaction: async (random): Promise<Work> => {
    const documents = batch(random)
    const id = random.pick(IDS)
    const fails = random.chance(0.2)
    return (_, db) =>
      db.transaction(async (tx) => {
        const results = await tx.collection('docs').upsert(documents)
        await tx.collection('more').purge(id)
        await tx.collection('more').put({ ...documents[0]!, _id: id, _rev: '1-t' }, { newEdits: false })
        await tx.collection('docs').local.put({ _id: `tx${documents[0]!._id}` })
        if (fails) await tx.collection('docs').update('nobody', (document) => document)
        return results
      })
  },
  checkpoint: async (): Promise<Work> => (_, db) => db.flush(),
} satisfies Record<string, (random: Random, reference: Docs) => Promise<Work>>

/** All that can be seen of a database, in an order of its own. */
export async function dump(db: Database): Promise<unknown> {
  const collections: unknown[] = []
  for (const name of await db.collections()) {
    const docs: Docs = db.collection(name)
    await docs.ready()
    const info = await docs.info()
    const changes = await docs.changes({ style: 'all', docs: true }).toArray()
    const documents = []
    for (const { id, deleted, changes: leaves } of changes.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
      const options = { revs: true, attachments: 'base64' } as const
      documents.push({ id, deleted, leaves, revisions: await docs.getRevisions(id, 'all', options) })
    }
    const indexes = await docs.indexes()
    const found = await Promise.all([0, 1, 2, 3].map((tag) => docs.find({ tag: `t${tag}` }).count()))
    const conflicts = await docs.conflicts()
    const local = await docs.local.list()
    const failures = await docs.migrationFailures()
    const counts = [info.documents, info.deleted]
    collections.push({ name, counts, documents, indexes, found, conflicts, local, failures })
  }
  return plain(collections)
}

function plain(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value))
}
