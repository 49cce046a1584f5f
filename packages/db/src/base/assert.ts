/** Assertions: a failed one is a bug in this library, never a condition of operation. */

export class AssertionError extends Error {
  constructor(message: string) {
    super(`Pannier assertion failed: ${message}`)
    this.name = 'AssertionError'
  }
}

/** Cheap assertions always run. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** For the branch that the types already exclude. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`)
}
