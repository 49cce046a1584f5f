/**
 * Goal: a push does what its writes would do one after another by REST, once, and a rejected transaction leaves nothing.
 * Method: random transactions of several accounts and devices, with relations, a unique index and bases of all kinds. Some are sent again.
 * Roles, records and rules change in between. A second server judges each transaction naively: push-model.ts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, type Random } from '../../../db/testing/random.ts'
import { seedsOf, timeoutOf } from '../../../../tools/test/seeds.ts'
import { idOf, NAMES, PushModel, USERS, type ModelTransaction, type ModelWrite, type UserName } from './push-model.ts'

const STEPS = 30
const IDS = 4
const CONDITIONS: Readonly<Record<(typeof NAMES)[number], readonly string[]>> = {
  teams: ['members.id ?= @request.auth.id', 'open = true', "@request.auth.role = 'boss'", 'size < 3'],
  items: [
    'team.members.id ?= @request.auth.id',
    'team.open = true',
    'owner = @request.auth.id',
    "@request.auth.role = 'boss'",
    'count < 4',
    "title != 'b'",
    '@request.body.code:isset = false',
  ],
}

/** A device, and what it knows. */
interface Device {
  readonly user: UserName
  readonly name: string
  readonly sent: ModelTransaction[]
  next: number
  /** Revisions of its last pull. */
  revs: ReadonlyMap<string, string>
}

let model: PushModel
/** How many transactions had each outcome. */
const outcomes: Record<string, number> = {}

beforeAll(async () => {
  model = await PushModel.start()
})
afterAll(() => model.close())

class World {
  readonly #random: Random
  readonly #devices: readonly Device[]

