/** Hooks: functions of the operator that run around what the backend does. Each of a chain calls `next()` for the rest. */
import type { Environment } from 'pannier/types'
import { Listeners } from '../gateway/listeners.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { HookEvents, HookName } from './hook-events.ts'
import type { HookLog, PlacedHandler } from './hook-log.ts'
import { currentScope, innerScope, placeOf, within, type HookScope } from './hook-scope.ts'

/** Adds what calls the rest of the chain. */
type Chained<Event> = Event & { next(): Promise<void> }

/** A handler of a hook: a function that runs when something happens. What it throws refuses that, if it has not happened yet. */
export type HookHandler<Event> = (event: Chained<Event>) => unknown

/** A handler of an event. */
export interface BoundHook extends PlacedHandler {
  /** Which event it is for. */
  readonly name: HookName
  /** Names or ids of collections; empty: all. */
  readonly tags: readonly string[]
}

interface HooksOptions {
  readonly environment: Environment
  readonly log?: HookLog
  /** A handler that takes longer is given up, in milliseconds. 60,000 when left out. */
  readonly handlerMsMax?: number
}

interface ChainOptions {
  /** Whether an event has started it. False: a request or the clock has. */
  readonly isOfEvent: boolean
  readonly last: () => Promise<void>
}

interface RunOptions extends Pick<ChainOptions, 'isOfEvent'> {
  readonly rest: () => Promise<void>
}

const HANDLER_MS_MAX = 60_000

export class Hooks {
  readonly #environment: Environment
  /** Tells the operator what went wrong. */
  readonly log: HookLog
  readonly #handlerMsMax: number
  #bound: readonly BoundHook[] = []
  readonly #replaced: Listeners
  /** Is called when a handler begins, and what it gives when that ends: something may watch the thread. */
  onRun: (handler: PlacedHandler) => () => void = () => () => {}

  constructor({ environment, log = () => {}, handlerMsMax = HANDLER_MS_MAX }: HooksOptions) {
    this.#environment = environment
    this.log = log
    this.#replaced = new Listeners((error) => log('A listener of hooks has failed.', { hook: '', source: '', error }))
    this.#handlerMsMax = handlerMsMax
  }

  /** Takes the place of all that were bound. Chains that run keep theirs. */
  replace(bound: readonly BoundHook[]): void {
    this.#bound = bound
    this.#replaced.call()
  }

  /** Subscribes a listener to the binding of other handlers. The result ends it. */
  subscribe(listener: () => void): () => void {
    return this.#replaced.add(listener)
  }

  /** Whether nothing is bound: then a write has no more to ask. */
  get isEmpty(): boolean {
    return this.#bound.length === 0
  }

  /** Whether anything is bound to one of the events, for these tags; for any tags when they are left out. */
  has(names: readonly HookName[], tags?: readonly string[]): boolean {
    return this.#bound.some((hook) => names.includes(hook.name) && (tags === undefined || isMeant(hook, tags)))
  }

  /**
   * Runs the handlers of an event, one inside the other, and `last` inside all. A handler that does not call `next()` keeps the rest
   * from running.
   *
   * @throws what a handler or `last` throws. An error that is no ServiceError is logged, and becomes INVALID.
   */
  async trigger<Name extends HookName>(
    name: Name,
    event: HookEvents[Name],
    tags: readonly string[],
    last: () => Promise<void> = async () => {},
  ): Promise<void> {
    const handlers = this.#bound.filter((hook) => hook.name === name && isMeant(hook, tags))
    return handlers.length === 0 ? last() : this.#chain(handlers, event, { isOfEvent: true, last })
  }

  /** Runs handlers of a request one inside the other, and `last` inside all. @throws as `trigger` */
  run(handlers: readonly PlacedHandler[], event: object, last: () => Promise<void>): Promise<void> {
    return this.#chain(handlers, event, { isOfEvent: false, last })
  }

