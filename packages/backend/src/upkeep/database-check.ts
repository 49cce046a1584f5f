/** The check of the whole database, for superusers: one at a time, in the background. */
import type { Database } from 'pannier'
import { dateText } from '../fields/date-text.ts'
import { errorText } from '../gateway/log-entry.ts'
import type { Principal } from '../gateway/principal.ts'
import { checkAdmin, invalid } from '../gateway/service-error.ts'

/** The problem of a check: something that is wrong. */
interface CheckProblem {
  readonly code: string
  readonly where: string
  readonly message: string
}

/** How the newest check stands. */
export interface CheckState {
  /** Whether it has not ended. */
  readonly running: boolean
  /** The progress: the part that is done, 0 to 1. */
  readonly progress: number
  /** `2026-11-22 15:04:49.813Z`; empty: none has ended since the start of the server. */
  readonly ended: string
  /** The first problems that it has found. */
  readonly problems: readonly CheckProblem[]
  /** The count of problems that it has found. */
  readonly problemCount: number
  /** The error that stopped it; empty if it has come to its end. */
  readonly error: string
}

const PROBLEMS_MAX = 100
const NOTHING: CheckState = { running: false, progress: 0, ended: '', problems: [], problemCount: 0, error: '' }

/** How a table of the read model differs from its collection. */
interface ComparedTable {
  readonly table: string
  readonly rows: number
  readonly different: number
}

interface DatabaseCheckParts {
  readonly database: Database
  readonly model: { compare(signal: AbortSignal): Promise<readonly ComparedTable[]> }
  readonly now: () => number
}

/** Get it from a backend. */
export class DatabaseCheck {
  readonly #parts: DatabaseCheckParts
  #state: CheckState = NOTHING
  #cancelling = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(parts: DatabaseCheckParts) {
    this.#parts = parts
  }

  /** @throws ServiceError FORBIDDEN */
  show(principal: Principal): CheckState {
    checkAdmin(principal)
    return this.#state
  }

  /** Starts a check. Does not wait for its end. @throws ServiceError FORBIDDEN, INVALID if one runs */
  start(principal: Principal): void {
    checkAdmin(principal)
    if (this.#state.running) throw invalid('A check runs already.')
    this.#state = { ...NOTHING, running: true }
    this.#cancelling = new AbortController()
    this.#running = this.#run(this.#cancelling.signal)
  }

  /** Cancels the check. Resolves when none runs. @throws ServiceError FORBIDDEN */
  async cancel(principal: Principal): Promise<void> {
    checkAdmin(principal)
    await this.close()
  }

  /** Cancels the one that runs. */
  async close(): Promise<void> {
    this.#cancelling.abort(new Error('The check was cancelled.'))
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { database, model, now } = this.#parts
    const end = (facts: Partial<CheckState>): void => {
      this.#state = { ...this.#state, running: false, ended: dateText(now()), ...facts }
    }
    try {
      const { problems } = await database.check({
        signal,
        onProgress: (progress) => (this.#state = { ...this.#state, progress }),
      })
      const found = problems.map(({ code, where = '', message }) => ({ code, where, message }))
      this.#note(found)
      this.#note([...found, ...(await model.compare(signal)).flatMap(problemOf)])
      end({ progress: 1 })
    } catch (error) {
      end({ error: errorText(error) })
    }
  }

  #note(problems: readonly CheckProblem[]): void {
    this.#state = { ...this.#state, problems: problems.slice(0, PROBLEMS_MAX), problemCount: problems.length }
  }
}

function problemOf({ table, rows, different }: ComparedTable): readonly CheckProblem[] {
  if (different === 0) return []
  const message = `${different} rows of the read model differ from the ${rows} records. A start of the server makes it again.`
  return [{ code: 'MODEL_DIFFERS', where: `collection "${table}"`, message }]
}