  constructor(random: Random, seed: number) {
    this.#random = random
    // Ann has two.
    this.#devices = [...USERS, USERS[0]].map((user, number) => ({
      user,
      name: `device-${number}-of-${user}-in-${seed}`,
      sent: [],
      next: 1,
      revs: new Map(),
    }))
  }

  async begin(): Promise<void> {
    await model.clear()
    for (const name of NAMES) await this.#changeRules(name)
    for (let n = 0; n < 3; n++)
      await model.change('POST /collections/teams/records', { id: idOf(`teams${n}`), ...this.#valuesOf('teams') })
    for (let n = 0; n < 3; n++)
      await model.change('POST /collections/items/records', { id: idOf(`items${n}`), title: 'a', team: idOf('teams0') })
    for (const user of USERS) await model.change(`PATCH /collections/users/records/${idOf(user)}`, { role: '' })
  }

  async step(): Promise<void> {
    const { pick, below } = this.#random
    const dice = below(20)
    const device = pick(this.#devices)
    if (dice < 12) await this.#push(device)
    else if (dice < 14) device.revs = await model.pulled(device.user)
    else if (dice < 15) await this.#changeRules(pick(NAMES))
    else if (dice < 17)
      await model.change(`PATCH /collections/users/records/${idOf(pick(USERS))}`, { role: pick(['', 'boss']) })
    else await this.#changeTeam()
  }

  async #push(device: Device): Promise<void> {
    const { below, chance, pick } = this.#random
    if (chance(0.6)) device.revs = await model.pulled(device.user)
    const transactions: ModelTransaction[] = []
    for (let left = 1 + below(2); left > 0; left--) {
      const transaction = { n: device.next++, writes: [] as ModelWrite[] }
      const count = pick([1, 1, 2, 3, 4])
      while (transaction.writes.length < count) transaction.writes.push(this.#write(device, transaction))
      transactions.push(transaction)
      device.sent.push(transaction)
    }
    if (chance(0.3)) {
      const old = pick(device.sent)
      if (!transactions.includes(old)) transactions.unshift(old)
    }
    for (const { status, code = status } of await model.push(device.user, device.name, transactions))
      outcomes[code] = (outcomes[code] ?? 0) + 1
  }

  #write(device: Device, { n, writes }: ModelTransaction): ModelWrite {
    const { below, pick, chance } = this.#random
    const collection = chance(0.8) ? 'items' : 'teams'
    const action = pick(['create', 'create', 'update', 'update', 'update', 'delete'] as const)
    // What the transaction has touched before is touched again now and then.
    const own = writes.filter((write) => write.collection === collection)
    const id = own.length > 0 && chance(0.5) ? pick(own).id : idOf(`${collection}${below(IDS)}`)
    const values = this.#valuesOf(collection)
    if (action === 'create') return { collection, action, id, values }
    const base = this.#baseOf(device, { collection, id }, n, writes)
    // Each update changes something.
    const changed = Object.fromEntries(Object.entries(values).filter(() => chance(0.5)))
    const grown = collection === 'items' ? { 'count+': 1 } : { 'size+': 1 }
    return action === 'delete'
      ? { collection, action, id, base }
      : { collection, action, id, base, values: { ...changed, ...grown } }
  }

  #baseOf(
    { revs, sent }: Device,
    { collection, id }: Pick<ModelWrite, 'collection' | 'id'>,
    n: number,
    writes: readonly ModelWrite[],
  ): NonNullable<ModelWrite['base']> | null {
    const { pick, below } = this.#random
    const isOf = (write: ModelWrite): boolean => write.collection === collection && write.id === id
    const own = writes.findLastIndex(isOf)
    const kind = below(10)
    if (own !== -1 && kind < 6) return { n, at: own }
    const on = sent.filter((transaction) => transaction.writes.some(isOf))
    if (on.length > 0 && kind < 4) {
      const transaction = pick(on.slice(-2))
      return { n: transaction.n, at: transaction.writes.findLastIndex(isOf) }
    }
    if (kind < 9) return revs.get(`${collection}/${id}`) ?? null
    return below(2) === 0 ? { n: pick([n, 999]), at: below(4) } : null
  }

  #valuesOf(collection: (typeof NAMES)[number]): Readonly<Record<string, unknown>> {
    const { pick, below, chance } = this.#random
    if (collection === 'teams')
      return { members: USERS.filter(() => chance(0.5)).map(idOf), open: chance(0.3), size: below(4) }
    return {
      title: chance(0.1) ? 'much too long a title' : pick(['a', 'b', 'c']),
      code: chance(0.7) ? '' : pick(['k1', 'k2']),
      count: below(5),
      team: chance(0.2) ? '' : idOf(`teams${below(IDS)}`),
      owner: pick(['', ...USERS.map(idOf)]),
    }
  }

  async #changeRules(name: (typeof NAMES)[number]): Promise<void> {
    const { pick, below, chance } = this.#random
    const rule = (): string | null =>
      chance(0.05)
        ? null
        : chance(0.5)
          ? ''
          : Array.from({ length: 1 + below(2) }, () => pick(CONDITIONS[name])).join(pick([' && ', ' || ']))
    const [listRule, createRule, updateRule, deleteRule] = [rule(), rule(), rule(), rule()]
    await model.change(`PATCH /collections/${name}`, {
      listRule,
      viewRule: listRule,
      createRule,
      updateRule,
      deleteRule,
    })
  }

  async #changeTeam(): Promise<void> {
    const [first] = this.#random.chance(0.8) ? [...(await model.all('teams')).keys()] : []
    if (first !== undefined) await model.change(`PATCH /collections/teams/records/${first}`, this.#valuesOf('teams'))
  }
}

test.for(seedsOf('model'))(
  'seed %i: a push is what its writes are one after another by REST',
  { timeout: timeoutOf(120_000) },
  async (seed) => {
    const world = new World(seededRandom(seed), seed)
    await world.begin()
    for (let step = 0; step < STEPS; step++) await world.step()
  },
)

// A few seeds do not meet all of them.
if (seedsOf('model').length > 9)
  test('transactions were taken, and refused for each reason', () => {
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(['ok', 'INVALID', 'CONFLICT', 'NOT_FOUND', 'DEPENDS']))
  })
