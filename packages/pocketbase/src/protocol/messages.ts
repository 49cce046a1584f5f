/** The messages between the server and a thread that runs PocketBase's code. The thread waits for each answer. */

/** A function of the user: its text, and where it stands. */
export interface FunctionSource {
  readonly code: string
  readonly file: string
  /** The line and column of its first character, from 1. */
  readonly line: number
  readonly column: number
}

/** A middleware of `$apis`: the server has it. */
export interface NativeHandler {
  readonly native: string
  readonly parameters: readonly unknown[]
}

/** A handler of a route, with the place in the order of middlewares. */
export interface HandlerSource {
  readonly handler: FunctionSource | NativeHandler
  readonly priority: number
}

/** A call that a file makes while it loads. */
export type Registration =
  | { readonly kind: 'hook'; readonly name: string; readonly handler: FunctionSource; readonly tags: readonly string[] }
  | {
      readonly kind: 'route'
      readonly method: string
      readonly path: string
      readonly handlers: readonly HandlerSource[]
    }
  | { readonly kind: 'middlewares'; readonly handlers: readonly HandlerSource[] }
  | { readonly kind: 'job'; readonly id: string; readonly expression: string; readonly handler: FunctionSource }
  | { readonly kind: 'no job'; readonly id: string }

/** The work of a thread. */
export type Task =
  | { readonly kind: 'load'; readonly files: readonly string[]; readonly hooks: readonly string[] }
  | { readonly kind: 'handle'; readonly handler: FunctionSource; readonly event: EventData | undefined }
  | { readonly kind: 'migrate'; readonly file: string; readonly step: 'up' | 'down' }

/** An event, as handlers get it. */
export interface EventData {
  readonly name: string
  /** Whether it is of a request to a route: it can be answered. */
  readonly isRoute: boolean
  readonly request: RequestData | undefined
  /** The parts of the event: records, messages, results. They are encoded. */
  readonly parts: Readonly<Record<string, unknown>>
}

export interface RequestData {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A call of the thread. `target`: `app`, `event`, a transaction or a record. */
export interface CallMessage {
  readonly kind: 'call'
  readonly target: string
  readonly method: string
  readonly parameters: readonly unknown[]
}

/** The end of a task. */
export interface DoneMessage {
  readonly kind: 'done'
  readonly value?: unknown
  readonly error?: ErrorData
  /** The parts of the event that a handler may have changed. */
  readonly parts?: Readonly<Record<string, unknown>>
  /** The heap of the thread then. */
  readonly heapBytes: number
}

export interface AnswerMessage {
  readonly value?: unknown
  readonly error?: ErrorData
}

/** An error on its way to the other side. */
export interface ErrorData {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  /** The number of an error of the server, which the thread gives back. */
  readonly ref?: number
  /** The status of an answer. Undefined: it is no error of the API. */
  readonly status?: number | undefined
  readonly data?: unknown
}

/** The data of a thread at its start. */
export interface ThreadData {
  readonly hooksFolder: string
  /** Counts answers, so that the thread can wait for one. */
  readonly answers: SharedArrayBuffer
}
