/** Schedules: jobs that run at times of the day, in UTC. A job that still runs when its time comes again is not started twice. */
import { Cron } from 'croner'
import { badArgument } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import type { Fleet } from '../fleet/fleet.ts'
import { errorText, LOG_LEVELS, type LogWriter } from '../gateway/log-entry.ts'
import type { Principal } from '../gateway/principal.ts'
import { forbidden, missing } from '../gateway/service-error.ts'
import { cronProblem } from './cron-expression.ts'
import { CLOCK_MS_MAX } from '../gateway/seen-clock.ts'

/** A schedule, as it is listed. */
export interface Schedule {
  /** Names it: `__pbLogsCleanup__`. */
  readonly id: string
  /** `0 * * * *`, `@daily` */
  readonly expression: string
}

/** The work of a schedule. */
type Job = () => unknown

interface KnownJob extends Schedule {
  readonly run: Job
  readonly cron: Cron
  /** When the job is due, in milliseconds since 1970. */
  dueMs: number
}

interface SchedulesHost {
  readonly environment: Environment
  /** Gets errors of jobs. */
  readonly logs: LogWriter
  readonly fleet: Pick<Fleet, 'claim'>
}

/** The jobs of the system are listed last. */
const SYSTEM_PREFIX = '__pb'
const MINUTE_MS = 60_000
/** The wall clock is looked at as often as that: it may be set forward. */
const LOOK_MS_MAX = 10 * MINUTE_MS

/** The jobs of a backend, run by the clock. */
export class Schedules {
  readonly #host: SchedulesHost
  readonly #jobs = new Map<string, KnownJob>()
  readonly #running = new Map<string, Promise<void>>()
  #cancelTimer = (): void => {}
  /** The time of the last look at the clock. */
  #lookedMs = 0
  #closed = false

  constructor(host: SchedulesHost) {
    this.#host = host
  }

  /**
   * Adds a job, in place of another of that id.
   *
   * @throws TypeError for a wrong expression
   */
  add(id: string, expression: string, run: Job): void {
    const problem = cronProblem(expression)
    if (problem !== undefined)
      throw badArgument('schedules.add()', `expression of '${id}' must be a cron expression (${problem})`, expression)
    this.remove(id)
    if (this.#closed) return
    const cron = new Cron(plain(expression), { timezone: 'UTC', mode: '5-part', domAndDow: true })
    this.#jobs.set(id, { id, expression, run, cron, dueMs: this.#after(cron) })
    this.#setTimer()
  }

  /** A job that runs ends by itself. */
  remove(id: string): void {
    this.#jobs.delete(id)
    this.#setTimer()
  }

  /** The jobs of the application by their ids, then those of the system. @throws ServiceError FORBIDDEN */
  list({ isAdmin }: Principal): Schedule[] {
    if (!isAdmin) throw forbidden('')
    const all = Array.from(this.#jobs.values(), ({ id, expression }) => ({ id, expression }))
    const isOfSystem = ({ id }: Schedule): boolean => id.startsWith(SYSTEM_PREFIX)
    const own = all.filter((schedule) => !isOfSystem(schedule))
    return [...own.sort((one, other) => (one.id < other.id ? -1 : 1)), ...all.filter(isOfSystem)]
  }

  /** Starts a job now, and does not wait for its end. @throws ServiceError FORBIDDEN, NOT_FOUND */
  run({ isAdmin }: Principal, id: string): void {
    if (!isAdmin) throw forbidden('')
    if (!this.#jobs.has(id)) throw missing('Missing or invalid cron job.')
    this.#start(id)
  }

  /** Whether a job has been started and has not ended. */
  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  /** Starts no more jobs. Resolves when no job runs. */
  async close(): Promise<void> {
    this.#closed = true
    for (const id of this.#jobs.keys()) this.remove(id)
    await Promise.all(this.#running.values())
  }

  /** When it is due next; Infinity: never. */
  #after(cron: Cron): number {
    return cron.nextRun(new Date(this.#host.environment.wallClock()))?.getTime() ?? Infinity
  }

  #setTimer(): void {
    this.#cancelTimer()
    const { environment } = this.#host
    const dueMs = Math.min(...Array.from(this.#jobs.values(), (job) => job.dueMs))
    const waitMs = Math.min(Math.max(0, dueMs - environment.wallClock()), LOOK_MS_MAX)
    this.#cancelTimer = this.#jobs.size === 0 ? () => {} : environment.after(waitMs, () => this.#startDue())
  }

  #startDue(): void {
    const now = this.#host.environment.wallClock()
    // What was due by a clock that was ahead would not be due for years.
    if (now < this.#lookedMs - CLOCK_MS_MAX) for (const job of this.#jobs.values()) job.dueMs = this.#after(job.cron)
    this.#lookedMs = now
    for (const job of this.#jobs.values()) {
      if (job.dueMs > this.#host.environment.wallClock()) continue
      void this.#startByClock(job.id, job.dueMs)
      job.dueMs = this.#after(job.cron)
    }
    this.#setTimer()
  }

  /** Starts a job whose time has come, at all servers: one of them runs it. */
  async #startByClock(id: string, dueMs: number): Promise<void> {
    const minute = Math.round(dueMs / MINUTE_MS)
    try {
      if (await this.#host.fleet.claim(`schedule ${id} ${minute}`)) this.#start(id)
    } catch (error) {
      this.#log(LOG_LEVELS.error, id, 'was not started.', error)
    }
  }

  #start(id: string): void {
    const job = this.#jobs.get(id)
    if (job === undefined) return
    if (this.#running.has(id)) {
      this.#log(LOG_LEVELS.warn, id, 'was not started, as it still runs.')
      return
    }
    const running = this.#attempt(job).finally(() => this.#running.delete(id))
    this.#running.set(id, running)
  }

  async #attempt({ id, run }: KnownJob): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#log(LOG_LEVELS.error, id, 'has failed.', error)
    }
  }

  #log(level: number, id: string, what: string, error?: unknown): void {
    const data = error === undefined ? { job: id } : { job: id, error: errorText(error) }
    this.#host.logs.write({ level, message: `The scheduled job '${id}' ${what}`, data })
  }
}

/** Without signs, and without a step of a single value: croner reads both otherwise. */
function plain(expression: string): string {
  return expression.replaceAll('+', '').replaceAll(/(?<![-\d])(\d+)\/0*1(?!\d)/g, '$1')
}
