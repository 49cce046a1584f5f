/**
 * An app's server in a process of its own, behind a proxy. It is killed, it starts again with another clock, and an older copy comes back.
 * What each user may see at each time is noted here, and evaluated without the server. So each row that is handed out can be judged.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemEnvironment } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { startProcess, type ServerProcess } from '../../../server/testing/processes.ts'
import { call, EMAIL, PASSWORD, startRest, tokenFor } from '../../../server/test/rest/rest-server.ts'
import type { Answer } from '../../../server/test/test-server.ts'
import type { Random } from '../../../db/testing/random.ts'
import { USER_PASSWORD, type User } from '../app-server.ts'
import { LossyProxy, type SeenPull } from '../lossy-proxy.ts'

export type Fields = Readonly<Record<string, unknown>> & { readonly id: string }

const MEMBERS = 'project.members.id ?= @request.auth.id'
/** The list rules that tasks have in turn, and what they say of a task in a project of the user. */
const RULES: Readonly<Record<string, (task: Fields, user: string) => boolean>> = {
  [`${MEMBERS} && (secret != true || owner = @request.auth.id)`]: ({ secret, owner }, user) =>
    secret !== true || owner === user,
  [MEMBERS]: () => true,
  [`${MEMBERS} && secret != true`]: ({ secret }) => secret !== true,
}
export const NAMES = ['projects', 'tasks', 'notes'] as const
const COUNTER_TITLE = 'counter'
const PROJECTS = 4
const COPIES_MAX = 3
const DAY_MS = 86_400_000

/** A value that was there at some time of the span, by `performance.now()`. */
interface Version {
  readonly value: unknown
  readonly from: number
  to: number
}

interface Copy {
  readonly dir: string
  readonly number: number
  /** Its own number, and those of the copies that it comes from. */
  readonly line: readonly number[]
}

/** Nothing waits for devices that were killed. */
function withoutWaits(environment: Environment): Environment {
  return { ...environment, after: (ms, callback) => environment.after(ms, callback) }
}

export class SurvivalApp {
  readonly environment: Environment = withoutWaits(systemEnvironment())
  readonly proxy: LossyProxy = new LossyProxy()
  readonly users: readonly User[]
  readonly projects: readonly string[]
  /** A task that everybody counts up. */
  readonly counter: string
  /** Rows that somebody was given who could not see them, and whatever else should not be. */
  readonly problems: string[] = []
  /** Notes that the server has taken, and that no device would send again. */
  kept: Set<string> = new Set()
  kills = 0
  restores = 0
  /** Restores of a copy of another history: what was undone there is done again. */
  forks = 0
  /** Rows of pulls that were judged. */
  judged = 0
  readonly #home: string
  readonly #random: Random
  readonly #copies: Copy[] = []
  #copiesMade = 0
  /** Numbers of the copies that the present state comes from. */
  #line: readonly number[] = []
  /** By the ids of projects, and of the list rule by 'rule'. */
  readonly #versions = new Map<string, Version[]>()
  #server: ServerProcess | undefined
  #token = ''
  #isRestored = false

  static async make(random: Random): Promise<SurvivalApp> {
    const home = await mkdtemp(join(tmpdir(), 'pannier-survival-'))
    const { users, projects, counter } = await define(join(home, 'data'))
    const app = new SurvivalApp(home, random, users, projects, counter)
    await app.proxy.start()
    app.proxy.onPull = (pull) => app.#judge(pull)
    return app
  }

  private constructor(
    home: string,
    random: Random,
    users: readonly User[],
    projects: readonly string[],
    counter: string,
  ) {
    this.#home = home
    this.#random = random
    this.users = users
    this.projects = projects
    this.counter = counter
  }

  get url(): string {
    return this.proxy.url
  }

