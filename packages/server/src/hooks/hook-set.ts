/** The set of hooks that the operator's files register. One load makes one set. */
import { fileURLToPath } from 'node:url'
import { relative, dirname } from 'node:path'
import type { Backend } from '@pannier/backend'
import { cronProblem, HOOK_NAMES, type BoundHook, type PlacedHandler } from '@pannier/backend/internal'
import { badArgument } from 'pannier/internal'
import { ApiError } from '../rest/api-error.ts'
import { pathPattern } from './path-pattern.ts'
import { REQUEST_EVENT_NAMES, type RequestEventName } from './request-events.ts'
import type { Binders, Hooks, RequestBinders, RouteChecks } from './hook-types.ts'

/** A route of the operator. */
export interface CustomRoute {
  /** The method in capitals. `ANY`: all of them. */
  readonly method: string
  readonly pattern: URLPattern
  /** The number of wildcards. Patterns with fewer are asked first. */
  readonly wildcards: number
  /** Middlewares first. */
  readonly handlers: readonly PlacedHandler[]
}

/** A job of the operator. */
interface HookJob {
  readonly id: string
  readonly expression: string
  readonly run: () => Promise<void>
}

/** A handler of requests that are an event. */
export interface RequestHook extends PlacedHandler {
  readonly name: RequestEventName
  /** Names or ids of collections; empty: all. */
  readonly tags: readonly string[]
}

export interface HookSet {
  readonly bound: readonly BoundHook[]
  readonly routes: readonly CustomRoute[]
  readonly middlewares: readonly PlacedHandler[]
  readonly requests: readonly RequestHook[]
  readonly jobs: readonly HookJob[]
  /** Closes the threads of PocketBase's handlers, each when its handler has ended. */
  readonly close: () => Promise<void>
}

/** Makes what files register with. `folder`: for their places. */
export class HookRegistration {
  readonly hooks: Hooks
  readonly set: Omit<HookSet, 'close'>
  /** All files are loaded: what is bound later would never run. */
  readonly end: () => void

  constructor({ app, hooks: running }: Pick<Backend, 'app' | 'hooks'>, folder: string) {
    const bound: BoundHook[] = []
    const routes: CustomRoute[] = []
    const middlewares: PlacedHandler[] = []
    const requests: RequestHook[] = []
    const jobs: HookJob[] = []
    this.set = { bound, routes, middlewares, requests, jobs }
    let isOver = false
    this.end = () => void (isOver = true)
    const place = (name: string, handler: unknown, binder = name): PlacedHandler => {
      if (isOver)
        throw new Error(`${binder}(): must be called while the file loads, in the function that it exports by default.`)
      if (typeof handler !== 'function') throw badArgument(`${binder}()`, 'handler must be a function', handler)
      const { source = sourceIn(folder) } = handler as { readonly source?: string }
      return { name, handler: handler as PlacedHandler['handler'], source }
    }
    const binders = HOOK_NAMES.map((name) => [
      name,
      (handler: unknown, ...tags: readonly string[]): void => void bound.push({ ...place(name, handler), name, tags }),
    ])
    const requestBinders = REQUEST_EVENT_NAMES.map((name) => [
      name,
      (handler: unknown, ...tags: readonly string[]): void =>
        void requests.push({ ...place(name, handler), name, tags }),
    ])
    this.hooks = {
      ...(Object.fromEntries(binders) as Binders),
      ...(Object.fromEntries(requestBinders) as RequestBinders),
      app,
      apis: CHECKS,
      ApiError,
      routerAdd: (method, path, handler, ...before) => {
        const name = `${method.toUpperCase()} ${path}`
        const handlers = [...before, handler].map((one) => place(name, one, 'routerAdd'))
        routes.push({ method: method.toUpperCase() || 'ANY', ...pathPattern(path), handlers })
      },
      routerUse: (handler) => void middlewares.push(place('routerUse', handler)),
      cronAdd: (id, expression, run) => {
        const { source } = place('cronAdd', run)
        const problem = cronProblem(expression)
        if (problem !== undefined)
          throw badArgument('cronAdd()', `expression of '${id}' must be a cron expression (${problem})`, expression)
        const job: PlacedHandler = { name: `cronAdd ${id}`, handler: run, source }
        jobs.push({ id, expression, run: () => running.begin(job, run) })
      },
    }
  }
}

const CHECKS: RouteChecks = {
  requireAuth:
    (...collections) =>
    (e) => {
      if (e.auth === undefined) throw new ApiError(401, 'The request requires valid record authorization token.')
      if (collections.length > 0 && !collections.includes(e.auth.collection().name))
        throw new ApiError(403, 'The authorized record is not allowed to perform this action.')
      return e.next()
    },
  requireGuestOnly: () => (e) => {
    if (e.auth !== undefined) throw new ApiError(400, 'The request can be accessed only by guests.')
    return e.next()
  },
  requireSuperuserAuth: () => CHECKS.requireAuth('_superusers'),
}

/** Where the caller stands: `hooks/posts.ts:12`. */
export function sourceIn(folder: string, { stack = '' }: { readonly stack?: string } = new Error()): string {
  for (const [, place = '', line = ''] of stack.matchAll(/(?:\(|at )(\S+?):(\d+):\d+\)?$/gm)) {
    const bare = place.replace(/\?.*$/, '')
    const path = bare.startsWith('file:') ? fileURLToPath(bare) : bare
    const within = relative(dirname(folder), path)
    if (path.startsWith(`${folder}/`)) return `${within}:${line}`
  }
  return folder
}