  /** Runs what is no event: a job, the load of a file. What it begins is known as its work. */
  async begin(handler: PlacedHandler, body: () => unknown): Promise<void> {
    const end = this.onRun(handler)
    try {
      await within(innerScope(handler, false), body)
    } finally {
      end()
    }
  }

  /** Logs an error that nobody waits for, if a hook has begun the work that threw it. False: no hook has. */
  noteStray(error: unknown): boolean {
    const handler = currentScope()?.handler
    if (handler === undefined) return false
    const { name: hook, source } = handler
    this.log('a hook has thrown where nobody waits', { hook, source, error })
    return true
  }

  async #chain(handlers: readonly PlacedHandler[], event: object, { isOfEvent, last }: ChainOptions): Promise<void> {
    const chained = event as Chained<object>
    // The rest of the chain is not the work of a handler before it.
    const outer = currentScope()
    const runFrom = async (position: number): Promise<void> => {
      const hook = handlers[position]
      if (hook === undefined) return last()
      await this.#run(hook, chained, { isOfEvent, rest: () => within(outer, () => runFrom(position + 1)) })
    }
    await runFrom(0)
  }

  /** A handler may forget to wait for the rest: the rest is waited for all the same, and never runs twice. */
  async #run(hook: PlacedHandler, event: Chained<object>, { isOfEvent, rest }: RunOptions): Promise<void> {
    const scope = this.#enter(hook, isOfEvent)
    let following: Promise<void> | undefined
    let isOver = false
    const next = (): Promise<void> => {
      if (isOver && following === undefined) return Promise.reject(tooSlow(hook))
      following ??= rest().finally(() => {
        // The rest of the handler may call it again.
        event.next = next
      })
      // Nobody may be waiting for it.
      following.catch(() => {})
      return following
    }
    event.next = next
    const run = async (): Promise<void> => {
      const end = this.onRun(hook)
      try {
        await within(scope, () => hook.handler(event as never))
        await following
      } finally {
        end()
      }
    }
    try {
      await this.#inTime(scope, run, () => following)
    } catch (error) {
      throw this.#asRefusal(hook, error)
    } finally {
      isOver = true
    }
  }

  /** Runs a handler within its time. Work inside a handler has limits of its own, so only the handler's own time counts. */
  async #inTime(scope: HookScope, run: () => Promise<void>, following: () => Promise<void> | undefined): Promise<void> {
    const late = Promise.withResolvers<never>()
    let isOver = false
    const giveUp = (): void => {
      const { name: hook, source } = scope.handler
      const error = tooSlow(scope.handler)
      scope.ended = error
      this.log('a hook takes too long', { hook, source, error })
      late.reject(error)
    }
    const look = async (): Promise<void> => {
      const inner = following()
      if (inner === undefined) return giveUp()
      await inner.catch(() => {})
      if (!isOver) cancel = this.#environment.after(this.#handlerMsMax, giveUp)
    }
    let cancel = this.#environment.after(this.#handlerMsMax, () => void look())
    try {
      await Promise.race([run(), late.promise])
    } finally {
      isOver = true
      cancel()
    }
  }

  #enter(hook: PlacedHandler, isOfEvent: boolean): HookScope {
    try {
      return innerScope(hook, isOfEvent)
    } catch (error) {
      this.log('hooks start one another without an end', { hook: hook.name, source: hook.source, error })
      throw error
    }
  }

  #asRefusal(hook: PlacedHandler, error: unknown): ServiceError {
    if (error instanceof ServiceError) return error
    this.log('a hook has thrown', { hook: hook.name, source: hook.source, error })
    return new ServiceError('INVALID', '', { cause: error })
  }
}

function isMeant({ tags }: BoundHook, asked: readonly string[]): boolean {
  return tags.length === 0 || tags.some((tag) => asked.includes(tag))
}

function tooSlow(handler: PlacedHandler): ServiceError {
  return new ServiceError('UNAVAILABLE', `${placeOf(handler)} takes too long.`)
}
