/**
 * Goal: a server that is killed in a batch or in a cascade leaves all of it or nothing, and what it has answered. Method: three clients
 * make teams with 120 tasks by batches and delete every other one, until kill -9 at a random moment; the server starts again on the
 * same file. EFFORT=34 kills a hundred times.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { startProcess } from '../../testing/processes.ts'
import { startServer, until } from '../test-server.ts'
import { call, EMAIL, PASSWORD, startRest, tokenFor } from './rest-server.ts'

const rounds = times(3)
const seed = FIRST_SEED
const CLIENTS = 3
const LOAD_MS_MAX = 500
/** More than a delete takes along in one turn. */
const TASKS_OF_TEAM = 120
const PAGE = 1000

const TEAMS = { id: 'pbc_teams', name: 'teams', fields: [] }
const TASKS = {
  name: 'tasks',
  indexes: ['CREATE UNIQUE INDEX `tasks_name` ON `tasks` (`name`)'],
  fields: [
    { type: 'text', name: 'name' },
    { type: 'relation', name: 'team', collectionId: TEAMS.id, cascadeDelete: true },
  ],
}

test(`${rounds} kills (SEED=${seed})`, { timeout: 120_000 + rounds * 20_000 }, async () => {
  const random = seededRandom(seed)
  const dir = await mkdtemp(join(tmpdir(), 'pannier-rest-kill-'))
  const clients = Array.from({ length: CLIENTS }, (_, n) => new Client(n))
  try {
    await prepare(dir)
    for (let round = 0; round <= rounds; round++) {
      const server = await startProcess('pannier-process.ts', [dir])
      const token = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
      const stored = await tasksByTeam(server.url, token)
      for (const client of clients) client.compare(stored)
      expect(stored.size).toBe(clients.reduce((sum, { size }) => sum + size, 0))
      if (round === rounds) {
        await server.close()
        break
      }
      const loads = clients.map((client) => client.load(server.url, token))
      await sleep(random.below(LOAD_MS_MAX))
      // On a slow machine nothing may have been answered yet.
      if (round === rounds - 1) await until(() => clients.some(({ answered }) => answered > 0))
      await server.kill()
      await Promise.all(loads)
    }
    const last = await startServer({ dir })
    expect((await last.server.database.check()).problems).toEqual([])
    await last.close()
    const answered = clients.reduce((sum, client) => sum + client.answered, 0)
    expect(answered).toBeGreaterThan(0)
    if (rounds > 3)
      console.log({ rounds, answered, whole: total('whole', clients), nothing: total('nothing', clients) })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})

function total(name: 'whole' | 'nothing', clients: readonly Client[]): number {
  return clients.reduce((sum, client) => sum + client[name], 0)
}

/** Makes the file, with a superuser and the collections. */
async function prepare(dir: string): Promise<void> {
  const server = await startRest({ dir })
  await server.call('PATCH /settings', { batch: { enabled: true, maxRequests: 200, timeout: 60 } })
  for (const collection of [TEAMS, TASKS]) await server.call('POST /collections', collection)
  await server.close()
}

class Client {
  readonly #number: number
  readonly #teams = new Set<string>()
  /** The team whose batch or delete has no answer yet. */
  #pending: string | undefined
  #made = 0
  answered = 0
  /** What had no answer, and was there afterwards, or was not. */
  whole = 0
  nothing = 0

  constructor(number: number) {
    this.#number = number
  }

  get size(): number {
    return this.#teams.size
  }

  /** Writes until the server is gone. */
  async load(url: string, token: string): Promise<void> {
    try {
      for (;;) await this.#write(url, token)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }

  /** A team with all of its tasks; every other one is deleted with them. */
  async #write(url: string, token: string): Promise<void> {
    const id = `team${this.#number}${String(this.#made++).padStart(10, '0')}`
    const records = '/api/collections/tasks/records'
    const tasks = Array.from({ length: TASKS_OF_TEAM }, (_, n) => ({
      method: 'POST',
      url: records,
      body: { team: id, name: `${id} ${n}` },
    }))
    const team = { method: 'POST', url: '/api/collections/teams/records', body: { id } }
    this.#pending = id
    await this.#answer(await call(url, 'POST /batch', { requests: [team, ...tasks] }, token))
    this.#teams.add(id)
    if (this.#made % 2 === 0) return
    this.#pending = id
    await this.#answer(await call(url, `DELETE /collections/teams/records/${id}`, undefined, token))
    this.#teams.delete(id)
  }

  async #answer({ status, text }: Awaited<ReturnType<typeof call>>): Promise<void> {
    if (status >= 300) throw new Error(`${this.#pending}: ${status} ${text}`)
    this.#pending = undefined
    this.answered++
  }

  /** Takes what had no answer as it is found. */
  compare(stored: ReadonlyMap<string, number>): void {
    const id = this.#pending
    if (id !== undefined) {
      this.#pending = undefined
      const isThere = stored.has(id)
      if (isThere === this.#teams.has(id)) this.nothing++
      else this.whole++
      if (isThere) this.#teams.add(id)
      else this.#teams.delete(id)
    }
    for (const team of this.#teams) expect([team, stored.get(team)]).toEqual([team, TASKS_OF_TEAM])
  }
}

/** How many tasks each team has, and those without a team. */
async function tasksByTeam(url: string, token: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map((await idsOf(url, token, 'teams', 'id')).map((id) => [id, 0]))
  for (const team of await idsOf(url, token, 'tasks', 'team')) counts.set(team, (counts.get(team) ?? 0) + 1)
  return counts
}

async function idsOf(url: string, token: string, collection: string, field: string): Promise<readonly string[]> {
  const found: string[] = []
  for (let page = 1; ; page++) {
    const query = `perPage=${PAGE}&page=${page}&sort=id&fields=${field}`
    const { json } = await call(url, `GET /collections/${collection}/records?${query}`, undefined, token)
    const items = json['items'] as readonly Readonly<Record<string, string>>[]
    found.push(...items.map((item) => item[field]!))
    if (items.length < PAGE) return found
  }
}
