/** A server with projects and their tasks, and accounts that push to it. */
import { expect } from 'vitest'
import { PASSWORD, startRest, tokenFor, type RestServer } from './rest-server.ts'

interface Account {
  readonly id: string
  readonly token: string
}

export interface Outcome {
  readonly n: number
  readonly status: 'ok' | 'rejected'
  readonly revs?: readonly (string | null)[]
  readonly at?: number
  readonly code?: string
  readonly message?: string
  readonly data?: unknown
  readonly current?: Readonly<Record<string, unknown>> | null
}

export interface PushedTransaction {
  readonly n: number
  readonly writes: readonly object[]
}

interface Sender {
  /** A token; Ann's when left out. */
  readonly by?: string
  readonly device?: string
}

export const DEVICE = 'device-of-a-person'
const RULE = 'project.members.id ?= @request.auth.id'

const PROJECTS = {
  id: 'pbc_projects',
  name: 'projects',
  type: 'base',
  listRule: 'members.id ?= @request.auth.id',
  createRule: '@request.auth.id != ""',
  updateRule: 'members.id ?= @request.auth.id',
  fields: [{ name: 'members', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 9 }],
}
const TASKS = {
  id: 'pbc_tasks',
  name: 'tasks',
  type: 'base',
  listRule: RULE,
  createRule: RULE,
  updateRule: RULE,
  deleteRule: RULE,
  fields: [
    { name: 'title', type: 'text', max: 20 },
    { name: 'count', type: 'number' },
    { name: 'tags', type: 'json' },
    { name: 'due', type: 'date' },
    { name: 'project', type: 'relation', collectionId: PROJECTS.id, required: true },
  ],
}

export class PushServer {
  readonly server: RestServer
  readonly ann: Account
  readonly bob: Account
  #next = 1

  private constructor(server: RestServer, ann: Account, bob: Account) {
    this.server = server
    this.ann = ann
    this.bob = bob
  }

  static async start(options?: Parameters<typeof startRest>[0]): Promise<PushServer> {
    const server = await startRest(options)
    for (const collection of [PROJECTS, TASKS]) await server.call('POST /collections', collection)
    return new PushServer(server, await addAccount(server, 'ann'), await addAccount(server, 'bob'))
  }

  /** A number, or a part of an id, that no other has. */
  next(): number {
    return this.#next++
  }

  newId(prefix = 'task'): string {
    return prefix + String(this.next()).padStart(11, '0')
  }

  /** A project of Ann's. */
  async addProject(): Promise<string> {
    const made = await this.server.call('POST /collections/projects/records', { members: [this.ann.id] })
    return String(made.json['id'])
  }

  /** What comes of transactions. */
  async push(
    transactions: readonly PushedTransaction[],
    { by = this.ann.token, device = DEVICE }: Sender = {},
  ): Promise<readonly Outcome[]> {
    const { status, json } = await this.server.call('POST /sync/push', { device, transactions }, by)
    expect([status, json]).toEqual([200, expect.anything()])
    expect(typeof json['boot']).toBe('string')
    return json['outcomes'] as unknown as readonly Outcome[]
  }

  /** What comes of one transaction with these writes. */
  async write(writes: readonly object[], sender?: Sender): Promise<Outcome> {
    const [outcome] = await this.push([{ n: this.next(), writes }], sender)
    return outcome!
  }

  /** A task, as it is stored. */
  async task(id: string): Promise<Readonly<Record<string, unknown>>> {
    return (await this.server.call(`GET /collections/tasks/records/${id}?fields=*,_rev`)).json
  }

  /** The revision of a task, as Ann sees it. */
  async rev(id: string): Promise<unknown> {
    const path = `/collections/tasks/records?fields=_rev&filter=${encodeURIComponent(`id = '${id}'`)}`
    const { json } = await this.server.call(`GET ${path}`, undefined, this.ann.token)
    return (json['items'] as readonly { readonly _rev: string }[])[0]?._rev
  }

  async addTask(values: object): Promise<string> {
    const { json } = await this.server.call('POST /collections/tasks/records', { title: 'one', ...values })
    return String(json['id'])
  }
}

export async function addAccount(server: RestServer, name: string): Promise<Account> {
  const email = `${name}@example.com`
  const password = { password: PASSWORD, passwordConfirm: PASSWORD }
  const made = await server.call('POST /collections/users/records', { email, ...password })
  return { id: String(made.json['id']), token: await tokenFor(server.url, 'users', email, PASSWORD) }
}

export function updating(id: string, values: object, base: unknown = null, rest: object = {}): object {
  return { collection: 'tasks', action: 'update', id, base, values, ...rest }
}
