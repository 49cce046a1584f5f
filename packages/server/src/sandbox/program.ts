/** One program inside QuickJS, with its own heap and context. It is reused for every call until it exceeds a limit. */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten'
import type { Failure, Method, ProgramSource, SandboxLimits } from './protocol.ts'
import { PROGRAM_SOURCE, LOG_MARK } from './quickjs-program.ts'

export interface ProgramAnswer {
  readonly value?: string
  readonly failure?: Failure
  readonly logs?: readonly string[]
}

export class Program {
  readonly #limits: SandboxLimits
  readonly #runtime: QuickJSRuntime
  readonly #context: QuickJSContext
  readonly #invoke: QuickJSHandle | undefined
  readonly #broken: Failure | undefined
  #interrupts = 0
  #deadline = 0
  #exceeded: 'budget' | 'timeout' | undefined
  #usable = true

  constructor(module: QuickJSWASMModule, source: ProgramSource, limits: SandboxLimits) {
    this.#limits = limits
    this.#runtime = module.newRuntime()
    this.#runtime.setMemoryLimit(limits.memoryBytesMax)
    this.#runtime.setMaxStackSize(limits.stackBytesMax)
    this.#runtime.setInterruptHandler(() => this.#isExceeded())
    this.#context = this.#runtime.newContext()
    this.#start()
    const made = this.#context.evalCode(PROGRAM_SOURCE, 'design-document.js')
    const makeProgram = this.#context.unwrapResult(made)
    const { rowsMax, resultCharsMax } = limits
    const args = [JSON.stringify(source.functions), JSON.stringify(source.modules ?? {})].map((text) =>
      this.#context.newString(text),
    )
    args.push(this.#context.newNumber(rowsMax), this.#context.newNumber(resultCharsMax))
    const result = this.#context.callFunction(makeProgram, this.#context.undefined, ...args)
    for (const handle of [makeProgram, ...args]) handle.dispose()
    if (result.error === undefined) this.#invoke = result.value
    else this.#broken = this.#failureOf(result.error)
  }

  /** Whether it is usable. False: it has exceeded a limit and must be made again. */
  get isUsable(): boolean {
    return this.#usable && this.#broken === undefined
  }

  call(method: Method, name: string, args: readonly string[]): ProgramAnswer {
    if (this.#invoke === undefined) return { failure: this.#broken! }
    this.#start()
    const handles = [method, name, ...args].map((text) => this.#context.newString(text))
    const result = this.#context.callFunction(this.#invoke, this.#context.undefined, ...handles)
    for (const handle of handles) handle.dispose()
    if (result.error !== undefined) return { failure: this.#failureOf(result.error) }
    const answer = this.#context.getString(result.value)
    result.value.dispose()
    if (!answer.startsWith(LOG_MARK)) return { value: answer }
    const end = answer.indexOf('\n')
    return { value: answer.slice(end + 1), logs: JSON.parse(answer.slice(LOG_MARK.length, end)) as string[] }
  }

  dispose(): void {
    this.#invoke?.dispose()
    this.#context.dispose()
    this.#runtime.dispose()
  }

  #start(): void {
    this.#interrupts = 0
    this.#exceeded = undefined
    this.#deadline = performance.now() + this.#limits.callMsMax
  }

  #isExceeded(): boolean {
    if (++this.#interrupts > this.#limits.interruptsMax) this.#exceeded = 'budget'
    else if (performance.now() > this.#deadline) this.#exceeded = 'timeout'
    return this.#exceeded !== undefined
  }

  #failureOf(error: QuickJSHandle): Failure {
    if (this.#exceeded !== undefined) {
      error.dispose()
      this.#usable = false
      const message = this.#exceeded === 'budget' ? 'it took too many steps' : 'it took too long'
      return { kind: this.#exceeded, message }
    }
    const dumped: unknown = this.#context.dump(error)
    error.dispose()
    const text = textOf(dumped)
    if (text.includes('out of memory')) {
      this.#usable = false
      return { kind: 'memory', message: 'it took too much memory' }
    }
    return { kind: 'failed', message: text.slice(0, 500) }
  }
}

function textOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { name, message } = error as { name?: unknown; message?: unknown }
  return typeof name === 'string' && typeof message === 'string' ? `${name}: ${message}` : (JSON.stringify(error) ?? '')
}
