/**
 * The clock of the machine, compared with earlier looks. A clock that is wrong for some hours must not make the server forget what
 * devices still need: after a jump nothing is forgotten for a week.
 */
import type { Database } from 'pannier'
import type { Environment } from 'pannier/types'

/** Starts of the server, and its clock. No CouchDB database can have this name. */
export const BOOTS_COLLECTION = '$boots'

interface StoredClock {
  readonly _id: string
  /** The time at the last job, in ms. */
  readonly ms: number
  /** From then on the clock is trusted, if it does not jump again. */
  readonly trustedFromMs: number
}

const CLOCK_ID = 'clock'
const DAY_MS = 24 * 3600 * 1000
/** The longest step between looks: jobs run each hour. What is more has jumped, or the server was away. */
const STEP_MS_MAX = 2 * DAY_MS
const DOUBT_MS = 7 * DAY_MS
/** Clocks of servers differ by some minutes at most. */
export const CLOCK_MS_MAX: number = 5 * 60 * 1000

/** Whether the clock is trusted. Notes the time. Whether it may be used to forget what is old. `doubtMs`: how long it is doubted after a jump. */
export async function isClockTrusted(database: Database, now: number, doubtMs: number = DOUBT_MS): Promise<boolean> {
  const stored = database.collection<StoredClock>(BOOTS_COLLECTION)
  const known = await stored.get(CLOCK_ID)
  const hasJumped = known !== undefined && (now < known.ms - CLOCK_MS_MAX || now > known.ms + STEP_MS_MAX)
  const trustedFromMs = hasJumped ? now + DOUBT_MS : (known?.trustedFromMs ?? now - DOUBT_MS)
  await stored.upsert({ _id: CLOCK_ID, ms: now, trustedFromMs })
  return now >= trustedFromMs - DOUBT_MS + doubtMs
}

/** By how much the clock is behind what it has shown before, if that is more than some minutes; 0: it is not. */
export async function clockBehindMs(
  database: Database,
  { wallClock }: Pick<Environment, 'wallClock'>,
): Promise<number> {
  const known = await database.collection<StoredClock>(BOOTS_COLLECTION).get(CLOCK_ID)
  const behindMs = (known?.ms ?? 0) - wallClock()
  return behindMs > CLOCK_MS_MAX ? behindMs : 0
}

/** How long ago something was, in milliseconds. What lies ahead was written by a clock that was wrong, and is as old as can be. */
export function ageMs(nowMs: number, thenMs: number): number {
  const age = nowMs - thenMs
  return age < -CLOCK_MS_MAX ? Infinity : age
}
