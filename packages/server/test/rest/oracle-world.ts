/** Collections that differ in hidden records alone, for tests that compare what a restricted caller gets of them. */
import { expect } from 'vitest'
import type { Random } from '../../../db/testing/random.ts'
import { ITSELF, PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

const CONDITIONS = [
  "title = 'x'",
  "title != 'x'",
  'level > 1',
  "tags:each ?= 't1'",
  'owner = @request.auth.id',
  'owner != @request.auth.id',
  "@request.auth.name = 'Ann'",
  "@request.auth.id != ''",
  'team.open = true',
  'team.members.id ?= @request.auth.id',
  "team.name ~ 'e'",
  '@collection.teams.name ?= title',
]
const TEAMS = ['teamaaaaaaaaaaa', 'teambbbbbbbbbbb']
const ANN = 'annannannannann'

export class OracleWorld {
  readonly server: RestServer
  /** Ann's. */
  readonly token: string
  readonly #names: readonly string[]

  private constructor(server: RestServer, token: string, names: readonly string[]) {
    this.server = server
    this.token = token
    this.#names = names
  }

  /** With collections of these names, which have one length. */
  static async start(names: readonly string[]): Promise<OracleWorld> {
    const server = await startRest()
    const { records } = server.server.backend
    const secret = { password: PASSWORD, passwordConfirm: PASSWORD }
    await records.create(ITSELF, 'users', { id: ANN, name: 'Ann', email: 'ann@example.com', ...secret })
    const token = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
    const users = String((await server.call('GET /collections/users')).json['id'])
    const make = async (name: string, fields: readonly object[], id?: string): Promise<string> => {
      const { status, json, text } = await server.call('POST /collections', { id, name, type: 'base', fields })
      expect([status, text]).toEqual([200, expect.anything()])
      return String(json['id'])
    }
    const teams = await make('teams', [
      { name: 'name', type: 'text' },
      { name: 'open', type: 'bool' },
      { name: 'members', type: 'relation', collectionId: users, maxSelect: 9 },
    ])
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'level', type: 'number' },
      { name: 'pay', type: 'number' },
      { name: 'tags', type: 'select', maxSelect: 2, values: ['t1', 't2'] },
      { name: 'owner', type: 'relation', collectionId: users, maxSelect: 1 },
      { name: 'team', type: 'relation', collectionId: teams, maxSelect: 1 },
    ]
    // Ids of one length, as answers have them.
    for (const [index, name] of names.entries()) await make(name, fields, `pbc_100000000${index + 1}`)
    await records.create(ITSELF, 'teams', { id: TEAMS[0], name: 'one', open: true })
    await records.create(ITSELF, 'teams', { id: TEAMS[1], name: 'x', members: [ANN] })
    return new OracleWorld(server, token, names)
  }

  /** Empties the collections, and gives all of them the same random rules. `rulesPay`: the field `pay` has one too. Gives the rules. */
  async begin(random: Random, rulesPay = false): Promise<string> {
    const rule = randomRule(random)
    const rules = { listRule: rule, viewRule: rule, updateRule: rule, deleteRule: rule, createRule: null }
    const ofPay = !rulesPay || random.chance(0.1) ? null : randomRule(random)
    for (const name of this.#names) {
      await this.server.server.backend.definitions.truncate(ITSELF.principal, name)
      const { fields } = (await this.server.call(`GET /collections/${name}`)).json as unknown as {
        readonly fields: readonly { readonly name: string }[]
      }
      const ruled = fields.map((field) => (field.name === 'pay' && rulesPay ? { ...field, viewRule: ofPay } : field))
      expect((await this.server.call(`PATCH /collections/${name}`, { ...rules, fields: ruled })).status).toBe(200)
    }
    return rulesPay ? `${rule}, ${ofPay}` : rule
  }

  /** The ids of what a caller may list. */
  async visible(name: string, caller: string): Promise<ReadonlySet<string>> {
    const { json } = await this.server.call(`GET /collections/${name}/records`, undefined, caller)
    return new Set((json['items'] as unknown as readonly { readonly id: string }[]).map(({ id }) => id))
  }
}

function randomRule({ below, pick }: Random): string {
  const some = (): string => Array.from({ length: 1 + below(2) }, () => pick(CONDITIONS)).join(' && ')
  return Array.from({ length: 1 + below(2) }, () => `(${some()})`).join(' || ')
}

/** The fields of a record. */
export function randomFields({ pick, below }: Random): Readonly<Record<string, unknown>> & { readonly pay: number } {
  return {
    title: pick(['x', 'one', 'e', '']),
    level: below(4),
    pay: below(4),
    tags: pick([[], ['t1'], ['t1', 't2']]),
    owner: pick(['', ANN]),
    team: pick(['', ...TEAMS]),
  }
}

/** As it would be of any of the collections `posts_a`, `posts_b`. */
export function neutral(text: string): string {
  return text.replace(/posts_[ab]/g, 'posts_N').replace(/"collectionId":"\w+"/g, '"collectionId":"N"')
}
