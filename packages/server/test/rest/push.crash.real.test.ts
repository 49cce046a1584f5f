/**
 * Goal: what a device has pushed is written once, whatever happens to the server and to answers. Method: devices count up with modifiers
 * on any revision, and make a record with each, until kill -9 at a random moment. Sometimes an older file comes back, and nobody says so.
 * Each device sends again what has no answer, and what a pull does not know. Then counts and records are those of its transactions.
 * EFFORT=25 kills a hundred times.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { startProcess } from '../../testing/processes.ts'
import { until } from '../test-server.ts'
import { PushServer, updating, type Outcome, type PushedTransaction } from './push-server.ts'
import { call, EMAIL, PASSWORD, tokenFor } from './rest-server.ts'

const rounds = times(4)
const seed = FIRST_SEED
const CLIENTS = 3
const LOAD_MS_MAX = 400

test(`${rounds} kills and restores (SEED=${seed})`, { timeout: 120_000 + rounds * 20_000 }, async () => {
  const random = seededRandom(seed)
  const home = await mkdtemp(join(tmpdir(), 'pannier-push-kill-'))
  const [dir, copy] = [join(home, 'data'), join(home, 'copy')]
  try {
    const clients = await prepare(dir)
    await cp(dir, copy, { recursive: true })
    let restored = 0
    for (let round = 0; round <= rounds; round++) {
      // The file of the beginning comes back first: a run without a lost outcome would prove nothing.
      const isRestored = round === 1 || (round > 1 && random.below(3) === 0)
      if (isRestored) {
        await rm(dir, { recursive: true })
        await cp(copy, dir, { recursive: true })
        restored++
      }
      const server = await startProcess('pannier-process.ts', [dir])
      const token = await tokenFor(server.url, 'users', 'ann@example.com', PASSWORD)
      const root = await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
      for (const client of clients) {
        const unknown = await client.recover(server.url, token)
        if (!isRestored) expect(unknown).toEqual([])
        await client.compare(server.url, root)
      }
      if (round === rounds) {
        await server.close()
        break
      }
      const loads = clients.map((client) => client.load(server.url, token))
      await sleep(100 + random.below(LOAD_MS_MAX))
      // What the file of the beginning lacks.
      if (round === 0) await until(() => clients.some(({ size }) => size > 0))
      await server.kill()
      await Promise.all(loads)
      if (round > 0 && random.below(2) === 0) {
        await rm(copy, { recursive: true })
        await cp(dir, copy, { recursive: true })
      }
    }
    expect(restored).toBeGreaterThan(0)
    expect(clients.reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(0)
    expect(clients.reduce((sum, { sentAgain }) => sum + sentAgain, 0)).toBeGreaterThan(0)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})

/** Makes the file, with a task for each device. */
async function prepare(dir: string): Promise<readonly Client[]> {
  const world = await PushServer.start({ dir })
  const project = await world.addProject()
  const clients: Client[] = []
  for (let number = 0; number < CLIENTS; number++)
    clients.push(new Client(number, await world.addTask({ project, count: 0 }), project))
  await world.server.close()
  return clients
}

class Client {
  readonly #device: string
  readonly #name: string
  readonly #task: string
  readonly #project: string
  readonly #acknowledged = new Map<number, PushedTransaction>()
  #pending: readonly PushedTransaction[] = []
  #next = 1
  /** Transactions that the server did not know any more. */
  sentAgain = 0

  constructor(number: number, task: string, project: string) {
    this.#device = `device-that-crashes-${number}`
    this.#name = `client${number}`
    this.#task = task
    this.#project = project
  }

  get size(): number {
    return this.#acknowledged.size
  }

  /** Pushes until the server is gone. */
  async load(url: string, token: string): Promise<void> {
    try {
      for (;;)
        await this.#push(
          url,
          token,
          Array.from({ length: 3 }, () => this.#transaction()),
        )
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }

  /** Sends again what has no answer and what the server does not know. Gives the numbers of the latter. */
  async recover(url: string, token: string): Promise<readonly number[]> {
    const numbers = [...this.#acknowledged.keys()]
    const body = { collections: { tasks: null }, device: this.#device, acknowledged: numbers }
    const { json } = await call(url, 'POST /sync/pull', body, token)
    const [covered, unknown] = [json['covered'] as unknown as number[], json['unknown'] as unknown as number[]]
    expect([...covered, ...unknown].toSorted((one, other) => one - other)).toEqual(numbers)
    const again = [...unknown.map((n) => this.#acknowledged.get(n)!), ...this.#pending]
    this.sentAgain += unknown.length
    for (let at = 0; at < again.length; at += 50) await this.#push(url, token, again.slice(at, at + 50))
    this.#pending = []
    return unknown
  }

  /** Each transaction has counted once, and made its record. */
  async compare(url: string, root: string): Promise<void> {
    const { json } = await call(url, `GET /collections/tasks/records/${this.#task}`, undefined, root)
    expect([this.#name, json['count']]).toEqual([this.#name, this.size])
    const filter = encodeURIComponent(`title = '${this.#name}'`)
    const made = await call(url, `GET /collections/tasks/records?filter=${filter}`, undefined, root)
    expect([this.#name, made.json['totalItems']]).toEqual([this.#name, this.size])
  }

  #transaction(): PushedTransaction {
    const n = this.#next++
    const id = `${this.#name}${String(n).padStart(8, '0')}`.slice(-15).padStart(15, '0')
    const values = { title: this.#name, project: this.#project }
    return {
      n,
      writes: [{ collection: 'tasks', action: 'create', id, values }, updating(this.#task, { 'count+': 1 })],
    }
  }

  async #push(url: string, token: string, transactions: readonly PushedTransaction[]): Promise<void> {
    if (!this.#pending.some(({ n }) => n === transactions.at(-1)!.n))
      this.#pending = [...this.#pending, ...transactions]
    const { status, json, text } = await call(url, 'POST /sync/push', { device: this.#device, transactions }, token)
    if (status !== 200) throw new Error(`${this.#name}: ${status} ${text}`)
    const outcomes = json['outcomes'] as unknown as readonly Outcome[]
    expect(outcomes.map((outcome) => [outcome.n, outcome.status])).toEqual(transactions.map(({ n }) => [n, 'ok']))
    for (const transaction of transactions) this.#acknowledged.set(transaction.n, transaction)
    const done = new Set(transactions.map(({ n }) => n))
    this.#pending = this.#pending.filter(({ n }) => !done.has(n))
  }
}
