/**
 * `app` as code of the operator gets it. A promise that nobody awaits ends no process: its error is logged with the line of the call.
 * Calls in a row give others a pause, and a handler that was given up can do no more.
 */
import type { Environment } from 'pannier/types'
import type { HookApp } from './hook-app.ts'
import { countCall, currentScope } from './hook-scope.ts'
import { lineIn } from './hook-log.ts'
import type { Hooks } from './hooks.ts'
import { WatchedPromise } from './watched-promise.ts'

interface WatchedParts {
  readonly environment: Environment
  readonly hooks: Pick<Hooks, 'log'>
}

type Call = (...parameters: unknown[]) => unknown

const WRITES: readonly string[] = ['save', 'saveNoValidate', 'delete'] satisfies (keyof HookApp)[]
const SYNCHRONOUS: readonly string[] = [
  'settings',
  'findCollectionByNameOrId',
  'newRecord',
  'sendMessage',
  'log',
] satisfies (keyof HookApp)[]
/** The length of a slice, in milliseconds, after which others run. */
const SLICE_MS = 10

interface Watched {
  readonly app: HookApp
  /** Watches another one in the same way. */
  readonly watch: (other: HookApp) => HookApp
}

const watched = new WeakMap<HookApp, Watched>()

/** The app behind an app that is watched, or the app itself. */
export function unwatched(app: HookApp): Watched {
  return watched.get(app) ?? { app, watch: (other) => other }
}

export function watchedApp(app: HookApp, parts: () => WatchedParts): HookApp {
  let slicedAtMs = -Infinity
  const pause = async ({ environment }: WatchedParts): Promise<void> => {
    if (environment.now() - slicedAtMs < SLICE_MS) return
    await environment.yield()
    slicedAtMs = environment.now()
  }
  const around = (name: string, call: Call): Call =>
    function method(...parameters) {
      const scope = currentScope()
      if (scope === undefined) return (async () => call(...parameters))()
      const place = new Error(`app.${name}()`)
      Error.captureStackTrace(place, method)
      const { environment, hooks } = parts()
      const run = async (): Promise<unknown> => {
        countCall(scope, WRITES.includes(name))
        await pause(parts())
        return call(...parameters)
      }
      return WatchedPromise.of(run(), async (error, isAwaited) => {
        await environment.yield()
        if (isAwaited()) return
        const { name: hook, source } = scope.handler
        const message = `app.${name}() of a hook has failed, and the hook did not await it`
        hooks.log(message, { hook, source: lineIn(place) ?? source, error })
      })
    }
  const made = Object.fromEntries(
    Object.entries(app).map(([name, call]) => [name, SYNCHRONOUS.includes(name) ? call : around(name, call as Call)]),
  ) as unknown as HookApp
  watched.set(made, { app, watch: (other) => watchedApp(other, parts) })
  return made
}
