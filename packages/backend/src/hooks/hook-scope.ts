/**
 * Which function of the operator has begun the work that runs now, through promises, timers and emitters. So an error that nobody
 * waits for has a name, and what hooks start has an end.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ServiceError } from '../gateway/service-error.ts'
import type { PlacedHandler } from './hook-log.ts'

/** A run of a handler. */
export interface HookScope {
  readonly handler: PlacedHandler
  /** The scope around this one: a handler whose work has started this one. */
  readonly outer: HookScope | undefined
  /** 1 for a handler that no other has started. */
  readonly depth: number
  /** Writes of all handlers that one write has started. Undefined: no write has started this one. */
  readonly writes: { count: number } | undefined
  /** The error after which it has ended: why it can do no more. */
  ended: ServiceError | undefined
}

const DEPTH_MAX = 16
const WRITES_MAX = 10_000
/** As many names say where the circle is. */
const NAMES_MAX = 4

const scopes = new AsyncLocalStorage<HookScope | undefined>()

/** The run of a handler whose work runs now. Undefined: no handler has begun it. */
export function currentScope(): HookScope | undefined {
  return scopes.getStore()
}

/** Runs `body` as the work of a scope; as nobody's without one. */
export function within<T>(scope: HookScope | undefined, body: () => T): T {
  return scopes.run(scope, body)
}

/** A scope in the present one. `isOfEvent`: something that happens has started it, and no request or clock. @throws ServiceError INVALID */
export function innerScope(handler: PlacedHandler, isOfEvent: boolean): HookScope {
  const outer = scopes.getStore()
  const depth = (outer?.depth ?? 0) + 1
  if (depth > DEPTH_MAX) throw tooDeep(handler, outer)
  const writes = outer?.writes ?? (isOfEvent ? { count: 0 } : undefined)
  return { handler, outer, depth, writes, ended: undefined }
}

/** Counts a call of `app`. @throws ServiceError if the present scope can do no more */
export function countCall(scope: HookScope, isWrite: boolean): void {
  if (scope.ended !== undefined) throw scope.ended
  if (!isWrite || scope.writes === undefined) return
  if (++scope.writes.count > WRITES_MAX) throw tooMany(scope)
}

export function placeOf({ name, source }: PlacedHandler): string {
  return `${name} in ${source}`
}

function tooDeep(handler: PlacedHandler, outer: HookScope | undefined): ServiceError {
  const names: string[] = [placeOf(handler)]
  for (let scope = outer; scope !== undefined && names.length < NAMES_MAX; scope = scope.outer)
    names.push(placeOf(scope.handler))
  const message =
    `Hooks have started one another ${DEPTH_MAX} times: ${names.join(', which was started by ')}. ` +
    'Let one of them write only if there is something to change, or choose its collections.'
  return new ServiceError('INVALID', message)
}

function tooMany({ handler }: HookScope): ServiceError {
  const message =
    `The hooks of one write have written more than ${WRITES_MAX} times, the last one from ${placeOf(handler)}. ` +
    'Write so much in a job (cronAdd), or in a route.'
  return new ServiceError('INVALID', message)
}
