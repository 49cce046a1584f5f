/** Runs PocketBase's code for the server: a handler of an event, a job, a step of a migration. */
import type { Registration, Task } from '../protocol/messages.ts'
import { Calls, type ApiErrorMaker, type Application } from './calls.ts'
import { applyParts, applyRecords, eventData, type AroundEvent } from './event-methods.ts'
import type { ThreadPool } from './thread-pool.ts'

export class Runs {
  readonly #pool: ThreadPool
  readonly #application: Application
  readonly #apiError: ApiErrorMaker | undefined

  /** `apiError`: undefined where nobody is answered. */
  constructor(pool: ThreadPool, application: Application, apiError?: ApiErrorMaker) {
    this.#pool = pool
    this.#application = application
    this.#apiError = apiError
  }

  async load(files: readonly string[], hooks: readonly string[]): Promise<readonly Registration[]> {
    return (await this.#run({ kind: 'load', files, hooks }, undefined)) as readonly Registration[]
  }

  /** @throws what the handler throws */
  async handle(handler: Extract<Task, { kind: 'handle' }>['handler'], around: AroundEvent | undefined): Promise<void> {
    await this.#run((calls) => ({ kind: 'handle', handler, event: around && eventData(around, calls.objects) }), around)
  }

  async migrate(file: string, step: 'up' | 'down'): Promise<void> {
    await this.#run({ kind: 'migrate', file, step }, undefined)
  }

  async #run(task: Task | ((calls: Calls) => Task), around: AroundEvent | undefined): Promise<unknown> {
    const calls = new Calls(this.#application, around)
    const given = typeof task === 'function' ? task(calls) : task
    try {
      const { value, error, parts = {} } = await this.#pool.run(given, (call) => calls.answer(call))
      if (error !== undefined) throw calls.thrown(error, this.#apiError)
      if (around !== undefined) {
        applyParts(around, parts)
        await applyRecords(around)
      }
      return value
    } finally {
      await calls.end()
    }
  }
}
