/**
 * The thread that runs functions of design documents: QuickJS in WebAssembly. Requests come through a port; answers
 * keep their order.
 */
import { getAsset, isSea } from 'node:sea'
import { workerData, type MessagePort } from 'node:worker_threads'
import { newQuickJSWASMModule, newVariant, RELEASE_SYNC, type QuickJSWASMModule } from 'quickjs-emscripten'
import { Program, type ProgramAnswer } from './program.ts'
import { EXCEEDED_MAX, PROGRAMS_MAX, THREAD_MEMORY_BYTES_MAX } from './protocol.ts'
import type { Failure, Outcome, ProgramSource, Reply, Request, SandboxLimits } from './protocol.ts'

const { port, limits } = workerData as { port: MessagePort; limits: SandboxLimits }

interface KnownProgram {
  readonly source: ProgramSource
  program: Program | undefined
}

let module: QuickJSWASMModule | undefined
let waiting: Promise<unknown> = Promise.resolve()
/** The program that was used last is at the end. No `LruMap`: a thread would load the library for it. */
const known = new Map<string, KnownProgram>()

port.on('message', (request: Request) => {
  waiting = waiting.then(() => serve(request))
})
void start()

async function start(): Promise<void> {
  module = await newModule()
  answer({ id: 0 })
}

/** The single executable file has the code among its assets. */
function newModule(): Promise<QuickJSWASMModule> {
  const variant = isSea() ? newVariant(RELEASE_SYNC, { wasmBinary: getAsset('quickjs.wasm') }) : RELEASE_SYNC
  return newQuickJSWASMModule(variant)
}

function answer(reply: Reply): void {
  port.postMessage(reply)
}

async function serve(request: Request): Promise<void> {
  module ??= await newModule()
  try {
    answer({ id: request.id, ...handle(request) })
  } catch (error) {
    // WebAssembly has trapped: nothing in that memory can be relied on any more.
    forget()
    answer({ id: request.id, failure: { kind: 'memory', message: `it broke the sandbox: ${String(error)}` } })
  }
  if (module !== undefined && module.getWasmMemory().buffer.byteLength > THREAD_MEMORY_BYTES_MAX) forget()
}

function forget(): void {
  module = undefined
  known.clear()
}

function handle({ program: key, source, method, name, args }: Request): Omit<Reply, 'id'> {
  const entry = known.get(key) ?? (source === undefined ? undefined : { source, program: undefined })
  if (entry === undefined) return { isUnknown: true }
  known.delete(key)
  known.set(key, entry)
  for (const [oldKey, old] of known) {
    if (known.size <= PROGRAMS_MAX) break
    known.delete(oldKey)
    old.program?.dispose()
  }
  const run = (part: readonly string[]): ProgramAnswer => {
    entry.program ??= new Program(module!, entry.source, limits)
    const answered = entry.program.call(method, name, part)
    if (!entry.program.isUsable) {
      entry.program.dispose()
      entry.program = undefined
    }
    return answered
  }
  const whole = run(args)
  const isForMany = method === 'map' || method === 'filter' || method === 'emits'
  return whole.failure !== undefined && isForMany && !isFatal(whole.failure) ? oneByOne(args, run) : whole
}

/** Finds the documents that exceed a limit; the others get their values. */
function oneByOne(args: readonly string[], run: (args: readonly string[]) => ProgramAnswer): ProgramAnswer {
  const outcomes: Outcome<unknown>[] = []
  const logs: string[] = []
  let exceeded = 0
  for (const document of JSON.parse(args[0]!) as unknown[]) {
    const { value, failure, logs: lines = [] } = run([JSON.stringify([document]), ...args.slice(1)])
    logs.push(...lines)
    if (failure === undefined) outcomes.push(...(JSON.parse(value!) as Outcome<unknown>[]))
    else if (isFatal(failure) || (failure.kind !== 'failed' && ++exceeded >= EXCEEDED_MAX)) return { failure, logs }
    else outcomes.push({ failure })
  }
  return { value: JSON.stringify(outcomes), logs }
}

/** A failure that another time may not be there must not decide about a document. */
function isFatal({ kind }: Failure): boolean {
  return kind === 'timeout' || kind === 'unavailable'
}
