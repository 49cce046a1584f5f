/** One of the two servers, with the application in it. */
import { ask, logIn, type Reply } from '../../../../../tools/test/pocketbase.ts'
import { ACCOUNT_PASSWORD, ACCOUNTS, type App, type Json } from './random-app.ts'
import type { FormEntry } from './random-form.ts'
import type { AppRequest } from './random-request.ts'

interface KnownCollection {
  readonly name: string
  readonly type: string
  readonly system: boolean
  readonly fields: readonly { readonly type: string; readonly name: string }[]
}

export class World {
  readonly #url: string
  readonly #tokens = new Map<string, string>([['guest', '']])
  /** The last stored name of a file, by its base: it is another one on each server. */
  readonly #files = new Map<string, string>()

  private constructor(url: string, superuser: string) {
    this.#url = url
    this.#tokens.set('super', superuser)
  }

  /** Replaces what is there by the application. */
  static async load(url: string, superuser: string, app: App): Promise<World> {
    const world = new World(url, superuser)
    await world.#clear()
    const bare = app.collections.map((definition) => ({ ...definition, ...NO_RULES, ...noAuthRules(definition) }))
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
    const own = (body as { items: readonly KnownCollection[] }).items
    const plain = own.filter(({ system }) => !system)
    const views = plain.filter(({ type }) => type === 'view')
    for (const { name } of views) await this.#must('DELETE', `/api/collections/${name}`, undefined)
    // Relations would keep collections from going.
    const others = plain.filter((one) => !views.includes(one))
    for (const { name, type, fields } of others) {
      const kept = fields.filter(({ type }) => type !== 'relation')
      await this.#must('PATCH', `/api/collections/${name}`, {
        ...NO_RULES,
        ...noAuthRules({ type }),
        indexes: name === 'users' ? undefined : [],
        fields: kept,
      })
    }
    for (const { name } of others) await this.#must('DELETE', `/api/collections/${name}`, undefined)
    await this.#must('PATCH', '/api/settings', { batch: { enabled: true, timeout: 60 } })
  }

  async #must(method: string, path: string, body: Json | undefined): Promise<Reply> {
    const reply = await ask(this.#url, method, path, body, this.#tokens.get('super')!)
    if (reply.status >= 300)
      throw new Error(`${this.#url} ${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }

  async ask({ as, method, path, body, form, headers = {} }: AppRequest): Promise<Reply> {
    const sent = form === undefined ? body : this.#formOf(form)
    const reply = await ask(this.#url, method, path, sent, this.#tokens.get(as)!, headers)
    for (const [name, base] of (JSON.stringify(reply.body) ?? '').matchAll(STORED_NAME)) this.#files.set(base!, name)
    return reply
  }

  #formOf(entries: readonly FormEntry[]): FormData {
    const form = new FormData()
    for (const [name, value, fileName] of entries) {
      const known = value.replaceAll(/{{(\w+)}}/g, (_, base: string) => this.#files.get(base) ?? 'nope.txt')
      if (fileName === undefined) form.append(name, known)
      else form.append(name, new File([value], fileName))
    }
    return form
  }
}

/** `two_words_f81chyzuq0.txt` */
const STORED_NAME = /(?<=")(\w+?)_[a-z0-9]{10}\.\w+(?=")/g

function noAuthRules({ type }: Json): Json {
  return type === 'auth' ? { manageRule: null, authRule: '' } : {}
}

const NO_RULES: Json = { listRule: null, viewRule: null, createRule: null, updateRule: null, deleteRule: null }

/** Without rules that are wrong beside a name that is taken: PocketBase looks their fields up in the collection that has the name. */
function withoutRules(_key: string, value: unknown): unknown {
  const errors = (value ?? {}) as Readonly<Record<string, { readonly code?: unknown } | undefined>>
  if (errors['name']?.code !== 'validation_collection_name_exists') return value
  return Object.fromEntries(Object.entries(errors).filter(([name]) => !name.endsWith('Rule')))
}

/** Without what differs in every run, such as times and random texts; and without words that are our own. */
export function comparable({ status, body }: Reply): string {
  const text = JSON.stringify(body, withoutRules) ?? ''
  const settled = text
    .replace(/"(created|updated)":"2\d{3}-[^"]*"/g, '"$1":"NOW"')
    .replace(/"(tokenKey|token)":"[^"]+"/g, '"$1":"RANDOM"')
    .replace(/"pin":"(?:[^"\\]|\\.)*"/g, '"pin":"SECRET"')
    .replace(/existing reference in [^"]*/, 'existing reference')
    .replace(/("\w+":\{"code":"validation_not_unique","message":"Value must be unique."\},?)+/g, '"UNIQUE"')
    .replace(/Raw error: (?:[^"\\]|\\.)*/g, 'Raw error')
    .replace(/_[a-z0-9]{10}(?=[._"])/g, '_RANDOM')
    .replace(/"(\w?)[a-z0-9]{10}_RANDOM/g, '"$1RANDOM')
    .replace(/"_clone_\w{4}"/g, '"_clone_"')
  return `${status} ${settled}`
}
