/** One of the two servers, with the application in it. */
import { ask, logIn, type Reply } from '../../../../../tools/test/pocketbase.ts'
import { ACCOUNT_PASSWORD, ACCOUNTS, type App, type Json } from './random-app.ts'
import type { AppRequest } from './random-request.ts'

export class World {
  readonly #url: string
  readonly #tokens = new Map<string, string>([['guest', '']])

  private constructor(url: string, superuser: string) {
    this.#url = url
    this.#tokens.set('super', superuser)
  }

  /** Replaces what is there by the application. */
  static async load(url: string, superuser: string, app: App): Promise<World> {
    const world = new World(url, superuser)
    await world.#clear()
    const bare = app.collections.map((definition) => ({ ...definition, ...NO_RULES }))
    await world.#must('PUT', '/api/collections/import', { collections: bare })
    for (const [name, record] of app.records) {
      const { status } = await world.ask({
        as: 'super',
        method: 'POST',
        path: `/api/collections/${name}/records`,
        body: record,
      })
      if (status !== 200) world.refused.push(`${name} ${String(record['id'])} ${status}`)
    }
    await world.#must('PUT', '/api/collections/import', { collections: app.collections })
    for (const name of ACCOUNTS) {
      const token = await logIn(url, 'users', `${name}@example.com`, ACCOUNT_PASSWORD).catch(() => '')
      world.#tokens.set(name, token)
    }
    return world
  }

  /** Records of the application that were refused. */
  readonly refused: string[] = []

  async #clear(): Promise<void> {
    const { body } = await this.#must('GET', '/api/collections?perPage=200', undefined)
    const own = (body as { items: { name: string; system: boolean; fields: { type: string; name: string }[] }[] }).items
    const plain = own.filter(({ system }) => !system)
    // Relations would keep collections from going.
    for (const { name, fields } of plain) {
      const kept = fields.filter(({ type }) => type !== 'relation')
      await this.#must('PATCH', `/api/collections/${name}`, {
        ...NO_RULES,
        indexes: name === 'users' ? undefined : [],
        fields: kept,
      })
    }
    for (const { name } of plain) await this.#must('DELETE', `/api/collections/${name}`, undefined)
    await this.#must('PATCH', '/api/settings', { batch: { enabled: true } })
  }

  async #must(method: string, path: string, body: Json | undefined): Promise<Reply> {
    const reply = await ask(this.#url, method, path, body, this.#tokens.get('super')!)
    if (reply.status >= 300)
      throw new Error(`${this.#url} ${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }

  ask({ as, method, path, body }: AppRequest): Promise<Reply> {
    return ask(this.#url, method, path, body, this.#tokens.get(as)!)
  }
}

const NO_RULES: Json = { listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null }

/** Without what differs in every run: times and random texts. */
export function comparable({ status, body }: Reply): string {
  const text = JSON.stringify(body) ?? ''
  const settled = text
    .replace(/"(created|updated)":"2\d{3}-[^"]*"/g, '"$1":"NOW"')
    .replace(/"tokenKey":"[^"]*"/g, '"tokenKey":"RANDOM"')
  return `${status} ${settled}`
}
