/**
 * Goal: no event and no signal tells what a subscriber may not see. Two collections differ in hidden records alone: what a restricted
 * subscriber of each gets is alike, to the byte and in the same order.
 * Method: random rules. Records that the caller sees are made, changed and deleted in both, hidden ones only in the first. What a change
 * would do is tried in a third collection. A change that shows or hides a record is left out: the second one has no such record.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { EventClient, topic } from './event-client.ts'
import { neutral, OracleWorld, randomFields } from './oracle-world.ts'
import { ITSELF } from './rest-server.ts'

const STEPS = 30
const IDS_COUNT = 8
const COMPARED = ['posts_a', 'posts_b'] as const

let world: OracleWorld
/** Changes of hidden records, events and signals, in all seeds. */
const counts = { hidden: 0, events: 0, signals: 0 }

beforeAll(async () => {
  world = await OracleWorld.start([...COMPARED, 'posts_c'])
})
afterAll(async () => {
  await world.server.close()
  expect(Object.values(counts).every((count) => count > 0)).toBe(true)
})

type Change = readonly [id: string, fields: Readonly<Record<string, unknown>> | undefined]

async function apply(name: string, [id, fields]: Change): Promise<void> {
  const { records } = world.server.server.backend
  if (fields === undefined) await records.delete(ITSELF, name, id)
  else if (await isThere(name, id)) await records.update(ITSELF, name, id, fields)
  else await records.create(ITSELF, name, { id, ...fields })
}

async function isThere(name: string, id: string): Promise<boolean> {
  return (await world.server.call(`GET /collections/${name}/records/${id}`)).status === 200
}

/** A random change, and where it takes place; undefined: it would show or hide a record. */
async function tryChange(
  random: Random,
  ids: readonly string[],
  caller: string,
): Promise<readonly [Change, readonly string[]] | undefined> {
  const id = random.pick(ids)
  const [isOld, before] = [await isThere('posts_c', id), await world.visible('posts_c', caller)]
  const change: Change = [id, isOld && random.chance(0.2) ? undefined : randomFields(random)]
  const { json: old } = await world.server.call(`GET /collections/posts_c/records/${id}`)
  await apply('posts_c', change)
  const isSeen = (await world.visible('posts_c', caller)).has(id)
  if (isOld && change[1] !== undefined && isSeen !== before.has(id)) {
    const { title, level, tags, owner, team } = old
    await apply('posts_c', [id, { title, level, tags, owner, team }])
    return undefined
  }
  const isHidden = isOld ? !before.has(id) : !isSeen
  return [change, isHidden ? ['posts_a'] : COMPARED]
}

/** Subscribes to a collection in each way. */
async function subscribe(name: string, ids: readonly string[], caller: string): Promise<EventClient> {
  const client = await EventClient.open(world.server.url)
  const topics = [
    `${name}/*`,
    topic(`${name}/*`, { filter: 'level > 1', expand: 'team' }),
    ...ids.map((id) => `${name}/${id}`),
    `@sync/${name}`,
  ]
  const { status, text } = await client.subscribe(topics, caller)
  expect([status, text]).toEqual([204, ''])
  return client
}

test.for(seedsOf('model', 3))('seed %i: hidden records change no event and no signal', async (seed) => {
  const random = seededRandom(seed)
  const rule = await world.begin(random)
  const caller = random.pick(['', world.token])
  const ids = Array.from({ length: IDS_COUNT }, (_, n) => `live${n}x${seed.toString(36)}`.padEnd(15, 'r'))
  const end = `end${seed}`.padEnd(15, 'x')
  const clients = await Promise.all(COMPARED.map((name) => subscribe(name, ids, caller)))
  const ends = await Promise.all(COMPARED.map(() => EventClient.open(world.server.url)))
  for (const client of ends) await client.subscribe([`teams/*`], world.server.token)
  const changes: string[] = []
  for (let step = 0; step < STEPS; step++) {
    const tried = await tryChange(random, ids, caller)
    if (tried === undefined) continue
    const [change, places] = tried
    changes.push(`${JSON.stringify(change)} in ${places.join(' and ')}`)
    for (const name of places) await apply(name, change)
    counts.hidden += Number(places.length === 1)
  }
  // Messages of commits come in their order: what was sent before this one has come.
  await world.server.server.backend.records.create(ITSELF, 'teams', { id: end })
  for (const client of ends) await client.has(1)
  const [first, second] = clients.map(({ messages }) =>
    messages.map(({ event, data }) => neutral(`${event} ${JSON.stringify(data)}`)),
  )
  expect(first, `${rule}\n${changes.join('\n')}`).toEqual(second)
  for (const message of first!) counts[message.startsWith('@sync/') ? 'signals' : 'events']++
  for (const client of [...clients, ...ends]) client.close()
})
