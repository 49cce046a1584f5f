/** Live sessions: their memory, how soon they hear of commits, and what commits cost with a few and with many of them. */
import { median } from '../measure.ts'
import { HttpSocket, isSuccess, type Call } from '../pocketbase/http-socket.ts'
import { serveCopy, type Program, type Server } from '../pocketbase/servers.ts'
import { superuser, tokenOf } from './fill.ts'
import { check } from './first-sync.ts'
import { Sessions } from './sessions.ts'
import { idOf, MEMBERS, projectOfUser, SMALL_PROJECTS, type World } from './world.ts'

/** The cost of sessions for a server that does nothing else. */
export interface OpenFigures {
  readonly sessions: number
  readonly openMs: number
  /** Bytes of the server's memory without sessions, and with them. */
  readonly before: number
  readonly after: number
}

export interface LiveFigures {
  readonly sessions: number
  /** Milliseconds of the server's processor for a commit that concerns ten sessions, one after another. */
  readonly processorMs: number
  /** Commits at a rate, and how soon sessions heard of them. */
  readonly rates: readonly Heard[]
}

interface Heard {
  readonly wanted: number
  /** Commits a second that were answered. */
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  /** The part of the events that did not come. */
  readonly missing: number
  readonly processorMsPerCommit: number
}

export interface LiveOptions {
  readonly sizes: readonly number[]
  /** Commits a second. */
  readonly rates: readonly number[]
  readonly seconds: number
}

const TOKENS_AT_ONCE = 8
const WRITERS = 32
const WARM_UP = 300
const COMMITS = 600
const ROUNDS = 3
const SETTLE_MS = 1500
const LATE_MS = 10_000

export async function live(
  program: Program,
  folder: string,
  world: World,
  { sizes, rates, seconds }: LiveOptions,
): Promise<LiveFigures[]> {
  const server = await serveCopy(program, folder)
  try {
    const tokens = await tokensOf(server, Math.max(...sizes))
    const writing = new Writing(server, world, tokens)
    await writing.inTurn(WARM_UP, sizes[0]!)
    const sessions = new Sessions(server.url, program.name)
    const figures: LiveFigures[] = []
    for (const size of sizes) {
      await sessions.openTo(size, tokens)
      await writing.inTurn(WARM_UP, size)
      const rounds: number[] = []
      for (let round = 0; round < ROUNDS; round++) rounds.push(await writing.inTurn(COMMITS, size))
      const heard: Heard[] = []
      if (size === sizes.at(-1)) for (const rate of rates) heard.push(await writing.atRate(rate, seconds, sessions))
      figures.push({ sessions: size, processorMs: median(rounds), rates: heard })
      if (sessions.lost > 0) throw new Error(`${sessions.lost} sessions have ended by themselves.`)
    }
    sessions.close()
    writing.close()
    return figures
  } finally {
    await server.stop()
  }
}

export async function openSessions(program: Program, folder: string, count: number): Promise<OpenFigures> {
  // Giving tokens takes memory, too.
  const giver = await serveCopy(program, folder)
  const tokens = await tokensOf(giver, count)
  await giver.stop()
  const server = await serveCopy(program, folder)
  try {
    await pause(SETTLE_MS)
    const before = server.memory().now
    const sessions = new Sessions(server.url, program.name)
    const started = performance.now()
    await sessions.openTo(count, tokens)
    const openMs = performance.now() - started
    await pause(SETTLE_MS)
    const after = server.memory().now
    check(sessions.lost, 0)
    sessions.close()
    return { sessions: count, openMs, before, after }
  } finally {
    await server.stop()
  }
}

/** By user. */
export async function tokensOf(server: Server, count: number): Promise<string[]> {
  const client = await superuser(server)
  const tokens: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const user = next++
      tokens[user] = await tokenOf(client, user)
    }
  }
  await Promise.all(Array.from({ length: TOKENS_AT_ONCE }, work))
  client.close()
  return tokens
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Updates of tasks by members of their projects. */
class Writing {
  readonly #server: Server
  readonly #world: World
  readonly #tokens: readonly string[]
  /** Servers close those that are not used for a while. */
  readonly #free: HttpSocket[] = []
  #underWay = 0
  #count = 0

  constructor(server: Server, world: World, tokens: readonly string[]) {
    this.#server = server
    this.#world = world
    this.#tokens = tokens
  }

  /** Gives the processor time of the server for each commit, with what sessions hear. */
  async inTurn(commits: number, sessions: number): Promise<number> {
    const before = this.#server.processorMs()
    for (let at = 0; at < commits; at++) await this.#send(this.#next(sessions).call)
    await pause(200)
    return (this.#server.processorMs() - before) / commits
  }

  async atRate(rate: number, seconds: number, sessions: Sessions): Promise<Heard> {
    const total = rate * seconds
    const sentAt = new Float64Array(SMALL_PROJECTS + 1)
    const times: number[] = []
    sessions.onEvent = (user) => times.push(performance.now() - sentAt[projectOfUser(user)]!)
    const before = this.#server.processorMs()
    const started = performance.now()
    const ends: Promise<void>[] = []
    for (let sent = 0; sent < total && performance.now() - started < seconds * 2000;) {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * rate))
      for (; sent < due && this.#underWay < WRITERS; sent++) {
        const { call, project } = this.#next(sessions.size)
        sentAt[project] = performance.now()
        ends.push(this.#send(call))
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(ends)
    const lasted = performance.now() - started
    const wanted = ends.length * MEMBERS
    for (const until = performance.now() + LATE_MS; times.length < wanted && performance.now() < until;) await pause(10)
    const processorMsPerCommit = (this.#server.processorMs() - before) / ends.length
    sessions.onEvent = () => {}
    times.sort((one, other) => one - other)
    const at = (part: number): number => times[Math.floor(part * times.length)] ?? Infinity
    const perSecond = (ends.length / lasted) * 1000
    const missing = 1 - times.length / wanted
    return { wanted: rate, perSecond, p50Ms: at(0.5), p95Ms: at(0.95), missing, processorMsPerCommit }
  }

  close(): void {
    for (const socket of this.#free) socket.close()
  }

  /** Projects take turns, and in each of them its tasks. */
  #next(sessions: number): { readonly call: Call; readonly project: number } {
    const at = this.#count++
    const projects = sessions / MEMBERS
    const project = 1 + (at % projects)
    const nth = Math.floor(at / projects) % this.#world.visibleToUser
    const path = `/api/collections/tasks/records/${idOf('task', project - 1 + nth * SMALL_PROJECTS)}`
    const token = this.#tokens[(project - 1) * MEMBERS]
    return { call: { method: 'PATCH', path, token, body: { title: `changed ${at}` } }, project }
  }

  async #send(call: Call): Promise<void> {
    let socket = this.#free.pop()
    while (socket?.isBroken === true) socket = this.#free.pop()
    socket ??= new HttpSocket(new URL(this.#server.url))
    this.#underWay++
    const { status, text } = await socket.send(call, true)
    this.#underWay--
    this.#free.push(socket)
    if (!isSuccess(status)) throw new Error(`A write was answered with ${status}: ${text.slice(0, 200)}`)
  }
}
