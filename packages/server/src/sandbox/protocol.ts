/** The messages between the server and the thread that runs functions of design documents, and the limits there. */

/** Functions of one design document, and what they may `require`. */
export interface ProgramSource {
  /** Source text of each function, by a name of the caller's. */
  readonly functions: Readonly<Record<string, string>>
  /** The modules of `require`: JSON whose strings are sources. */
  readonly modules: unknown
}

export type Method = 'check' | 'map' | 'reduce' | 'filter' | 'emits' | 'validate'

export interface Request {
  readonly id: number
  /** Names the program: equal sources have equal keys. */
  readonly program: string
  /** Sent once the thread has said that it does not know the program. */
  readonly source: ProgramSource | undefined
  readonly method: Method
  readonly name: string
  /** The arguments (args) as JSON texts. */
  readonly args: readonly string[]
}

/**
 * `failed`: it threw, or is no function. `budget`, `memory`: it took more steps or memory than it may; the same happens
 * whenever it is called with the same arguments. `timeout`: it took too long, which another time it may not. `unavailable`: not its fault.
 */
export type FailureKind = 'failed' | 'budget' | 'memory' | 'timeout' | 'unavailable'

export interface Failure {
  readonly kind: FailureKind
  readonly message: string
}

/** The outcome for one of several documents. */
export type Outcome<T> = { readonly value: T } | { readonly failure: Failure }

export interface Reply {
  readonly id: number
  /** The value as a JSON text. */
  readonly value?: string
  readonly failure?: Failure
  /** Whether it is unknown: the program has to be sent. */
  readonly isUnknown?: boolean
  readonly logs?: readonly string[]
}

export interface SandboxLimits {
  /** The limit of one program, in all. */
  readonly memoryBytesMax: number
  readonly stackBytesMax: number
  /** QuickJS asks about every 10,000 steps whether it shall continue: the highest number of times for one document. */
  readonly interruptsMax: number
  /** For one call: QuickJS is asked to stop. */
  readonly callMsMax: number
  /** For one call: the thread is ended. For loops inside built-in functions, where QuickJS does not look. */
  readonly threadMsMax: number
  /** The limit of what one call returns, as JSON. */
  readonly resultCharsMax: number
  /** For one document. */
  readonly rowsMax: number
}

export const SANDBOX_LIMITS: SandboxLimits = {
  memoryBytesMax: 64 * 1024 * 1024,
  stackBytesMax: 256 * 1024,
  interruptsMax: 2_000,
  callMsMax: 1_000,
  threadMsMax: 3_000,
  resultCharsMax: 16 * 1024 * 1024,
  rowsMax: 100_000,
}

/** Programs that the thread keeps ready; the one that was used longest ago makes room. */
export const PROGRAMS_MAX = 16
/** WebAssembly memory never shrinks: the thread starts over with less when it has grown beyond this. */
export const THREAD_MEMORY_BYTES_MAX: number = 256 * 1024 * 1024
/** After this number of documents that exceed a limit, the function counts as broken, and the call fails as a whole. */
export const EXCEEDED_MAX = 5
/** Limits of what a call may log. */
export const LOG_LINES_MAX = 100
export const LOG_LINE_CHARS_MAX = 1_000
