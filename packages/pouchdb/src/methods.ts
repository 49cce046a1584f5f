/**
 * Replaces methods of PouchDB's by our own. PouchDB's own copy all their arguments deeply, which takes longer than the write. The
 * library needs no copy: it has encoded documents when its call returns.
 */
import { clone, nextTick } from 'pouchdb-utils'
import type { Callback, Pouch } from './pouch.ts'

type Replaceable = 'bulkDocs' | 'put' | 'post' | 'bulkGet' | 'revsDiff'

/** `run` gets the arguments without a callback. */
export function replaceMethod<Name extends Replaceable>(
  api: Pouch,
  name: Name,
  run: (...given: never[]) => Promise<unknown>,
): void {
  const original = api[name]
  const call = (given: readonly unknown[]): Promise<unknown> => {
    if (api._closed) throw new Error('database is closed')
    if (api._destroyed) throw new Error('database is destroyed')
    // PouchDB's methods report each call and its answer.
    if (api.constructor.listeners('debug').length > 0) return original(...given)
    return api.taskqueue.isReady ? run(...(given as never[])) : whenReady(api, name, clone(given))
  }
  api[name] = ((...given: unknown[]) => {
    const callback = typeof given.at(-1) === 'function' ? (given.pop() as Callback) : undefined
    const answer = promised(() => call(given))
    if (callback !== undefined) {
      answer.then(
        (result) => nextTick(() => callback(null, result)),
        (error: unknown) => nextTick(() => callback(error)),
      )
    }
    return answer
  }) as Pouch[Name]
}

/** An error that the call throws at once rejects too. */
async function promised(work: () => Promise<unknown>): Promise<unknown> {
  return await work()
}

/** Calls the method by its name, as PouchDB does: a plug-in may have put another one in its place by then. */
function whenReady(api: Pouch, name: Replaceable, given: readonly unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const callback: Callback = (error, result) => (error ? reject(error as Error) : resolve(result))
    api.taskqueue.addTask((failed) => (failed ? reject(failed as Error) : void api[name](...given, callback)))
  })
}
