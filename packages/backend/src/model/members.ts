/** The parts of the read model as processes. Each can be killed. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import type { Environment } from 'pannier/types'
import { SqlRefusal } from '../definitions/views/view-queries.ts'
import { startProcess } from '../gateway/programs.ts'
import { TOO_LARGE, type JsonRows, type ModelAnswers, type ModelReply, type ModelRequest } from './protocol.ts'

/** A process has ended by itself, or the file can't be read: the model has to be made again. */
export class MemberLost extends Error {}

interface AskOptions {
  /** Gets the rows. */
  readonly onRows?: (rows: JsonRows['rows']) => void
  /** The signal that ends the statement. */
  readonly signal?: AbortSignal
  readonly timeMsMax?: number
}

/** A part of the model. */
export interface Member {
  /** Whether the member is alive. False: it has to be replaced. */
  readonly isAlive: boolean
  /** @throws SqlRefusal; MemberLost; the reason of the signal */
  ask<K extends ModelRequest['kind']>(
    request: Extract<ModelRequest, { readonly kind: K }>,
    options?: AskOptions,
  ): Promise<ModelAnswers[K]>
  end(): Promise<void>
}

interface MemberOptions {
  /** Whether the priority is low: other requests come first. */
  readonly isLow?: boolean
}

/** Starts parts of the model. */
export type StartMember = (options?: MemberOptions) => Member

const MEMORY_BYTES_MAX = 1 << 30
const LOW_PRIORITY = 10

/** An answer that is waited for. */
interface Asked {
  readonly settle: (reply: ModelReply) => void
  readonly fail: (error: unknown) => void
}

class MemberProcess implements Member {
  readonly #environment: Environment
  readonly #memoryBytesMax: number
  readonly #child: ChildProcess
  readonly #asked = new Map<number, Asked>()
  readonly #ended: Promise<unknown>
  /** Resolves when it hears, or is lost: what a start takes on a busy machine counts for no statement. */
  readonly #started = Promise.withResolvers<void>()
  #count = 0
  #failure: unknown

  constructor(environment: Environment, memoryBytesMax: number, { isLow = false }: MemberOptions) {
    this.#environment = environment
    this.#memoryBytesMax = memoryBytesMax
    this.#child = startProcess(import.meta.url, 'model-program', [String(memoryBytesMax), String(process.pid)], {
      serialization: 'advanced',
      env: {},
      execArgv: [],
      stdio: 'ignore',
    })
    const { pid } = this.#child
    if (isLow && pid !== undefined) setPriority(pid, LOW_PRIORITY)
    this.#ended = once(this.#child, 'exit').catch(() => undefined)
    this.#child.on('error', (error) => this.#lose(gone(error)))
    this.#child.on('message', (message) => {
      const { id, reply } = message as { readonly id: number; readonly reply: ModelReply }
      this.#started.resolve()
      this.#asked.get(id)?.settle(reply)
    })
    this.#child.once('exit', (code, by) =>
      this.#lose(
        by === TOO_LARGE
          ? tooMuch(`${this.#memoryBytesMax} bytes`)
          : new MemberLost(`A process of the read model has ended with ${code ?? by}.`),
      ),
    )
    // It does not keep this process from ending.
    this.#child.unref()
    this.#child.channel?.unref()
  }

  get isAlive(): boolean {
    return this.#failure === undefined
  }

  async ask<K extends ModelRequest['kind']>(
    request: Extract<ModelRequest, { readonly kind: K }>,
    { onRows = () => {}, signal, timeMsMax }: AskOptions = {},
  ): Promise<ModelAnswers[K]> {
    signal?.throwIfAborted()
    const id = ++this.#count
    const stop = (reason: unknown): void => {
      this.#asked.get(id)?.fail(reason)
      // Others are asked again.
      this.#lose(new MemberLost('A process of the read model was ended.'))
      this.#child.kill('SIGKILL')
    }
    const abort = (): void => stop(signal!.reason)
    signal?.addEventListener('abort', abort)
    let cancel = (): void => {}
    this.#child.channel?.ref()
    try {
      await this.#started.promise
      signal?.throwIfAborted()
      if (this.#failure !== undefined) throw this.#failure
      if (timeMsMax !== undefined) cancel = this.#environment.after(timeMsMax, () => stop(tooMuch(`${timeMsMax} ms`)))
      return await new Promise<ModelAnswers[K]>((resolve, reject) => {
        const settle = (reply: ModelReply): void => {
          if ('rows' in reply) onRows(reply.rows)
          else if ('error' in reply) reject(errorOf(reply))
          else resolve(reply.answer as ModelAnswers[K])
        }
        this.#asked.set(id, { settle, fail: reject })
        this.#child.send({ id, request }, (error) => {
          if (error !== null) this.#lose(gone(error))
        })
      })
    } finally {
      this.#asked.delete(id)
      if (this.#asked.size === 0) this.#child.channel?.unref()
      cancel()
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Ends the process. A process that keeps a file removes it. */
  async end(): Promise<void> {
    this.#lose(new MemberLost('The read model was closed.'))
    this.#child.ref()
    if (this.#child.connected) this.#child.disconnect()
    const cancel = this.#environment.after(END_MS_MAX, () => this.#child.kill('SIGKILL'))
    await this.#ended
    cancel()
  }

  #lose(reason: unknown): void {
    this.#failure ??= reason
    this.#started.resolve()
    for (const { fail } of this.#asked.values()) fail(this.#failure)
  }
}

/** The longest time until the end: a statement that runs hears nothing. */
const END_MS_MAX = 200

function errorOf({ error, isDamaged }: Extract<ModelReply, { readonly error: string }>): Error {
  return isDamaged ? new MemberLost(error) : new SqlRefusal(error)
}

function gone(cause: Error): MemberLost {
  return new MemberLost('A process of the read model can not be reached.', { cause })
}

function tooMuch(what: string): SqlRefusal {
  return new SqlRefusal(`the statements took more than ${what}, and were ended`)
}

export function inProcesses(environment: Environment, memoryBytesMax: number = MEMORY_BYTES_MAX): StartMember {
  return (options = {}) => new MemberProcess(environment, memoryBytesMax, options)
}
