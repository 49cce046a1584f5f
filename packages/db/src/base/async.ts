/** Helpers for values that may be promises, for streams, and for `using` in engines that lack it. */

/** There already where a backend or the cache is synchronous, and promised where it is not. */
export type MaybePromise<T> = T | Promise<T>

/** Whether the value is still to come. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/**
 * Calls `next` at once if the value is there, else when it arrives. (Not named `then`: a module that exports a `then`
 * is a thenable, and `await import()` of it never gives the module.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isPromise(value) ? value.then(next) : next(value)
}

/**
 * The chunks of a stream: streams are not async iterable in every browser. A reader that stops early cancels the
 * stream.
 */
export async function* streamChunks<T>(stream: ReadableStream<T>): AsyncGenerator<T, void, undefined> {
  const reader = stream.getReader()
  let ended = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      ended = done
      if (done) return
      yield value
    }
  } finally {
    if (!ended) await reader.cancel().catch(() => {})
    reader.releaseLock()
  }
}

/** Bytes of an answer that is read as a whole, unpacked. */
const ANSWER_BYTES_MAX: number = 128 * 1024 * 1024
/** Minimum that a chunk counts: each costs memory, however small it is. */
const CHUNK_BYTES_MIN = 1024

/** The text of an answer of a server. `onChunk`: something has come. @throws RangeError: it has more than 128 MiB */
export async function answerText(response: Response, onChunk = (): void => {}): Promise<string> {
  if (!response.body) return response.text() // React Native has no stream.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [text, left] = ['', ANSWER_BYTES_MAX]
  for await (const chunk of streamChunks(response.body)) {
    onChunk()
    left -= Math.max(chunk.length, CHUNK_BYTES_MIN)
    if (left < 0) throw new RangeError('The answer has more than 128 MiB.')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/**
 * Makes `using` and `await using` work where the engine lacks them (WebKit): compilers look for a method with the
 * symbol's name.
 */
export function makeDisposable(
  type: { readonly prototype: { close(): unknown } },
  name: 'dispose' | 'asyncDispose',
): void {
  if (!(name in Symbol)) {
    Object.defineProperty(type.prototype, Symbol.for(`Symbol.${name}`), { value: type.prototype.close })
  }
}
