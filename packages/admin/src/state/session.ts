/** The superuser that is signed in, in all tabs of this browser. */
import { every } from '../environment.ts'
import type { Environment } from '../environment.ts'
import { claimsOf, endSession, refreshLogin } from '../api/accounts.ts'
import type { Login } from '../api/accounts.ts'
import { realtime } from '../api/realtime.ts'
import { ApiError, request, setRequestHost } from '../api/request.ts'
import { Asking } from './asking.ts'
import { followKept, keep, readKept, SQL_HISTORY } from './kept.ts'
import { Store } from './store.ts'

interface Session extends Login {
  /** The server has refused the token: the page stays, and asks for the password again. */
  readonly hasEnded?: boolean
}

const NAME = 'session'
const REFRESH_MS = 5 * 60_000
/** The longest wait for the health of a server. A server that does not even answer this is away. */
const HEALTH_MS_MAX = 10_000

export const session: Store<Session | undefined> = new Store<Session | undefined>(undefined)
/** Whether the server has answered the newest request. */
export const isServerThere: Store<boolean> = new Store(true)
let asking: Asking | undefined

/** Begins to look after the session. Call it once. */
export function startSession(environment: Environment): void {
  asking = new Asking(environment, () => askHealth(environment))
  setRequestHost({
    environment,
    token: () => session.get()?.token ?? '',
    refused: (status) => {
      // A token that has ended makes a guest, who is refused in any of these ways.
      if (status === 401 || status === 403 || status === 404) void checkSession()
    },
    answers: (yes) => isServerThere.set(yes),
  })
  session.set(readSession(environment))
  followKept(NAME, () => {
    const kept = readSession(environment)
    // What this tab knows of the same session stays: that it has ended.
    if (kept?.token !== session.get()?.token) session.set(kept)
  })
  every(environment, REFRESH_MS, () => void checkSession())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return
    void checkSession()
    void askServer()
  })
  addEventListener('online', () => void askServer())
  isServerThere.follow(followServer)
}

function followServer(): void {
  if (!isServerThere.get()) return asking?.begin()
  asking?.end()
  realtime.reopen()
}

async function askHealth(environment: Environment): Promise<void> {
  const late = new AbortController()
  const cancel = environment.after(HEALTH_MS_MAX, () => late.abort())
  await request('GET', '/health', { signal: late.signal }).finally(cancel)
}

/** Asks at once whether a server that is away is back. */
export async function askServer(): Promise<void> {
  await asking?.now()
}

export function signedIn(login: Login): void {
  keep(NAME, login)
  session.set(login)
  realtime.restart()
}

/** The page forgets the session at once. The server ends it as soon as it can be reached. */
export function signOut(): void {
  const current = session.get()
  realtime.close()
  keep(NAME, undefined)
  keep(SQL_HISTORY, undefined)
  session.set(undefined)
  if (current !== undefined) endSession(current.record, current.token).catch(() => undefined)
}

let checking: Promise<void> | undefined

/** Gets a new token, or learns that the session has ended. */
function checkSession(): Promise<void> {
  const current = session.get()
  if (current === undefined || current.hasEnded === true) return Promise.resolve()
  checking ??= refresh(current).finally(() => (checking = undefined))
  return checking
}

async function refresh(current: Session): Promise<void> {
  try {
    const login = await refreshLogin(current.token)
    if (session.get()?.token !== current.token) return
    keep(NAME, login)
    session.set(login)
  } catch (error) {
    const isRefused =
      error instanceof ApiError && (error.status === 401 || error.status === 403 || error.status === 404)
    if (isRefused && session.get()?.token === current.token) session.set({ ...current, hasEnded: true })
  }
}

function readSession(environment: Environment): Session | undefined {
  const kept = readKept<Partial<Login>>(NAME)
  if (typeof kept?.token !== 'string' || kept.record === undefined) return undefined
  const { exp } = claimsOf(kept.token)
  if (typeof exp !== 'number' || exp * 1000 < environment.wallClock()) return undefined
  return { token: kept.token, record: kept.record }
}
