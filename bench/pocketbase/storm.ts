/** Login storms: 200 password logins at once, and how long another client's lists take meanwhile. */
import { alignColumns, formatNumber } from '../bars/table.ts'
import { PASSWORD, POSTS, USERS } from './blog.ts'
import { HttpSocket, isSuccess } from './http-socket.ts'
import { drive } from './load.ts'
import { end, start, type Conditions, type Contender, type Entrant } from './race.ts'
import type { ServerName } from './servers.ts'

const LOGINS = 200
const USUAL_MS = 2000
/** The bar, in times of the usual p95. */
const BAR = 3
const LISTS = { path: `/api/collections/${POSTS}/records` }

interface Storm {
  readonly server: ServerName
  /** 0: the first one of the server's process finds nothing warm. */
  readonly round: number
  readonly usualP50Ms: number
  readonly usualP95Ms: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly longestMs: number
  readonly tookMs: number
  readonly loggedIn: number
}

/** Storms on each server, in turns. One server at a time has work. */
export async function runStorms(entrants: readonly Entrant[], conditions: Conditions): Promise<void> {
  const contenders = await Promise.all(entrants.map((entrant) => start(entrant, conditions)))
  const storms: Storm[] = []
  try {
    for (let round = 0; round <= conditions.rounds; round++)
      for (const contender of contenders) storms.push(await storm(contender, round))
  } finally {
    for (const contender of contenders) await end(contender)
  }
  console.log(formatStorms(storms))
}

async function storm({ server }: Contender, round: number): Promise<Storm> {
  const url = new URL(server.url)
  const usual = await drive(url, {
    requests: Infinity,
    milliseconds: USUAL_MS,
    concurrency: 1,
    keepAlive: true,
    call: () => LISTS,
  })
  let isOn = true
  const started = performance.now()
  const logins = logInAll(url).finally(() => (isOn = false))
  const times: number[] = []
  const socket = new HttpSocket(url)
  while (isOn) {
    const sent = performance.now()
    const { status } = await socket.send(LISTS, true)
    times.push(performance.now() - sent)
    if (!isSuccess(status)) throw new Error(`A list during a storm: ${status}`)
  }
  socket.close()
  const loggedIn = await logins
  const tookMs = performance.now() - started
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.floor(part * times.length)] ?? Infinity
  return {
    server: server.name,
    round,
    usualP50Ms: usual.p50Ms,
    usualP95Ms: usual.p95Ms,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    longestMs: times.at(-1) ?? Infinity,
    tookMs,
    loggedIn,
  }
}

/** Logs in all accounts. Gives how many succeed. Each has a connection of its own. */
async function logInAll(url: URL): Promise<number> {
  const path = '/api/collections/people/auth-with-password'
  const logIn = async (index: number): Promise<boolean> => {
    const socket = new HttpSocket(url)
    const body = { identity: `user${index % USERS}@example.com`, password: PASSWORD }
    const { status } = await socket.send({ method: 'POST', path, body }, false)
    socket.close()
    return isSuccess(status)
  }
  const outcomes = await Promise.all(Array.from({ length: LOGINS }, (_, index) => logIn(index)))
  return outcomes.filter(Boolean).length
}

function formatStorms(storms: readonly Storm[]): string {
  const head = [
    '',
    'storm',
    'usual p50',
    'p95',
    'in the storm p50',
    'p95',
    'longest',
    'p95 by usual',
    'took s',
    'logged in',
    '',
  ]
  const lines = storms.map((one) => {
    const ratio = one.p95Ms / one.usualP95Ms
    const times = [one.usualP50Ms, one.usualP95Ms, one.p50Ms, one.p95Ms, one.longestMs].map(formatNumber)
    const isMissed = one.server !== 'pocketbase' && ratio > BAR
    return [
      one.server,
      one.round === 0 ? 'cold' : String(one.round),
      ...times,
      `${formatNumber(ratio)}x`,
      formatNumber(one.tookMs / 1000),
      `${one.loggedIn} of ${LOGINS}`,
      isMissed ? 'MISSED' : '',
    ]
  })
  const title = `${LOGINS} password logins at once, lists of another client; ms; bar: p95 at most ${BAR}x its usual`
  return `\n${title}\n\n${alignColumns([head, ...lines], [0, head.length - 1])}\n`
}
