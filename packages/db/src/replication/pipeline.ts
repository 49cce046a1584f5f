/**
 * Lets the steps of successive batches overlap.
 *
 * Guarantees: order is kept. At most `ahead` items run or wait. When the reader leaves, nothing new is begun. Relies
 * on: `items` ends by itself when the work is aborted.
 */
export async function* mapAhead<Item, Result>(
  items: AsyncIterable<Item>,
  ahead: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const results: Promise<Result>[] = []
  let state: 'reading' | 'ended' | 'left' = 'reading'
  let failure: { readonly error: unknown } | undefined
  let wakeReader = (): void => {}
  let wakeProducer = (): void => {}
  const isLeft = (): boolean => state === 'left'
  const isEnded = (): boolean => state === 'ended'
  const produce = async (): Promise<void> => {
    for await (const item of items) {
      while (results.length >= ahead && !isLeft()) await new Promise<void>((resolve) => (wakeProducer = resolve))
      if (isLeft()) return
      const result = map(item)
      // Its reader sees a failure.
      result.catch(() => {})
      results.push(result)
      wakeReader()
    }
  }
  const finished = produce()
    .catch((error: unknown) => void (failure = { error }))
    .then(() => {
      if (state === 'reading') state = 'ended'
      wakeReader()
    })
  try {
    for (;;) {
      const first = results[0]
      if (first !== undefined) {
        const result = await first
        void results.shift()
        wakeProducer()
        yield result
      } else if (isEnded()) {
        await finished
        if (failure !== undefined) throw failure.error
        return
      } else await new Promise<void>((resolve) => (wakeReader = resolve))
    }
  } finally {
    state = 'left'
    wakeProducer()
  }
}
