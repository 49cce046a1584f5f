/** The events of a replication as they come. Loaded when they are looped over. */
import type { ReplicationEvent } from '../../replication/types.ts'

interface Watched extends PromiseLike<unknown> {
  subscribe(listener: (event: ReplicationEvent) => void): () => void
}

/** To its end. Its failure is thrown. `events`: those that have come already, which are no longer added to after `stop`. */
export async function* replicationEvents(
  replication: Watched,
  events: ReplicationEvent[],
  stop: () => void,
): AsyncGenerator<ReplicationEvent, void, undefined> {
  let wake = (): void => {}
  let ended = false
  const isEnded = (): boolean => ended
  const unsubscribe = replication.subscribe((event) => {
    events.push(event)
    wake()
  })
  stop()
  const end = (): void => {
    ended = true
    wake()
  }
  replication.then(end, end)
  try {
    for (;;) {
      yield* events.splice(0)
      if (events.length > 0) continue
      if (isEnded()) break
      await new Promise<void>((resolve) => (wake = resolve))
    }
    await replication
  } finally {
    unsubscribe()
  }
}