  /** Starts it on what is there, with a clock that is wrong by up to a day. */
  async start(): Promise<void> {
    const clockMs = this.#random.below(2 * DAY_MS) - DAY_MS
    this.#server = await startProcess('pannier-process.ts', [this.#data, '0', String(clockMs)])
    this.#token = await tokenFor(this.#server.url, '_superusers', EMAIL, PASSWORD)
    const now = performance.now()
    const note = (key: string, value: unknown): unknown => this.#versions.set(key, [{ value, from: now, to: Infinity }])
    for (const { id, members } of await this.all('projects')) note(id, members)
    note('rule', (await this.#call('GET /collections/tasks')).json['listRule'])
    if (this.#isRestored)
      this.kept = new Set((await this.all('notes')).map(({ id }) => id).filter((id) => this.kept.has(id)))
    this.#isRestored = false
    this.proxy.target = this.#server.url
    this.proxy.isDown = false
  }

  async kill(): Promise<void> {
    await this.#server!.kill()
    this.proxy.isDown = true
    this.kills++
  }

  /** Takes a copy of the data of a server that was killed. */
  async copy(): Promise<void> {
    const number = this.#copiesMade++
    const dir = join(this.#home, `copy-${number}`)
    await cp(this.#data, dir, { recursive: true })
    this.#line = [...this.#line, number]
    this.#copies.push({ dir, number, line: this.#line })
    if (this.#copies.length > COPIES_MAX) await rm(this.#copies.shift()!.dir, { recursive: true })
  }

  /** Puts a copy back instead of the data. Nobody announces it. */
  async restore(): Promise<void> {
    if (this.#copies.length === 0) return
    const { dir, number, line } = this.#random.pick(this.#copies)
    await rm(this.#data, { recursive: true })
    await cp(dir, this.#data, { recursive: true })
    this.restores++
    this.forks += Number(!this.#line.includes(number))
    this.#line = line
    this.#isRestored = true
  }

  async close(): Promise<void> {
    this.proxy.close()
    await this.#server?.close()
    await rm(this.#home, { recursive: true, force: true })
  }

  /** All records, as the superuser sees them. */
  async all(collection: string): Promise<readonly Fields[]> {
    const found: Fields[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { json } = await this.#call(`GET /collections/${collection}/records?perPage=1000&page=${page}`)
      found.push(...(json['items'] as unknown as Fields[]))
      pages = json['totalPages'] as number
    }
    return found
  }

  /** What a user may see now, by ids, if nothing changes meanwhile. */
  async visible(collection: string, { id }: User): Promise<Map<string, Fields>> {
    const now = performance.now()
    const seen = (await this.all(collection)).filter((record) => this.#mayBeShown(collection, record, id, now, now))
    return new Map(seen.map((record) => [record.id, record]))
  }

  /** Changes roles, rules and records, and ends sessions, until the server is gone. */
  async load(): Promise<void> {
    const { pick, below, chance } = this.#random
    try {
      for (;;) {
        const dice = below(20)
        if (dice < 8) {
          const members = this.users.filter(() => chance(0.7)).map(({ id }) => id)
          const id = pick(this.projects)
          await this.#change(id, members, `PATCH /collections/projects/records/${id}`, { members })
        } else if (dice < 9) {
          const listRule = pick(Object.keys(RULES))
          await this.#change('rule', listRule, 'PATCH /collections/tasks', { listRule })
        } else if (dice < 10) {
          const [password, { id }] = [USER_PASSWORD, pick(this.users)]
          await this.#call(`PATCH /collections/users/records/${id}`, { password, passwordConfirm: password })
        } else await this.#edit()
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }

  /** Everybody is a member again, so that what waits can be sent. */
  async admitAll(): Promise<void> {
    const members = this.users.map(({ id }) => id)
    for (const id of this.projects)
      await this.#change(id, members, `PATCH /collections/projects/records/${id}`, { members })
  }

  get #data(): string {
    return join(this.#home, 'data')
  }

  async #edit(): Promise<void> {
    const { pick, below, chance } = this.#random
    const others = (await this.all('tasks')).filter(({ id }) => id !== this.counter)
    if (others.length === 0) return
    const path = `/collections/tasks/records/${pick(others).id}`
    const kind = below(5)
    if (kind === 0) await this.#call(`DELETE ${path}`)
    else if (kind === 1) await this.#call(`PATCH ${path}`, { project: pick(this.projects) })
    else if (kind === 2) await this.#call(`PATCH ${path}`, { secret: chance(0.5), owner: pick(this.users).id })
    else if (kind === 3) await this.#call(`PATCH ${path}`, { locked: chance(0.3) })
    else await this.#call(`PATCH ${path}`, { title: `by the server ${below(1000)}` })
  }

  /** The value may be there from now on. Once the server has answered, the older ones are not. */
  async #change(key: string, value: unknown, request: string, body: object): Promise<void> {
    const versions = this.#versions.get(key)!
    const older = versions.filter(({ to }) => to === Infinity)
    versions.push({ value, from: performance.now(), to: Infinity })
    await this.#call(request, body)
    for (const version of older) version.to = performance.now()
  }

  async #call(request: string, body?: unknown): Promise<Answer> {
    const answer = await call(this.#server!.url, request, body, this.#token)
    // Gone meanwhile: a record that a device has deleted.
    if (answer.status >= 300 && answer.status !== 404) throw new Error(`${request}: ${answer.status} ${answer.text}`)
    return answer
  }

  #judge({ token = '', answer, from, to }: SeenPull): void {
    const user = (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as { id?: string })
      .id
    const { collections } = JSON.parse(answer) as { collections: Record<string, { rows: { record?: Fields }[] }> }
    for (const [collection, { rows }] of Object.entries(collections))
      for (const { record } of rows) {
        if (record === undefined) continue
        this.judged++
        if (user === undefined || !this.#mayBeShown(collection, record, user, from, to))
          this.problems.push(`${user} was given ${collection} ${JSON.stringify(record)}`)
      }
  }

  /** By some state between two times. The record has its fields of that state. */
  #mayBeShown(collection: string, record: Fields, user: string, from: number, to: number): boolean {
    if (collection === 'projects') return (record['members'] as string[]).includes(user)
    const between = (key: string): readonly Version[] =>
      (this.#versions.get(key) ?? []).filter((version) => version.from <= to && version.to >= from)
    if (!between(String(record['project'])).some(({ value }) => (value as string[]).includes(user))) return false
    return collection === 'notes' || between('rule').some(({ value }) => RULES[String(value)]!(record, user))
  }
}

/** Makes the data: users, projects with all of them, and the counter. */
async function define(
  dir: string,
): Promise<{ readonly users: readonly User[]; readonly projects: readonly string[]; readonly counter: string }> {
  const server = await startRest({ dir })
  const must = async (request: string, body: object): Promise<string> => {
    const { status, json, text } = await server.call(request, body)
    if (status !== 200) throw new Error(`${request}: ${text}`)
    return String(json['id'])
  }
  await must('PATCH /settings', { rateLimits: { enabled: false, rules: [] } })
  const users: User[] = []
  for (const name of ['ann', 'ben']) {
    const email = `${name}@example.com`
    const secret = { password: USER_PASSWORD, passwordConfirm: USER_PASSWORD }
    users.push({ id: await must('POST /collections/users/records', { email, ...secret }), email })
  }
  const account = { type: 'relation', collectionId: '_pb_users_auth_' }
  const isMember = 'members.id ?= @request.auth.id'
  const projectsId = await must('POST /collections', {
    name: 'projects',
    type: 'base',
    listRule: isMember,
    fields: [
      { name: 'name', type: 'text' },
      { name: 'members', maxSelect: 9, ...account },
    ],
  })
  const project = { name: 'project', type: 'relation', collectionId: projectsId }
  await must('POST /collections', {
    name: 'tasks',
    type: 'base',
    listRule: Object.keys(RULES)[0],
    createRule: MEMBERS,
    updateRule: `${MEMBERS} && locked != true`,
    deleteRule: MEMBERS,
    fields: [
      { name: 'title', type: 'text' },
      { name: 'count', type: 'number' },
      { name: 'secret', type: 'bool' },
      { name: 'locked', type: 'bool' },
      { name: 'owner', ...account },
      project,
    ],
  })
  await must('POST /collections', {
    name: 'notes',
    type: 'base',
    listRule: MEMBERS,
    createRule: MEMBERS,
    fields: [{ name: 'text', type: 'text' }, { name: 'counted', type: 'number' }, project],
  })
  const projects: string[] = []
  const members = users.map(({ id }) => id)
  for (let n = 0; n < PROJECTS; n++) projects.push(await must('POST /collections/projects/records', { members }))
  const counter = await must('POST /collections/tasks/records', { title: COUNTER_TITLE, project: projects[0] })
  await server.close()
  return { users, projects, counter }
}
