/**
 * Goal: while PostgreSQL fails over again and again, three servers lose nothing that they have acknowledged and do nothing twice. Where
 * commits are asynchronous, some are lost, and each server that knew of them finds that out.
 * Method: a cluster of Patroni. Clients write and read at all servers, and a checker of histories has the last word.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Cluster, TTL_SECONDS } from '../../../../tools/cluster/cluster.ts'
import { clockMs, splitByLoss, violationsOf } from '../../../../tools/test/history.ts'
import { EVERYWHERE, timeoutOf, times } from '../../../../tools/test/seeds.ts'
import { Load } from './load.ts'
import { Serving } from './serving.ts'

const FAILOVERS = times(1)
const RUNS_BETWEEN_MS = 1500
const STANDSTILL_MS_MAX = 45_000
const RETURNS_MS_MAX = 120_000
const RESTORED = /put back to an earlier state/g

interface Run extends AsyncDisposable {
  /** When each primary was killed. */
  readonly kills: number[]
  readonly cluster: Cluster
  readonly servers: readonly Serving[]
  readonly load: Load
}

async function start(isSynchronous: boolean): Promise<Run> {
  const cluster = await Cluster.start({ isSynchronous })
  const servers = await Promise.all([0, 1, 2].map(() => Serving.start(cluster.url, ['--durability', 'strict'])))
  const load = await Load.start(servers.map(({ url }) => url))
  return {
    kills: [],
    cluster,
    servers,
    load,
    async [Symbol.asyncDispose]() {
      await Promise.all([load.stop(), ...servers.map((serving) => serving.kill())])
      await cluster[Symbol.asyncDispose]()
    },
  }
}

/** Gives how many of them had to wait for the old primary. */
async function failOver({ kills, cluster, load }: Run, isLagging: boolean): Promise<number> {
  let standstills = 0
  for (let failover = 0; failover < FAILOVERS; failover++) {
    await sleep(RUNS_BETWEEN_MS)
    const node = await cluster.killPrimary(isLagging)
    kills.push(clockMs())
    // Without a standby that may follow nobody does until the node is back: Patroni chooses safety.
    if (!(await load.goesOn(STANDSTILL_MS_MAX))) {
      standstills++
      console.warn(`No primary follows ${node}.\n${cluster.logs()}`)
    }
    await cluster.revive(node)
    if (!(await load.goesOn(RETURNS_MS_MAX))) throw new Error(`No writes after a failover.\n${cluster.logs()}`)
  }
  return standstills
}

function say(what: string, standstills: number, { load }: Run): void {
  const pauses = load.pauses(FAILOVERS).join(', ')
  console.log(`${FAILOVERS} failovers, ${what}; ${standstills} only when the old primary was back; ${load.summary}`)
  console.log(`Without writes, at a time to live of ${TTL_SECONDS} s: ${pauses} ms`)
}

test(
  `${FAILOVERS} failovers under the writes of three servers lose nothing`,
  { timeout: timeoutOf(240_000) },
  async (context) => {
    Cluster.need(context)
    await using run = await start(true)
    const standstills = await failOver(run, false)
    await run.load.stop()
    for (const { output } of run.servers) expect(output).not.toMatch(RESTORED)
    expect(await run.load.violations()).toEqual([])
    say('synchronous', standstills, run)
  },
)

if (EVERYWHERE)
  test(
    `${FAILOVERS} failovers to a standby that was behind: what is lost is found out`,
    { timeout: timeoutOf(240_000) },
    async (context) => {
      Cluster.need(context)
      await using run = await start(false)
      const standstills = await failOver(run, true)
      await run.load.stop()
      const end = await run.load.end()
      const { gone, kept } = splitByLoss(run.load.history.operations, end)
      for (const [at, { output }] of run.servers.entries()) {
        // Each time that something was lost that the server knew, it has found that out.
        const known = gone.filter(({ server }) => server === `s${at}`)
        const losses = new Set(known.map(({ endMs }) => run.kills.findIndex((killedMs) => endMs < killedMs)))
        expect(output.match(RESTORED)?.length ?? 0).toBeGreaterThanOrEqual(losses.size)
      }
      // What is there is one history that nothing has disturbed.
      expect(violationsOf(kept, end)).toEqual([])
      say(`asynchronous, ${gone.length} operations knew of what was lost`, standstills, run)
    },
  )
