/** Processes that answer queries. One that was ended is replaced by one that waits already. */
import { WorkQueue, type WorkQueueLimits } from '../gateway/work-queue.ts'
import { ServiceError } from '../gateway/service-error.ts'
import type { Member } from './members.ts'

export class Readers {
  readonly #start: () => Member
  readonly #onEnded: () => void
  readonly #queue: WorkQueue
  readonly #all = new Set<Member>()
  #idle: Member[] = []

  /** `onEnded` hears of each that has ended in its work. */
  constructor(limits: WorkQueueLimits, start: () => Member, onEnded: () => void) {
    this.#start = start
    this.#onEnded = onEnded
    this.#queue = new WorkQueue(limits, () => new ServiceError('UNAVAILABLE', 'Other statements run. Try again later.'))
  }

  /** @throws ServiceError UNAVAILABLE if too many wait; what `work` throws */
  run<T>(work: (reader: Member) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      const reader = this.#idle.shift() ?? this.#added()
      if (this.#idle.length === 0) this.#idle.push(this.#added())
      try {
        return await work(reader)
      } finally {
        if (reader.isAlive) this.#idle.push(reader)
        else {
          this.#all.delete(reader)
          this.#onEnded()
        }
        this.#idle = this.#idle.filter(({ isAlive }) => isAlive)
      }
    })
  }

  async end(): Promise<void> {
    await Promise.all(Array.from(this.#all, (reader) => reader.end()))
  }

  #added(): Member {
    const reader = this.#start()
    this.#all.add(reader)
    return reader
  }
}
