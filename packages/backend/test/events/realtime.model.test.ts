/** Goal: each subscriber gets exactly the messages that a naive model makes of the writes, in order, whatever it subscribes to and as whom. */
import { expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import type { JsonObject } from '../../src/gateway/documents.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { LiveWorld, topic, type LiveClient } from './live-world.ts'

const ROOMS = ['a', 'b', 'c']
const OPERATIONS = 150
const POSTS = {
  name: 'posts',
  listRule: 'open = true || owner = @request.auth.id',
  viewRule: "room != 'c'",
  fields: [
    { name: 'room', type: 'text' },
    { name: 'owner', type: 'text' },
    { name: 'votes', type: 'number' },
    { name: 'open', type: 'bool' },
  ],
}

/** A filter in PocketBase's language, and what it means. */
interface Filter {
  readonly text: string
  meets(record: JsonObject): boolean
}

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
    await using world = await LiveWorld.open([POSTS])
    const { below, chance, pick } = seededRandom(seed)
    const ids = Array.from({ length: 6 }, (_, n) => `record${n}`.padEnd(15, '0'))
    const owners = ['u', 'v'].map((letter) => letter.repeat(15))
    const people: Principal[] = [GUEST, SYSTEM]
    for (const owner of owners) people.push(await world.account('users', owner))
    const filterOf = (): Filter => {
      const [room, votes] = [pick(ROOMS), below(5)]
      return pick<Filter>([
        { text: '', meets: () => true },
        { text: `room = '${room}'`, meets: (record) => record['room'] === room },
        { text: `votes > ${votes}`, meets: (record) => Number(record['votes']) > votes },
        {
          text: `'${room}' = room && votes <= ${votes}`,
          meets: (record) => record['room'] === room && Number(record['votes']) <= votes,
        },
        {
          text: `room = '${room}' || open = false`,
          meets: (record) => record['room'] === room || record['open'] !== true,
        },
      ])
    }
    const subscriptions: ModelSubscription[] = []
    const subscribe = async (): Promise<void> => {
      const client = world.connect()
      const principal = pick(people)
      const { isAdmin, account } = principal
      const topics: string[] = []
      for (let n = below(3); n >= 0; n--) {
        const [filter, asksForLeaves, id] = [filterOf(), chance(0.5), chance(0.3) ? pick(ids) : undefined]
        const text = topic(`posts/${id ?? '*'}`, { filter: filter.text, n, ...(asksForLeaves && { leave: true }) })
        // No account is the empty text.
        const isRuled = (record: JsonObject): boolean =>
          isAdmin ||
          (id === undefined
            ? record['open'] === true || record['owner'] === (account?.record['_id'] ?? '')
            : record['room'] !== 'c')
        const meets = (record: JsonObject): boolean =>
          (id === undefined || record['id'] === id) && isRuled(record) && filter.meets(record)
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
      if (next === undefined) await world.delete('posts', id)
      else if (old === undefined) await world.create('posts', next)
      else await world.update('posts', id, values)
      if (next === undefined) records.delete(id)
      else records.set(id, next)
      const action = next === undefined ? 'delete' : old === undefined ? 'create' : 'update'
      for (const { meets, asksForLeaves, expected } of subscriptions)
        if (meets((next ?? old)!)) expected.push(`${action} ${id}`)
        else if (asksForLeaves && action === 'update' && meets(old!)) expected.push(`leave ${id}`)
    }
    for (let n = 0; n < 10; n++) await subscribe()
    for (let n = 0; n < OPERATIONS; n++) {
      if (chance(0.1)) await subscribe()
      await write(pick(ids))
    }
    await world.settled()
    const got = subscriptions.map(({ client, topic: text }) =>
      client.got.flatMap((message) => {
        const { action, record } = message.data as { readonly action: string; readonly record: JsonObject }
        return message.topic === text ? [`${action} ${String(record['id'])}`] : []
      }),
    )
    expect(got).toEqual(subscriptions.map(({ expected }) => expected))
  })
