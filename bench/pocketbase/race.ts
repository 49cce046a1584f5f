/** Workloads on several servers, in turns. What is not warm does not count. */
import { makeIndexes, PASSWORD, setListRule } from './blog.ts'
import { ApiClient } from './client.ts'
import type { Call } from './http-socket.ts'
import { drive, steadily, watch, type LoadResult } from './load.ts'
import { hear } from './subscribers.ts'
import { serveCopy, SUPERUSER, SUPERUSER_PASSWORD, type Program, type Server } from './servers.ts'
import { writeOf, type Subject, type Workload } from './workloads.ts'

/** Common conditions of all workloads of a run. */
export interface Conditions {
  readonly posts: number
  /** True for a run with the indexes that a user of PocketBase would make. */
  readonly indexes: boolean
  readonly keepAlive: boolean
  /** Creates and updates a second beside each workload. */
  readonly writes: number
  readonly rounds: number
  /** The seconds after which a round is over, or after REQUESTS_MAX. */
  readonly seconds: number
}

export interface Round extends LoadResult {
  /** Processor time of the server with all its threads. */
  readonly processorMsPerRequest: number
  /** How many of the writes beside it were done. */
  readonly writes: number
  /** The longest that another client has waited meanwhile. */
  readonly longestMs?: number
}

/** A filled folder, and what serves it. */
export interface Entrant {
  readonly program: Program
  readonly folder: string
}

export interface Contender {
  readonly server: Server
  readonly client: ApiClient
  readonly subject: Subject
}

const REQUESTS_MAX = 2_000
const WRITERS = 4

export async function start({ program, folder }: Entrant, { posts, indexes }: Conditions): Promise<Contender> {
  const server = await serveCopy(program, folder)
  const client = new ApiClient(server.url)
  client.token = await client.logIn(SUPERUSER, SUPERUSER_PASSWORD)
  if (indexes) await makeIndexes(client)
  const userToken = await client.logIn('user0@example.com', PASSWORD, 'people')
  return { server, client, subject: { posts, token: client.token, userToken } }
}

export async function end({ client, server }: Contender): Promise<void> {
  client.close()
  await server.stop()
}

/** The rounds of each contender. They run one after the other, and another one begins each round. */
export async function race(
  workload: Workload,
  contenders: readonly Contender[],
  conditions: Conditions,
): Promise<Round[][]> {
  const results: Round[][] = contenders.map(() => [])
  for (const { client } of contenders) await setListRule(client, workload.listRule ?? '')
  for (const contender of contenders) await runRound(workload, contender, conditions, 0)
  for (let round = 0; round < conditions.rounds; round++)
    for (let step = 0; step < contenders.length; step++) {
      const at = (round + step) % contenders.length
      results[at]!.push(await runRound(workload, contenders[at]!, conditions, round + 1))
    }
  for (const { client } of contenders) await setListRule(client, '')
  return results
}

/** For a workload that uses its data up: each round has servers of its own, warmed up by another workload. */
export async function raceAfresh(
  workload: Workload,
  warmUp: Workload,
  entrants: readonly Entrant[],
  conditions: Conditions,
): Promise<Round[][]> {
  const results: Round[][] = entrants.map(() => [])
  for (let round = 0; round < conditions.rounds; round++)
    for (const [at, entrant] of entrants.entries()) {
      const contender = await start(entrant, conditions)
      await runRound(warmUp, contender, conditions, 0)
      results[at]!.push(await runRound(workload, contender, { ...conditions, seconds: Infinity }, 0))
      await end(contender)
    }
  return results
}

async function runRound(
  { concurrency, call, requests = REQUESTS_MAX, watched, audience }: Workload,
  { server, client, subject }: Contender,
  { keepAlive, writes, seconds }: Conditions,
  round: number,
): Promise<Round> {
  const url = new URL(server.url)
  const first = round * REQUESTS_MAX
  const steady = steadily(url, writes, writes === 0 ? 0 : WRITERS, (index) => writeOf(subject, first + index))
  const watching = watched === undefined ? undefined : watch(url, watched)
  const before = server.processorMs()
  const callAt = (index: number): Call => call(subject, first + index)
  const result =
    audience === undefined
      ? await drive(url, { requests, concurrency, keepAlive, milliseconds: seconds * 1000, call: callAt })
      : await hear(client, audience, requests, callAt)
  const processorMsPerRequest = (server.processorMs() - before) / result.requests
  const written = await steady.stop()
  const longestMs = await watching?.stop()
  const failed = result.failed + written.failed
  return {
    ...result,
    failed,
    firstFailure: result.firstFailure || (written.failed > 0 ? 'a write' : ''),
    processorMsPerRequest,
    writes: written.requests,
    ...(longestMs === undefined ? {} : { longestMs }),
  }
}

/** Whether a reading workload gets other records, or another total, from one server than from the first. */
export async function answersDiffer(workload: Workload, contenders: readonly Contender[]): Promise<boolean> {
  if (workload.call(contenders[0]!.subject, 1).method !== undefined) return false
  const answers = new Set<string>()
  for (const { client, subject } of contenders) {
    await setListRule(client, workload.listRule ?? '')
    const answer = await client.ask(workload.call(subject, 1))
    const items = (answer['items'] ?? [answer]) as readonly { readonly id: string }[]
    answers.add(JSON.stringify([answer['totalItems'], items.map(({ id }) => id)]))
    await setListRule(client, '')
  }
  return answers.size > 1
}
