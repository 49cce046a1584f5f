/** Goal: each subscriber gets exactly the messages that a naive model makes of the writes, in order, whatever it subscribes to and as whom. */
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { LiveWorld, topic, type LiveClient } from './live-world.ts'

const ROOMS = ['a', 'b', 'c']
const OPERATIONS = 150
const FIELDS = [
  { name: 'room', type: 'text' },
  { name: 'owner', type: 'text' },
  { name: 'votes', type: 'number' },
  { name: 'open', type: 'bool' },
]
const WRITERS_MAX = 4

/** A rule or a filter in PocketBase's language, and what it means. */
interface Filter {
  readonly text: string
  /** `account`: the id of who asks; empty for a guest. */
  meets(record: JsonObject, account: string): boolean
}

type Random = ReturnType<typeof seededRandom>

function atomOf({ below, pick }: Random): Filter {
  const [room, votes] = [pick(ROOMS), below(5)]
  return pick<Filter>([
    { text: `room = '${room}'`, meets: (record) => record['room'] === room },
    { text: `'${room}' != room`, meets: (record) => record['room'] !== room },
    { text: `votes > ${votes}`, meets: (record) => Number(record['votes']) > votes },
    { text: 'open = true', meets: (record) => record['open'] === true },
    { text: 'owner = @request.auth.id', meets: (record, account) => record['owner'] === account },
    { text: "@request.auth.id != ''", meets: (_, account) => account !== '' },
  ])
}

/** Some atoms, in brackets or not. */
function filterOf(random: Random, depth = 2): Filter {
  const { chance } = random
  if (depth === 0 || chance(0.4)) return atomOf(random)
  const [one, other] = [filterOf(random, depth - 1), filterOf(random, depth - 1)]
  const isAnd = chance(0.5)
  return {
    text: `(${one.text}) ${isAnd ? '&&' : '||'} (${other.text})`,
    meets: (record, account) =>
      isAnd
        ? one.meets(record, account) && other.meets(record, account)
        : one.meets(record, account) || other.meets(record, account),
  }
}

const ALL: Filter = { text: '', meets: () => true }

interface ModelSubscription {
  readonly client: LiveClient
  readonly topic: string
  /** What the rule and the filter say. */
  meets(record: JsonObject): boolean
  readonly asksForLeaves: boolean
  readonly expected: string[]
}

for (const seed of seedsOf('model'))
  test(`random subscriptions, accounts and writes, seed ${seed}`, { timeout: 120_000 }, async () => {
    const random = seededRandom(seed)
    const { below, chance, pick } = random
    const ruleOf = (): Filter | undefined => (chance(0.1) ? undefined : chance(0.2) ? ALL : filterOf(random))
    const [list, view] = [ruleOf(), ruleOf()]
    const rules = { listRule: list?.text ?? null, viewRule: view?.text ?? null }
    await using world = await LiveWorld.open([{ name: 'posts', ...rules, fields: FIELDS }])
    const ids = Array.from({ length: 6 }, (_, n) => `record${n}`.padEnd(15, '0'))
    const owners = ['u', 'v'].map((letter) => letter.repeat(15))
    const people: Principal[] = [GUEST, SYSTEM]
    for (const owner of owners) people.push(await world.account('users', owner))
    const subscriptions: ModelSubscription[] = []
    const subscribe = async (): Promise<void> => {
      const client = world.connect()
      const principal = pick(people)
      const { isAdmin, account } = principal
      const topics: string[] = []
      for (let n = below(3); n >= 0; n--) {
        const filter = chance(0.2) ? ALL : filterOf(random)
        const [asksForLeaves, id] = [chance(0.5), chance(0.3) ? pick(ids) : undefined]
        const text = topic(`posts/${id ?? '*'}`, { filter: filter.text, n, ...(asksForLeaves && { leave: true }) })
        const rule = id === undefined ? list : view
        const own = account === undefined ? '' : String(account.record['_id'])
        const meets = (record: JsonObject): boolean =>
          (id === undefined || record['id'] === id) &&
          // Only superusers may name these in a filter.
          (isAdmin || (rule?.meets(record, own) === true && !filter.text.includes('@request.'))) &&
          filter.meets(record, own)
        subscriptions.push({ client, topic: text, meets, asksForLeaves, expected: [] })
        topics.push(text)
      }
      await client.subscribeAs(principal, ...topics)
    }
    const records = new Map<string, JsonObject>()
    const write = async (id: string): Promise<void> => {
      const old = records.get(id)
      const values = {
        room: pick(ROOMS),
        owner: pick([...owners, '']),
        votes: below(6),
        open: chance(0.5),
      }
      const next = old !== undefined && chance(0.25) ? undefined : { ...values, id }
      if (next === undefined) records.delete(id)
      else records.set(id, next)
      const action = next === undefined ? 'delete' : old === undefined ? 'create' : 'update'
      for (const { meets, asksForLeaves, expected } of subscriptions)
        if (meets((next ?? old)!)) expected.push(`${id} ${action}`)
        else if (asksForLeaves && action === 'update' && meets(old!)) expected.push(`${id} leave`)
      if (next === undefined) await world.delete('posts', id)
      else if (old === undefined) await world.create('posts', next)
      else await world.update('posts', id, values)
    }
    for (let n = 0; n < 10; n++) await subscribe()
    for (let n = 0; n < OPERATIONS; n++) {
      if (chance(0.1)) await subscribe()
      const first = below(ids.length)
      // Each of those that write at the same time has a record of its own.
      const written = Array.from({ length: 1 + below(WRITERS_MAX) }, (_, at) => ids[(first + at) % ids.length]!)
      await Promise.all(written.map(write))
    }
    await world.settled()
    const got = subscriptions.map(({ client, topic: text }) =>
      client.got.flatMap((message) => {
        const { action, record } = message.data as { readonly action: string; readonly record: JsonObject }
        return message.topic === text ? [`${String(record['id'])} ${action}`] : []
      }),
    )
    expect(got.map(byRecord)).toEqual(subscriptions.map(({ expected }) => byRecord(expected)))
  })

/** In order for each record: those that are written at the same time come in any order. */
function byRecord(messages: readonly string[]): readonly string[] {
  return messages.toSorted((one, other) =>
    one.slice(0, 15) < other.slice(0, 15) ? -1 : Number(one.slice(0, 15) > other.slice(0, 15)),
  )
}
