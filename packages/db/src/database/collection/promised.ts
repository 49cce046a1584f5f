/** How the methods of the public API fail. */
import { isPromise } from '../../base/async.ts'

/** Wrong arguments throw at once; everything else rejects. */
export function promised<T>(body: () => T | Promise<T>): Promise<T> {
  try {
    const result = body()
    return isPromise(result) ? result : Promise.resolve(result)
  } catch (error) {
    if (error instanceof TypeError) throw error
    return Promise.reject(error as Error)
  }
}
