/** How the methods of the public API fail. */
import { isPromise } from '../../base/async.ts'
import { named } from '../../base/options.ts'

/** Wrong arguments of the function `call` throw at once; everything else rejects. */
export function promised<T>(call: string, body: () => T | Promise<T>): Promise<T> {
  try {
    const result = body()
    return isPromise(result) ? result : Promise.resolve(result)
  } catch (error) {
    if (error instanceof TypeError) throw named(call, error)
    return Promise.reject(error as Error)
  }
}
