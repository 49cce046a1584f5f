/** Runs the files of hooks, and notes what they register; runs one step of a file of migrations. */
import type { FunctionSource, HandlerSource, Registration } from '../protocol/messages.ts'
import { App } from './app.ts'
import { Native } from './apis.ts'
import { Middleware } from './globals.ts'
import { runFile, sourceOf } from './sources.ts'

type Handler = () => unknown
type Step = (app: App) => unknown

/** The calls of the files, in order. `hooks`: the names of events. `folder`: of the files. */
export function load(files: readonly string[], hooks: readonly string[], folder: string): Registration[] {
  const made: Registration[] = []
  const isOurs = (path: string): boolean => path.startsWith(`${folder}/`)
  const source = (binder: string, handler: unknown): FunctionSource => {
    if (typeof handler !== 'function')
      throw new TypeError(`${binder}(): handler must be a function, got ${JSON.stringify(handler)}.`)
    return sourceOf(handler as Handler, isOurs)
  }
  const handlerOf = (binder: string, given: unknown): HandlerSource => {
    if (given instanceof Native) return { handler: { native: given.name, parameters: given.parameters }, priority: 0 }
    if (given instanceof Middleware) return { handler: source(binder, given.handler), priority: given.priority }
    return { handler: source(binder, given), priority: 0 }
  }
  const binders = hooks.map((name) => [
    name,
    (handler: unknown, ...tags: readonly string[]): void =>
      void made.push({ kind: 'hook', name, handler: source(name, handler), tags }),
  ])
  Object.assign(globalThis, Object.fromEntries(binders), {
    routerAdd: (method: string, path: string, handler: unknown, ...before: readonly unknown[]): void => {
      const middlewares = before.map((one) => handlerOf('routerAdd', one)).toSorted((a, b) => a.priority - b.priority)
      made.push({ kind: 'route', method, path, handlers: [...middlewares, handlerOf('routerAdd', handler)] })
    },
    routerUse: (...middlewares: readonly unknown[]): void =>
      void made.push({ kind: 'middlewares', handlers: middlewares.map((one) => handlerOf('routerUse', one)) }),
    cronAdd: (id: string, expression: string, run: unknown): void =>
      void made.push({ kind: 'job', id, expression, handler: source('cronAdd', run) }),
    cronRemove: (id: string): void => void made.push({ kind: 'no job', id }),
  })
  for (const file of files) runFile(file)
  return made
}

/** Runs one step of a file of `pb_migrations`. */
export function migrate(file: string, step: 'up' | 'down'): void {
  const steps: Partial<Record<'up' | 'down', Step>>[] = []
  Object.assign(globalThis, {
    migrate: (up?: Step, down?: Step): void => void steps.push({ ...(up && { up }), ...(down && { down }) }),
  })
  runFile(file)
  for (const one of step === 'up' ? steps : steps.toReversed()) one[step]?.(new App())
}
