/** Limits password hashes: each takes tens of megabytes and milliseconds. */
import { ServiceError } from '../gateway/service-error.ts'
import { WorkQueue, type WorkQueueLimits } from '../gateway/work-queue.ts'

/** The limits of a `HashQueue`. */
export type HashQueueLimits = WorkQueueLimits

/** The limits unless others are given: 2 at the same time, 64 waiting. */
export const HASH_QUEUE_LIMITS: HashQueueLimits = { concurrencyMax: 2, waitingMax: 64 }

/** Runs few password hashes at a time. Beyond its limits `run` throws a ServiceError TOO_MANY_REQUESTS. */
export class HashQueue extends WorkQueue {
  constructor(limits: Partial<HashQueueLimits> = {}) {
    super(
      { ...HASH_QUEUE_LIMITS, ...limits },
      () => new ServiceError('TOO_MANY_REQUESTS', 'Too many logins at the same time. Try again later.'),
    )
  }
}
