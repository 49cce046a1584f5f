/**
 * Two servers with the same records. One is pushed to, and the other one is the judge. It gets the writes of a transaction one after
 * another, as requests of REST by the same account. If one is refused, the judge is put back to what it was. Bases are judged here: only
 * the pushed server has the revisions that devices know.
 */
import { expect } from 'vitest'
import type { Answer } from '../test-server.ts'
import type { Outcome, PushedTransaction } from './push-server.ts'
import { PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

type Fields = Readonly<Record<string, unknown>> & { readonly id: string }
type Base = string | { readonly n: number; readonly at: number } | null
export interface ModelWrite {
  readonly collection: string
  readonly action: 'create' | 'update' | 'delete'
  readonly id: string
  readonly base?: Base
  readonly values?: Readonly<Record<string, unknown>>
}
export interface ModelTransaction extends PushedTransaction {
  readonly writes: readonly ModelWrite[]
}
/** What the judge says. `codes`: any of them, where a write has several faults. */
type Verdict =
  | { readonly status: 'ok' }
  | { readonly status: 'rejected'; readonly at: number; readonly codes: string[] }
/** The records of a collection by their ids. */
type State = ReadonlyMap<string, Fields>

export const USERS = ['ann', 'ben', 'cat'] as const
export type UserName = (typeof USERS)[number]
export const NAMES = ['teams', 'items'] as const
export const idOf = (name: string): string => name.padEnd(15, '0')
const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const
const CODES: Readonly<Record<number, string>> = { 400: 'INVALID', 403: 'FORBIDDEN', 404: 'NOT_FOUND' }

const TEAMS = {
  id: 'pbc_teams',
  name: 'teams',
  type: 'base',
  fields: [
    { name: 'members', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 9 },
    { name: 'open', type: 'bool' },
    { name: 'size', type: 'number' },
  ],
}
const ITEMS = {
  id: 'pbc_items',
  name: 'items',
  type: 'base',
  fields: [
    { name: 'title', type: 'text', max: 12 },
    { name: 'code', type: 'text' },
    { name: 'count', type: 'number' },
    { name: 'team', type: 'relation', collectionId: TEAMS.id },
    { name: 'owner', type: 'relation', collectionId: '_pb_users_auth_' },
  ],
  indexes: ["CREATE UNIQUE INDEX `idx_code` ON `items` (`code`) WHERE `code` != ''"],
}

/** One of the two servers. */
class Side {
  readonly server: RestServer
  readonly #tokens: Readonly<Record<UserName, string>>

  private constructor(server: RestServer, tokens: Readonly<Record<UserName, string>>) {
    this.server = server
    this.#tokens = tokens
  }

  static async start(): Promise<Side> {
    const server = await startRest()
    const must = async (request: string, body: object): Promise<void> => {
      const { status, text } = await server.call(request, body)
      expect([request, status, text]).toEqual([request, 200, expect.anything()])
    }
    await must('PATCH /collections/users', {
      fields: [
        ...((await server.call('GET /collections/users')).json['fields'] as object[]),
        { name: 'role', type: 'text' },
      ],
    })
    for (const collection of [TEAMS, ITEMS]) await must('POST /collections', collection)
    const tokens: Partial<Record<UserName, string>> = {}
    for (const name of USERS) {
      const email = `${name}@example.com`
      const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
      await must('POST /collections/users/records', { id: idOf(name), email, ...secret })
      tokens[name] = await tokenFor(server.url, 'users', email, PASSWORD)
    }
    return new Side(server, tokens as Record<UserName, string>)
  }

  /** Without a user: the superuser's. */
  ask(request: string, body?: unknown, user?: UserName): Promise<Answer> {
    return this.server.call(request, body, user === undefined ? this.server.token : this.#tokens[user])
  }

  /** With `_rev`, as the user sees it. */
  async list(collection: string, user?: UserName): Promise<State> {
    const { status, json } = await this.ask(
      `GET /collections/${collection}/records?perPage=500&fields=*,_rev`,
      undefined,
      user,
    )
    return new Map(status === 200 ? (json['items'] as unknown as Fields[]).map((record) => [record.id, record]) : [])
  }

  async write({ collection, action, id, values = {} }: ModelWrite, user?: UserName): Promise<Answer> {
    const path = `/collections/${collection}/records${action === 'create' ? '' : `/${id}`}`
    const body = action === 'delete' ? undefined : action === 'create' ? { ...values, id } : values
    return this.ask(`${METHODS[action]} ${path}`, body, user)
  }
}

export class PushModel {
  readonly #pushed: Side
  readonly #judge: Side
  /** What came of each transaction that was pushed, by user, device and number. */
  readonly #verdicts = new Map<string, { readonly verdict: Verdict; readonly revs: readonly (string | null)[] }>()
  /** The superuser's revision that a user's one means. */
  readonly #meaning = new Map<string, string>()

  private constructor(pushed: Side, judge: Side) {
    this.#pushed = pushed
    this.#judge = judge
  }

  static async start(): Promise<PushModel> {
    return new PushModel(await Side.start(), await Side.start())
  }

  async close(): Promise<void> {
    for (const { server } of [this.#pushed, this.#judge]) await server.close()
  }

  /** A change of the superuser's, on both servers. */
  async change(request: string, body?: object): Promise<void> {
    for (const side of [this.#pushed, this.#judge]) {
      const { status, text } = await side.ask(request, body)
      expect([request, status, text]).toEqual([request, status < 300 ? status : 0, text])
    }
  }

  /** Begins again without records. */
  async clear(): Promise<void> {
    this.#verdicts.clear()
    this.#meaning.clear()
    for (const side of [this.#pushed, this.#judge])
      for (const collection of NAMES.toReversed())
        for (const id of (await side.list(collection)).keys()) await side.write({ collection, action: 'delete', id })
  }

  /** All records of a collection. */
  all(collection: string): Promise<State> {
    return this.#pushed.list(collection)
  }

  /** What a device of the user has pulled: the revisions that the user may list. */
  async pulled(user: UserName): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (const name of NAMES) {
      const [mine, all] = [await this.#pushed.list(name, user), await this.#pushed.list(name)]
      for (const [id, record] of mine) {
        found.set(`${name}/${id}`, String(record['_rev']))
        this.#meaning.set(String(record['_rev']), String(all.get(id)!['_rev']))
      }
    }
    return found
  }

  /** Pushes transactions, and compares each outcome and all records with what the judge says. Gives the outcomes. */
  async push(user: UserName, device: string, transactions: readonly ModelTransaction[]): Promise<readonly Outcome[]> {
    const before = await this.#states(this.#pushed)
    const verdicts: Verdict[] = []
    let revs = new Map(
      NAMES.flatMap((name) => [...before[name]].map(([id, { _rev }]) => [`${name}/${id}`, String(_rev)])),
    )
    // Each is pushed alone, so that the revisions between them are known. What is pushed together is sent again at the end.
    const outcomes: Outcome[] = []
    for (const transaction of transactions) {
      const key = `${user}/${device}/${transaction.n}`
      const verdict = this.#verdicts.get(key)?.verdict ?? (await this.#judged(user, device, transaction, revs))
      const { status, json, text } = await this.#pushed.ask(
        'POST /sync/push',
        { device, transactions: [transaction] },
        user,
      )
      expect([status, text]).toEqual([200, expect.anything()])
      const [outcome] = json['outcomes'] as unknown as [Outcome]
      outcomes.push(outcome)
      verdicts.push(verdict)
      await this.#compare(user, transaction, outcome, verdict)
      const after = await this.#states(this.#pushed)
      revs = new Map(NAMES.flatMap((name) => [...after[name]].map(([id, { _rev }]) => [`${name}/${id}`, String(_rev)])))
      if (!this.#verdicts.has(key)) this.#note(key, transaction, outcome, verdict, revs)
    }
    const again = await this.#pushed.ask('POST /sync/push', { device, transactions }, user)
    expect(again.json['outcomes']).toMatchObject(outcomes.map(({ current: _, ...outcome }) => outcome))
    return outcomes
  }

  async #compare(user: UserName, { writes }: ModelTransaction, outcome: Outcome, verdict: Verdict): Promise<void> {
    if (verdict.status === 'ok') expect(outcome).toMatchObject({ status: 'ok' })
    else {
      expect([outcome.status, outcome.at, verdict.codes]).toEqual([
        'rejected',
        verdict.at,
        expect.arrayContaining([outcome.code]),
      ])
      const { collection, id } = writes[verdict.at]!
      const listed = (await this.#judge.list(collection, user)).get(id)
      expect(withoutRev(outcome.current ?? undefined)).toEqual(withoutRev(listed))
    }
    const [pushed, judged] = [await this.#states(this.#pushed), await this.#states(this.#judge)]
    for (const name of NAMES) expect([name, contents(pushed[name])]).toEqual([name, contents(judged[name])])
  }

  #note(
    key: string,
    { writes }: ModelTransaction,
    { revs = [] }: Outcome,
    verdict: Verdict,
    now: ReadonlyMap<string, string>,
  ): void {
    this.#verdicts.set(key, { verdict, revs })
    for (const [at, rev] of revs.entries()) {
      const place = placeOf(writes[at]!)
      const isLast = writes.findLastIndex((write) => placeOf(write) === place) === at
      if (rev !== null) this.#meaning.set(rev, isLast ? (now.get(place) ?? 'gone') : 'gone')
    }
  }

  /** Applies the writes one after another, and takes all back if one is refused. `revs`: the superuser's before it. */
  async #judged(
    user: UserName,
    device: string,
    { n, writes }: ModelTransaction,
    revs: ReadonlyMap<string, string>,
  ): Promise<Verdict> {
    const before = await this.#states(this.#judge)
    for (const [at, write] of writes.entries()) {
      const base = this.#baseOf(user, device, n, writes, at)
      const isChanged = !isSame(
        (await this.#judge.list(write.collection)).get(write.id),
        before[write.collection as 'teams'].get(write.id),
      )
      const isConflict = typeof base === 'string' && (isChanged || this.#meaning.get(base) !== revs.get(placeOf(write)))
      const { status } = base === false ? { status: 409 } : await this.#judge.write(write, user)
      if (status < 300 && !isConflict) continue
      await this.#restore(before)
      const refused = CODES[status]
      const conflict = isConflict && status !== 404 && status !== 403 ? ['CONFLICT'] : []
      return {
        status: 'rejected',
        at,
        codes: base === false ? ['DEPENDS'] : [...conflict, ...(refused === undefined ? [] : [refused])],
      }
    }
    return { status: 'ok' }
  }

  /** A revision; undefined: whatever is there; false: it builds on what is not there. */
  #baseOf(
    user: UserName,
    device: string,
    n: number,
    writes: readonly ModelWrite[],
    at: number,
  ): string | undefined | false {
    const { base = null } = writes[at]!
    if (base === null || typeof base === 'string') return base ?? undefined
    if (base.n !== n) return this.#verdicts.get(`${user}/${device}/${base.n}`)?.revs[base.at] ?? false
    const on = base.at < at ? writes[base.at] : undefined
    return on !== undefined && placeOf(on) === placeOf(writes[at]!) ? undefined : false
  }

  async #states(side: Side): Promise<Readonly<Record<(typeof NAMES)[number], State>>> {
    return { teams: await side.list('teams'), items: await side.list('items') }
  }

  /** Puts the judge's records back. Its revisions are nobody's. */
  async #restore(before: Readonly<Record<(typeof NAMES)[number], State>>): Promise<void> {
    for (const collection of NAMES) {
      const now = await this.#judge.list(collection)
      const others = [...now].filter(([id, record]) => !isSame(record, before[collection].get(id)))
      // Items go first, as a code may be another one's now. A team that is changed keeps its items.
      for (const [id] of others)
        if (collection === 'items' || !before[collection].has(id))
          await this.#judge.write({ collection, action: 'delete', id })
      for (const [id, record] of before[collection]) {
        if (isSame(now.get(id), record)) continue
        const action = collection === 'teams' && now.has(id) ? 'update' : 'create'
        const { status, text } = await this.#judge.write({ collection, action, id, values: withoutRev(record)! })
        expect([status, text]).toEqual([200, expect.anything()])
      }
    }
  }
}

function placeOf({ collection, id }: ModelWrite): string {
  return `${collection}/${id}`
}

function withoutRev(
  record: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (record === undefined) return undefined
  const { _rev, ...content } = record
  return content
}

function contents(state: State): readonly unknown[] {
  return [...state.values()]
    .map(withoutRev)
    .toSorted((one, other) => (String(one!['id']) < String(other!['id']) ? -1 : 1))
}

function isSame(one: Fields | undefined, other: Fields | undefined): boolean {
  return JSON.stringify(withoutRev(one)) === JSON.stringify(withoutRev(other))
}
