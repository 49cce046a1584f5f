/** Why a batch was undone. */
import { ServiceError } from '../gateway/service-error.ts'

const MESSAGE = 'Batch transaction failed.'

/** An operation that was refused. */
export interface RefusedOperation {
  /** The position in the batch, from 0. */
  readonly index: number
  readonly reason: ServiceError
}

/** An operation of a batch was refused, so nothing was written. */
export class BatchError extends ServiceError {
  /** The first operation that failed. */
  readonly index: number
  /** Why that operation failed. */
  readonly reason: ServiceError
  /** Operations that are refused: all that are known to fail. */
  readonly refused: readonly RefusedOperation[]

  constructor(index: number, reason: ServiceError, others: readonly RefusedOperation[] = []) {
    super('INVALID', MESSAGE, { cause: reason })
    this.index = index
    this.reason = reason
    this.refused = [{ index, reason }, ...others]
  }
}

/** A batch that was tried, and would be written. */
export class BatchTried extends Error {}

/** A batch took too long, so nothing was written. */
export class BatchTimeout extends ServiceError {
  constructor() {
    super('INVALID', MESSAGE)
  }
}
