/**
 * Goal: Pannier and PouchDB make the same of the same revisions: winners, conflicts, leaves, ancestry and content.
 *
 * Method: revisions of a few documents are made up at random (branches, several roots, tombstones with and without fields,
 * odd hashes), cut short as a source that has forgotten ancestors would, and delivered in random order to a replica of
 * each kind, which must agree after every delivery. Then replicas of both kinds edit on their own and replicate with one
 * another at random; in the end all of them must agree. (Hashes of edits differ, so each edit is made by one replica.)
 */
import { test, expect } from 'vitest'
import { seededRandom } from '../../testing/random.ts'
import type { Random } from '../../testing/random.ts'
import { carry, pannierReplica, pouchReplica } from './replica.ts'
import type { DocumentState, Replica, Revision } from './replica.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'

const IDS = ['a', 'b', 'constructor', 'naïve 💡']

for (const seed of seedsOf('diff', 2)) {
  test(`the same revisions in any order, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () =>
    deliver(seededRandom(seed)))
  test(`edits on many replicas, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => converge(seededRandom(seed)))
}

async function deliver(random: Random): Promise<void> {
  const limit = random.pick([1000, 1000, 3, 8])
  const replicas = await Promise.all([pouchReplica(limit), pannierReplica(limit)])
  const revisions = shuffled(
    random,
    IDS.flatMap((id) => makeRevisions(random, id, 1 + random.below(25))),
  )
  while (revisions.length > 0) {
    const batch = await unknownTo(replicas, revisions.splice(0, 1 + random.below(6)))
    for (const replica of replicas) await replica.replicate(batch)
    await assertAgreement(replicas, limit)
  }
  for (const replica of replicas) await replica.close()
}

/**
 * As a replicator asks before it sends. PouchDB misses ancestors too whose content it never had; sent to it they change nothing.
 * (To CouchDB and Pannier they tell what their own ancestors are, and to PouchDB they don't; so none is sent.)
 */
async function unknownTo(replicas: readonly Replica[], revisions: readonly Revision[]): Promise<Revision[]> {
  const named = new Map<string, string[]>()
  const known = new Set(
    revisions.flatMap(({ _id, _revisions }) => ancestorsOf(_revisions!).map((rev) => `${_id} ${rev}`)),
  )
  const sent = revisions.filter(({ _id, _rev }) => !known.has(`${_id} ${_rev}`))
  for (const { _id, _rev } of sent) named.set(_id, [...(named.get(_id) ?? []), _rev!])
  const answers = await Promise.all(replicas.map((replica) => replica.missing(named)))
  const missing = ({ _id, _rev }: Revision): boolean[] =>
    answers.map((answer) => answer.get(_id)?.includes(_rev!) === true)
  return sent.filter((revision) => missing(revision).every(Boolean))
}

function ancestorsOf({ start, ids }: NonNullable<Revision['_revisions']>): string[] {
  return ids.slice(1).map((hash, at) => `${start - 1 - at}-${hash}`)
}

async function converge(random: Random): Promise<void> {
  const replicas = await Promise.all([
    pannierReplica(1000),
    pouchReplica(1000),
    pannierReplica(1000),
    pouchReplica(1000),
  ])
  for (let step = 10 + random.below(40); step > 0; step--) {
    const replica = random.pick(replicas)
    if (random.chance(0.7)) await editSomething(random, replica, step)
    else await carry(replica, random.pick(replicas))
  }
  for (const from of replicas) for (const to of replicas) await carry(from, to)
  for (const from of replicas) for (const to of replicas) await carry(from, to)
  await assertAgreement(replicas, 1000)
  for (const replica of replicas) await replica.close()
}

/**
 * Beyond the limit of revisions the two may remember more or less of a leaf's ancestors: PouchDB cuts each leaf's line by itself,
 * and not after every write; CouchDB and Pannier keep an ancestor as long as one leaf needs it. What both know must agree.
 */
async function assertAgreement(replicas: readonly Replica[], limit: number): Promise<void> {
  const states = await Promise.all(replicas.map((replica) => replica.state()))
  const depths = new Map<string, number>()
  for (const state of limit < 1000 ? states : []) {
    for (const { _id, _rev, _revisions } of leavesOf(state)) {
      const depth = Math.min(limit, _revisions!.ids.length, depths.get(`${_id} ${_rev}`) ?? limit)
      depths.set(`${_id} ${_rev}`, depth)
    }
  }
  const [expected, ...others] = states.map((state) => cutTo(state, depths))
  for (const state of others) {
    expect([...state.keys()].sort()).toStrictEqual([...expected!.keys()].sort())
    for (const [id, document] of expected!) expect(state.get(id)).toStrictEqual(document)
  }
}

function leavesOf(state: ReadonlyMap<string, DocumentState>): Revision[] {
  return [...state.values()].flatMap(({ leaves }) => leaves)
}

function cutTo(
  state: ReadonlyMap<string, DocumentState>,
  depths: ReadonlyMap<string, number>,
): Map<string, DocumentState> {
  const cut = (revision: Revision): Revision => {
    const { start, ids } = revision._revisions!
    return { ...revision, _revisions: { start, ids: ids.slice(0, depths.get(`${revision._id} ${revision._rev}`)) } }
  }
  return new Map([...state].map(([id, document]) => [id, { ...document, leaves: document.leaves.map(cut) }]))
}

/** A new document, a change to a leaf, its deletion, or a deleted document made again. */
async function editSomething(random: Random, replica: Replica, step: number): Promise<void> {
  const id = random.pick(IDS)
  const state = (await replica.state()).get(id)
  const value = `${replica.kind} ${step} ${random.below(1e9)}`
  const live = state?.leaves.filter(({ _deleted }) => _deleted !== true) ?? []
  if (live.length === 0) return replica.edit({ _id: id, value })
  const { _rev } = random.pick(live)
  if (random.chance(0.25))
    await replica.edit({ _id: id, _rev: _rev!, _deleted: true, ...(random.chance(0.3) && { value }) })
  else await replica.edit({ _id: id, _rev: _rev!, value })
}

function makeRevisions(random: Random, id: string, count: number): Revision[] {
  const made: Revision[] = []
  for (let number = 0; number < count; number++) {
    const parent =
      made.length === 0 || random.chance(0.08) ? undefined : random.pick(random.chance(0.6) ? made.slice(-2) : made)
    const ancestors = parent === undefined ? [] : [...parent._revisions!.ids]
    const start = (parent?._revisions!.start ?? 0) + 1
    const hash = makeHash(random)
    made.push({
      _id: id,
      _rev: `${start}-${hash}`,
      ...(random.chance(0.2) && { _deleted: true }),
      _revisions: { start, ids: [hash, ...ancestors] },
      ...(random.chance(0.9) && { value: random.below(1000), text: `${number}` }),
    })
  }
  return made.map((revision) => (random.chance(0.2) ? cutShort(random, revision) : revision))
}

/** Mostly as CouchDB and PouchDB make them, but anything goes. */
function makeHash(random: Random): string {
  const digits = Array.from({ length: 32 }, () => random.below(16).toString(16)).join('')
  if (random.chance(0.8)) return digits
  return random.pick([
    digits.toUpperCase(),
    digits.slice(0, 1 + random.below(31)),
    `x${digits}`,
    `name ${random.below(1e6)}`,
  ])
}

function cutShort(random: Random, revision: Revision): Revision {
  const { start, ids } = revision._revisions!
  return { ...revision, _revisions: { start, ids: ids.slice(0, 1 + random.below(ids.length)) } }
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items]
  return Array.from(left, () => left.splice(random.below(left.length), 1)[0]!)
}
