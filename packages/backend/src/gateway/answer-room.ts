/**
 * Bounds what answers hold in memory, in bytes: each answer, all answers of one client, and those of all clients. An answer takes its
 * room before it reads, and keeps it until it was sent. docs/internals/security.md has the numbers.
 */
import type { Principal } from './principal.ts'
import { invalid, ServiceError } from './service-error.ts'
import { clientsOf, Shares, type ShareLimits } from './shares.ts'

const MEBIBYTE = 1024 * 1024
/** One answer has at most this. Its records are in memory until it was sent. */
export const ANSWER_BYTES_MAX: number = 16 * MEBIBYTE
const ALL_BYTES_MAX = 4 * ANSWER_BYTES_MAX
/** An answer that takes no more counts for nobody. */
const SMALL_BYTES_MAX = 256 * 1024
/** An answer whose client has taken nothing for so long ends if another one needs the room. */
const SILENT_MS_MAX = 5000

/** The memory that one answer may still take. One record has any size. */
export interface AnswerBudget {
  /** @throws ServiceError INVALID, UNAVAILABLE, TOO_MANY_REQUESTS */
  take(bytes: number): void
}

/** For code of the operator, such as a hook. */
export const UNLIMITED: AnswerBudget = { take: () => {} }

/** The budget of an answer that counts for no client, such as a message of realtime. */
export class LoneBudget implements AnswerBudget {
  #bytes = 0

  take(bytes: number): void {
    const isFirst = this.#bytes === 0
    this.#bytes += bytes
    if (this.#bytes > ANSWER_BYTES_MAX && !isFirst)
      throw invalid(
        `The answer would have more than ${ANSWER_BYTES_MAX / MEBIBYTE} MiB. Ask for fewer records, or expand less.`,
      )
  }
}

/** The room of all answers of a process. */
export class AnswerRoom {
  readonly #shares: Shares
  readonly #held = new Set<HeldBudget>()

  constructor(limits: Partial<ShareLimits> = {}) {
    this.#shares = new Shares({ allMax: ALL_BYTES_MAX, shareMax: ANSWER_BYTES_MAX, ...limits })
  }

  /** Gives a new answer its budget, until `leave`. */
  enter(holder: AnswerHolder): HeldBudget {
    return new HeldBudget(holder, (budget, bytes) => this.#hold(budget, bytes))
  }

  /** Releases what it has. */
  leave(budget: HeldBudget): void {
    if (!this.#held.delete(budget)) return
    this.#shares.add(budget.clients, -budget.counted)
    budget.counted = 0
  }

  #hold(budget: HeldBudget, bytes: number): void {
    const {
      clients,
      holder: { begin },
    } = budget
    const more = bytes - budget.counted
    if (this.#shares.exceededBy(clients, more) === 'all') this.#cutSilent(budget)
    const exceeded = this.#shares.exceededBy(clients, more)
    if (exceeded === 'share')
      throw new ServiceError('TOO_MANY_REQUESTS', 'Too many large answers for one client. Take the others first.')
    if (exceeded === 'all')
      throw new ServiceError('UNAVAILABLE', 'Too many large answers are being sent. Try again later.')
    if (!this.#held.has(budget)) begin()
    this.#held.add(budget)
    budget.counted = bytes
    this.#shares.add(clients, more)
  }

  #cutSilent(but: HeldBudget): void {
    for (const budget of this.#held) {
      if (budget === but || budget.silentMs < SILENT_MS_MAX) continue
      this.leave(budget)
      budget.holder.cut()
    }
  }
}

/** A client that gets an answer. */
interface AnswerHolder {
  /** The address and the account of a principal have a share each. */
  readonly principal: Principal
  /** The clock that says what is now. */
  readonly now: () => number
  /** The answer begins to count for its clients. Call `leave` when it was sent. */
  readonly begin: () => void
  /** Cuts the answer off. */
  readonly cut: () => void
}

/** The memory that the answer to one request may still take. */
export class HeldBudget implements AnswerBudget {
  /** The client that gets the answer. */
  readonly holder: AnswerHolder
  /** The names of the client in shares. */
  readonly clients: readonly string[]
  /** The bytes that count for its clients. */
  counted = 0
  readonly #hold: (budget: HeldBudget, bytes: number) => void
  readonly #alone = new LoneBudget()
  #bytes = 0
  #movedMs: number

  constructor(holder: AnswerHolder, hold: (budget: HeldBudget, bytes: number) => void) {
    this.holder = holder
    this.clients = clientsOf(holder.principal)
    this.#hold = hold
    this.#movedMs = holder.now()
  }

  /** @throws ServiceError INVALID, UNAVAILABLE, TOO_MANY_REQUESTS */
  take(bytes: number): void {
    this.#alone.take(bytes)
    this.#bytes += bytes
    if (this.#bytes > SMALL_BYTES_MAX) this.#hold(this, Math.min(this.#bytes, ANSWER_BYTES_MAX))
    this.moved()
  }

  /** Notes that the answer has moved: its client has taken something. */
  moved(): void {
    this.#movedMs = this.holder.now()
  }

  /** How long its client has taken nothing. */
  get silentMs(): number {
    return this.holder.now() - this.#movedMs
  }
}
