/**
 * Knows which transaction the running code belongs to. A write of the database itself inside a transaction would wait
 * for the transaction, which waits for the write, so it fails at once. Node, Bun and Deno know the scope of everything
 * that a function starts (AsyncLocalStorage). Browsers know it only up to the function's first `await`.
 */
import { PannierError } from '../../base/errors.ts'
import type { DatabaseContext } from '../database-context.ts'

interface Scope {
  readonly context: DatabaseContext
  /** Set when it is over: what it has started may live on. */
  ended: boolean
}

interface ScopeStorage {
  run<R>(scope: Scope, body: () => R): R
  getStore(): Scope | undefined
}

let storage: ScopeStorage | undefined

/** Runs the function of a transaction; `end` of the scope is to be called when that is over. */
export function runInScope<R>(scope: Scope, body: () => R): R {
  return (storage ??= newStorage()).run(scope, body)
}

/**
 * `use`: what to use in its place.
 *
 * @throws PANNIER_DEADLOCK inside the function of a transaction of that database
 */
export function assertOutside(context: DatabaseContext, what: string, use: string): void {
  const scope = storage?.getStore()
  if (scope === undefined || scope.ended || scope.context !== context) return
  throw new PannierError('PANNIER_DEADLOCK', `${what} inside db.transaction would wait for its own end. ${use}`)
}

function newStorage(): ScopeStorage {
  // Asked for like this, no bundler looks for it.
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } }
  const hooks = process?.getBuiltinModule?.('node:async_hooks') as
    | { readonly AsyncLocalStorage?: new () => ScopeStorage }
    | undefined
  return hooks?.AsyncLocalStorage === undefined ? new SynchronousScope() : new hooks.AsyncLocalStorage()
}

/** Knows what is called in the same step, and nothing after an `await`. */
export class SynchronousScope implements ScopeStorage {
  #scope: Scope | undefined

  run<R>(scope: Scope, body: () => R): R {
    const before = this.#scope
    this.#scope = scope
    try {
      return body()
    } finally {
      this.#scope = before
    }
  }

  getStore(): Scope | undefined {
    return this.#scope
  }
}
