/** Long work that runs, for `/_active_tasks`. */
import type { Environment } from 'pannier/types'
import type { JsonObject } from '@pannier/backend/internal'

/** Work that runs. */
export interface ActiveTask {
  /** Adds to what is known of it. */
  update(facts: JsonObject): void
  /** Ends a task that is done, or has failed. */
  end(): void
}

/** The long work of a server. */
export class ActiveTasks {
  readonly #tasks = new Map<number, JsonObject>()
  readonly #environment: Pick<Environment, 'wallClock'>
  #last = 0

  constructor(environment: Pick<Environment, 'wallClock'>) {
    this.#environment = environment
  }

  /** `facts`: what `/_active_tasks` shows of it. */
  start(type: string, facts: JsonObject): ActiveTask {
    const number = ++this.#last
    const startedOn = this.#seconds()
    const pid = `<0.${number}.0>`
    const set = (more: JsonObject): void => {
      const task = {
        ...this.#tasks.get(number),
        ...more,
        type,
        pid,
        started_on: startedOn,
        updated_on: this.#seconds(),
      }
      this.#tasks.set(number, task)
    }
    set(facts)
    return { update: set, end: () => void this.#tasks.delete(number) }
  }

  /** The tasks that run. */
  list(): JsonObject[] {
    return [...this.#tasks.values()]
  }

  #seconds(): number {
    return Math.floor(this.#environment.wallClock() / 1000)
  }
}
