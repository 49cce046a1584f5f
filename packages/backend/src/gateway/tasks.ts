import type { JsonObject } from './documents.ts'
/** Long work that runs, for `/_active_tasks`. */

export interface ActiveTask {
  update(facts: JsonObject): void
  end(): void
}

export class ActiveTasks {
  readonly #tasks = new Map<number, JsonObject>()
  #last = 0

  start(type: string, facts: JsonObject): ActiveTask {
    const number = ++this.#last
    const startedOn = seconds()
    const pid = `<0.${number}.0>`
    const set = (more: JsonObject): void => {
      const task = { ...this.#tasks.get(number), ...more, type, pid, started_on: startedOn, updated_on: seconds() }
      this.#tasks.set(number, task)
    }
    set(facts)
    return { update: set, end: () => void this.#tasks.delete(number) }
  }

  list(): JsonObject[] {
    return [...this.#tasks.values()]
  }
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
