/** Binds the hooks of a folder `pb_hooks` to a server. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Backend } from '@pannier/backend'
import { absentIn, refusedIn } from '../protocol/refusals.ts'
import type { FunctionSource, HandlerSource, NativeHandler, Registration } from '../protocol/messages.ts'
import type { ServerEvent } from './event-methods.ts'
import { nativeHandler } from './native-handlers.ts'
import type { ApiErrorMaker } from './calls.ts'
import { failureOf } from './failures.ts'
import { Runs } from './run.ts'
import { ThreadPool } from './thread-pool.ts'

type Handler = (event: object) => unknown

/** The functions that bind handlers: those that a hook file of Pannier gets, as `Hooks` of `@pannier/server`. */
export interface HookBinders {
  /** Adds a route. */
  routerAdd(method: string, path: string, handler: Handler, ...middlewares: readonly Handler[]): void
  /** Uses a middleware around all requests. */
  routerUse(handler: Handler): void
  /** Adds a job. */
  cronAdd(id: string, expression: string, run: () => unknown): void
  /** Middlewares of the server. */
  readonly apis: object
  /** The class of errors with a status. */
  readonly ApiError: new (status: number, message?: string, data?: never) => Error
}

/** Hooks that are bound. */
export interface PocketBaseHooks {
  /** Ends the threads, each when its handler has ended. */
  close(): Promise<void>
}

/** Files of hooks, as there. */
const FILE = /\.pb\.(?:js|ts)$/

/**
 * Runs the files of a folder, and binds what they register. Handlers run in threads, where calls of the application wait.
 *
 * @throws Error with the file and the line of what is wrong, or is not there on Pannier
 */
export async function bindPocketBaseHooks(
  folder: string,
  hooks: HookBinders,
  backend: Backend,
): Promise<PocketBaseHooks> {
  const files = readdirSync(folder)
    .filter((name) => FILE.test(name))
    .sort()
  for (const name of files) checkNames(folder, name)
  const pool = new ThreadPool(backend.environment, folder)
  const apiError: ApiErrorMaker = (status, message, data) =>
    new hooks.ApiError(status === 0 ? 400 : status, message, data as never)
  const runs = new Runs(pool, { backend, store: new Map() }, apiError)
  try {
    const names = Object.keys(hooks).filter((name) => /^on[A-Z]/.test(name))
    const all = await runs.load(
      files.map((name) => join(folder, name)),
      names,
    )
    const log: Bound['log'] = (hook, source, error) => backend.hooks.log('a hook has thrown', { hook, source, error })
    const bound = { hooks, runs, folder, log }
    for (const one of inOrder(all)) bind(one, bound)
  } catch (error) {
    await pool.close()
    throw error
  }
  return { close: () => pool.close() }
}

function checkNames(folder: string, name: string): void {
  const found = refusedIn(readFileSync(join(folder, name), 'utf8'))
  if (found !== undefined) throw new Error(`${basename(folder)}/${name}:${found.line}: ${found.message}`)
}

function checkMembers(event: string, handler: FunctionSource, folder: string): void {
  const found = absentIn(handler.code, event)
  if (found === undefined) return
  throw new Error(`${placeOf({ ...handler, line: handler.line + found.line - 1 }, folder)}: ${found.message}`)
}

/** Middlewares by their priority, and no job that was removed. */
function inOrder(all: readonly Registration[]): readonly Registration[] {
  const middlewares = all.flatMap((one) => (one.kind === 'middlewares' ? one.handlers : []))
  const sorted = middlewares.toSorted((one, other) => one.priority - other.priority)
  const isGone = (one: Registration, at: number): boolean =>
    one.kind === 'job' && all.some((other, later) => later > at && other.kind === 'no job' && other.id === one.id)
  const others = all.filter((one, at) => one.kind !== 'middlewares' && !isGone(one, at))
  return [{ kind: 'middlewares', handlers: sorted }, ...others]
}

interface Bound {
  readonly hooks: HookBinders
  readonly runs: Runs
  readonly folder: string
  readonly log: (hook: string, source: string, error: unknown) => void
}

function bind(one: Registration, { hooks, runs, folder, log }: Bound): void {
  const handlerOf = (name: string, handler: FunctionSource | NativeHandler): Handler =>
    'native' in handler
      ? nativeHandler(handler, hooks.apis)
      : sourced(handler, folder, (event: ServerEvent) =>
          runs.handle(handler, { name, event }).catch((error: unknown) => {
            throw failureOf(name, event, error, (thrown) => log(name, placeOf(handler, folder), thrown))
          }),
        )
  const ofRoute = ({ handler }: HandlerSource): Handler => {
    if (!('native' in handler)) checkMembers('route', handler, folder)
    return handlerOf('route', handler)
  }
  switch (one.kind) {
    case 'hook':
      checkMembers(one.name, one.handler, folder)
      ;(hooks as unknown as Record<string, (...all: unknown[]) => void>)[one.name]!(
        handlerOf(one.name, one.handler),
        ...one.tags,
      )
      break
    case 'route':
      hooks.routerAdd(one.method, one.path, ofRoute(one.handlers.at(-1)!), ...one.handlers.slice(0, -1).map(ofRoute))
      break
    case 'middlewares':
      for (const handler of one.handlers) hooks.routerUse(ofRoute(handler))
      break
    case 'job':
      hooks.cronAdd(
        one.id,
        one.expression,
        sourced(one.handler, folder, () => runs.handle(one.handler, undefined)) as () => unknown,
      )
      break
  }
}

/** A function that knows its place, for logs: `pb_hooks/posts.pb.js:12`. */
function sourced(handler: FunctionSource, folder: string, run: (event: ServerEvent) => unknown): Handler {
  return Object.assign(run, { source: placeOf(handler, folder) }) as Handler
}

function placeOf({ file, line }: FunctionSource, folder: string): string {
  return `${basename(folder)}/${file.slice(folder.length + 1)}:${line}`
}
