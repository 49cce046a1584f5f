/** Why a batch was undone. */
import { ServiceError } from '../gateway/service-error.ts'

const MESSAGE = 'Batch transaction failed.'

/** One operation of a batch was refused, so nothing was written. */
export class BatchError extends ServiceError {
  /** The first operation that failed. */
  readonly index: number
  /** Why that operation failed. */
  readonly reason: ServiceError

  constructor(index: number, reason: ServiceError) {
    super('INVALID', MESSAGE, { cause: reason })
    this.index = index
    this.reason = reason
  }
}

/** A batch took too long, so nothing was written. */
export class BatchTimeout extends ServiceError {
  constructor() {
    super('INVALID', MESSAGE)
  }
}
