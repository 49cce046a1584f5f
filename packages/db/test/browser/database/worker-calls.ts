/** How the page of database.page.ts calls what is in its workers. */
import type { Call } from './tab.ts'

interface Question {
  readonly id: number
  readonly call: Call
  readonly parameters: readonly unknown[]
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

const workers = new Map<string, Worker>()
const unanswered = new Map<number, PromiseWithResolvers<unknown>>()
let questions = 0

export async function startWorker(name: string): Promise<void> {
  const worker = new Worker(`/database.page.js${location.search}`, { type: 'module', name })
  const ready = Promise.withResolvers<void>()
  worker.addEventListener('message', ({ data }: MessageEvent<Answer | 'ready'>) => {
    if (data === 'ready') return ready.resolve()
    const asked = unanswered.get(data.id)
    unanswered.delete(data.id)
    if (data.error === undefined) asked?.resolve(data.value)
    else asked?.reject(new Error(`in the worker '${name}': ${data.error}`))
  })
  worker.addEventListener('error', ({ message }) => ready.reject(new Error(`the worker '${name}' failed: ${message}`)))
  workers.set(name, worker)
  await ready.promise
}

export function endWorker(name: string): void {
  workers.get(name)!.terminate()
}

export function askWorker(name: string, call: Call, ...parameters: unknown[]): Promise<unknown> {
  const asked = Promise.withResolvers<unknown>()
  const question: Question = { id: ++questions, call, parameters }
  unanswered.set(question.id, asked)
  workers.get(name)!.postMessage(question)
  return asked.promise
}

/** In a worker: does what it is asked for. */
export function answerAsWorker(dispatch: (call: Call, parameters: readonly unknown[]) => unknown): void {
  const answer = async ({ id, call, parameters }: Question): Promise<Answer> => {
    try {
      return { id, value: await dispatch(call, parameters) }
    } catch (error) {
      return { id, error: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error) }
    }
  }
  globalThis.addEventListener('message', (event) => {
    void answer((event as MessageEvent<Question>).data).then((found) => postMessage(found))
  })
  postMessage('ready')
}
