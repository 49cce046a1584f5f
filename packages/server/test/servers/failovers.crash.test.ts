/**
 * Goal: while PostgreSQL fails over again and again, three servers lose nothing that they have acknowledged and do nothing twice.
 * Method: a cluster of Patroni with synchronous commit. Clients write at all servers: documents of their own, and registers that they
 * share. The checker compares what was answered, and when, with what is there at the end:
 *
 * - each acknowledged document is there, and each document was asked for;
 * - each revision of a register was acknowledged to one client, and later writes have later revisions: writes are linearizable;
 * - what one server answers about a register never goes back;
 * - the sequence numbers have no gap: the newest one is the number of revisions that there are.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Cluster, NO_CLUSTER } from '../../../../tools/cluster/cluster.ts'
import { EVERYWHERE, timeoutOf, times } from '../../../../tools/test/seeds.ts'
import { EMAIL, PASSWORD } from '../rest/rest-server.ts'
import { basic } from '../test-server.ts'
import { Serving } from './serving.ts'

interface Write {
  readonly id: string
  readonly server: number
  readonly startMs: number
  readonly endMs: number
  /** Undefined: it is not known whether it has happened. */
  readonly generation: number | undefined
}

const HEADERS = { authorization: basic(`${EMAIL}:${PASSWORD}`), 'content-type': 'application/json' }
const REGISTERS = ['r0', 'r1', 'r2']
const FAILOVERS = times(1)
const RUNS_BETWEEN_MS = 1500
const STANDSTILL_MS_MAX = 45_000

class History {
  readonly writes: Write[] = []
  readonly asked = new Set<string>()
  /** What each server has answered about each register: the newest generation. */
  readonly #seen = new Map<string, number>()
  readonly backward: string[] = []

  read(server: number, register: string, generation: number): void {
    const key = `${server} ${register}`
    const before = this.#seen.get(key) ?? 0
    if (generation < before) this.backward.push(`${key}: ${before}, then ${generation}`)
    this.#seen.set(key, Math.max(before, generation))
  }

  get acknowledged(): readonly Write[] {
    return this.writes.filter(({ generation }) => generation !== undefined)
  }

  /** Whether some more writes are acknowledged in time. */
  async goesOn(msMax: number): Promise<boolean> {
    const before = this.acknowledged.length
    for (const end = performance.now() + msMax; performance.now() < end; await sleep(50))
      if (this.acknowledged.length > before + 10) return true
    return false
  }

  /** Registers whose acknowledged writes no order explains. */
  get disorder(): string[] {
    const wrong: string[] = []
    for (const register of REGISTERS) {
      const done = this.writes.filter(({ id, generation }) => id === register && generation !== undefined)
      const generations = done.map(({ generation }) => generation)
      if (new Set(generations).size < generations.length) wrong.push(`${register}: one revision was acknowledged twice`)
      let newest = 0
      const events = done.flatMap((write) => [
        { atMs: write.startMs, write, isEnd: false },
        { atMs: write.endMs, write, isEnd: true },
      ])
      const floors = new Map<Write, number>()
      for (const { write, isEnd } of events.toSorted((a, b) => a.atMs - b.atMs)) {
        if (!isEnd) floors.set(write, newest)
        else newest = Math.max(newest, write.generation!)
      }
      for (const [{ generation }, floor] of floors)
        if (generation! <= floor) wrong.push(`${register}: ${generation} was written after ${floor}`)
    }
    return wrong
  }
}

const generationOf = (rev: string): number => Number.parseInt(rev, 10)

async function ask(url: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(url + path, {
    method,
    headers: HEADERS,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, ...((await answer.json()) as object) }
}

/** Writes at one server until `isOver`. */
async function work(history: History, { url }: Serving, server: number, isOver: () => boolean): Promise<void> {
  const write = async (id: string, body: object): Promise<void> => {
    const startMs = performance.now()
    history.asked.add(id)
    const answer = await ask(url, 'PUT', `/load/${id}`, body).catch(() => ({ status: 0 }) as Record<string, unknown>)
    if (answer['status'] === 409) return
    const generation = answer['status'] === 201 ? generationOf(answer['rev'] as string) : undefined
    history.writes.push({ id, server, startMs, endMs: performance.now(), generation })
  }
  for (let n = 0; !isOver(); n++) {
    await write(`d${server}-${n}`, { n })
    const register = REGISTERS[n % REGISTERS.length]!
    const found = await ask(url, 'GET', `/load/${register}`).catch(() => undefined)
    if (typeof found?.['_rev'] !== 'string') continue
    history.read(server, register, generationOf(found['_rev']))
    await write(register, { _rev: found['_rev'], by: `${server}-${n}` })
  }
}

test(
  `${FAILOVERS} failovers of PostgreSQL under the writes of three servers`,
  { timeout: timeoutOf(240_000) },
  async () => {
    if (!EVERYWHERE) return
    if (!Cluster.isPossible()) return console.warn(NO_CLUSTER)
    await using cluster = await Cluster.start()
    const servers = await Promise.all([0, 1, 2].map(() => Serving.start(cluster.url, ['--durability', 'strict'])))
    const history = new History()
    await ask(servers[0]!.url, 'PUT', '/load')
    for (const register of REGISTERS) await ask(servers[0]!.url, 'PUT', `/load/${register}`, {})
    let isOver = false
    let standstills = 0
    const working = servers.map((serving, at) => work(history, serving, at, () => isOver))
    for (let failover = 0; failover < FAILOVERS; failover++) {
      await sleep(RUNS_BETWEEN_MS)
      const node = await cluster.killPrimary()
      // Without a synchronous standby nobody may follow until the node is back: Patroni chooses safety.
      if (!(await history.goesOn(STANDSTILL_MS_MAX))) standstills++
      await cluster.revive(node)
      expect(await history.goesOn(120_000)).toBe(true)
    }
    isOver = true
    await Promise.all(working)
    // No server has found a state that is older than what it knew.
    for (const { output } of servers) expect(output).not.toMatch(/put back to an earlier state/)
    const { url } = servers[1]!
    const { rows } = (await ask(url, 'POST', '/load/_all_docs', {})) as unknown as {
      rows: { id: string; value: { rev: string } }[]
    }
    const stored = new Map(rows.map(({ id, value }) => [id, generationOf(value.rev)]))
    const { acknowledged } = history
    expect(acknowledged.filter(({ id, generation }) => (stored.get(id) ?? 0) < generation!)).toEqual([])
    expect([...stored.keys()].filter((id) => !history.asked.has(id) && !REGISTERS.includes(id))).toEqual([])
    expect(history.disorder).toEqual([])
    expect(history.backward).toEqual([])
    const { update_seq: newest } = await ask(url, 'GET', '/load')
    expect(Number.parseInt(String(newest), 10)).toBe(
      [...stored.values()].reduce((sum, generation) => sum + generation, 0),
    )
    const unknown = history.writes.length - acknowledged.length
    console.log(
      `${FAILOVERS} failovers, ${standstills} of them only when the old primary was back: ${acknowledged.length} writes acknowledged, ${unknown} not`,
    )
    for (const serving of servers) await serving[Symbol.asyncDispose]()
  },
)
