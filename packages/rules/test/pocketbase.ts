/** A real PocketBase with the world of the cases, and what it answers. */
import { logIn, PocketBaseServer } from '../../../tools/test/pocketbase.ts'
import type { Case } from './cases.ts'
import { nameOf } from './cases.ts'
import type { CollectionDefinition, RuleRecord } from '../src/index.ts'
import { DANGLING, DEFINITIONS, id, PASSWORD, RECORDS } from './world.ts'

interface Reply {
  readonly status: number
  readonly body: { readonly items?: readonly { readonly id: string }[]; readonly id?: string }
}

/** What a PocketBase is filled with. */
export interface PeerWorld {
  /** All view rules are `''` and no other rules are set, unless a definition says otherwise. */
  readonly definitions: readonly CollectionDefinition[]
  readonly records: Readonly<Record<string, readonly RuleRecord[]>>
  /** Statements that make what the API refuses. */
  readonly dangling: readonly string[]
}

const RULES_WORLD: PeerWorld = { definitions: DEFINITIONS, records: RECORDS, dangling: DANGLING }

export class PocketBase implements AsyncDisposable {
  readonly #server: PocketBaseServer
  readonly #world: PeerWorld
  readonly #tokens = new Map<string, string>([['guest', '']])
  readonly #rules = new Map<string, unknown>()

  static async start(binary: string, world: PeerWorld = RULES_WORLD): Promise<PocketBase> {
    const peer = new PocketBase(await PocketBaseServer.start(binary), world)
    try {
      await peer.#load()
    } catch (error) {
      await peer[Symbol.asyncDispose]()
      throw error
    }
    return peer
  }

  private constructor(server: PocketBaseServer, world: PeerWorld) {
    this.#server = server
    this.#world = world
    this.#tokens.set('super', server.token)
  }

  async #load(): Promise<void> {
    const { definitions, records: all, dangling } = this.#world
    await this.#must('DELETE', '/api/collections/users', undefined)
    const rules = { viewRule: '', createRule: null, updateRule: null, deleteRule: null }
    const collections = definitions.map((definition) => ({ ...rules, ...definition }))
    await this.#must('PUT', '/api/collections/import', { collections, deleteMissing: false })
    for (const [name, records] of Object.entries(all))
      for (const record of records) {
        const account = name === 'users' ? { password: PASSWORD, passwordConfirm: PASSWORD } : {}
        const later = name === 'posts' && record['author'] === id('gone') ? { author: '', reviewers: [] } : {}
        await this.#must('POST', `/api/collections/${name}/records`, { ...record, ...account, ...later })
      }
    for (const query of dangling) await this.#must('POST', '/api/sql', { query })
    for (const { id: user, email } of all['users']!)
      this.#tokens.set(nameOf(user as string), await logIn(this.#server.url, 'users', email as string, PASSWORD))
  }

  async #must(method: string, path: string, body: unknown, as = 'super'): Promise<Reply> {
    const reply = await this.#ask(method, path, as, body)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }

  /** Status and body of an answer. */
  get(path: string, as: string): Promise<{ readonly status: number; readonly body: unknown }> {
    return this.#server.ask('GET', path, undefined, this.#tokens.get(as)!)
  }

  async #ask(method: string, path: string, as: string, body?: unknown, headers: object = {}): Promise<Reply> {
    const { status, body: answer = {} } = await this.#server.ask(method, path, body, this.#tokens.get(as)!, headers)
    return { status, body: answer as Reply['body'] }
  }

  async #setRule(collection: string, kind: string, rule: string): Promise<boolean> {
    const key = `${collection} ${kind}`
    const before = this.#world.definitions.find(({ name }) => name === collection)!.listRule
    if ((this.#rules.get(key) ?? (kind === 'listRule' ? before : null)) === rule) return true
    const { status } = await this.#ask('PATCH', `/api/collections/${collection}`, 'super', { [kind]: rule })
    if (status === 200) this.#rules.set(key, rule)
    return status === 200
  }

  /** The names of the records that are listed, `ok` for a write, else the status; `refused` if the rule can't be saved. */
  async answer({ on, as, rule, filter, sort, query, headers, write }: Case): Promise<string> {
    const kind = write === undefined ? 'listRule' : write.id === undefined ? 'createRule' : 'updateRule'
    const usual = this.#world.definitions.find(({ name }) => name === on)!.listRule ?? ''
    if (!(await this.#setRule(on, kind, rule ?? usual))) return 'refused'
    const path = `/api/collections/${on}/records`
    if (write === undefined) {
      const parameters = {
        ...query,
        ...(filter === undefined ? {} : { filter }),
        ...(sort === undefined ? {} : { sort }),
      }
      const search = new URLSearchParams({ ...parameters, perPage: '500', skipTotal: 'true' })
      const { status, body } = await this.#ask('GET', `${path}?${search.toString()}`, as, undefined, headers)
      return status === 200 ? namesOf(body.items!.map((item) => item.id)) : String(status)
    }
    if (write.id === undefined) {
      const { status, body } = await this.#ask('POST', path, as, write.body)
      if (status !== 200) return String(status)
      await this.#must('DELETE', `${path}/${body.id}`, undefined)
      return 'ok'
    }
    const before = this.#world.records[on]!.find((record) => record['id'] === id(write.id!))
    const { status } = await this.#ask('PATCH', `${path}/${id(write.id)}`, as, write.body)
    if (status === 200) await this.#must('PATCH', `${path}/${id(write.id)}`, before)
    return status === 200 ? 'ok' : String(status)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}

/** Sorted, since the order says nothing about the filter. */
export function namesOf(ids: readonly string[]): string {
  return ids.map(nameOf).toSorted().join(' ')
}
