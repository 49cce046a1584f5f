/** Runs statements on a scratch database in a process of its own, which is ended after a time. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Environment } from 'pannier/types'
import { startProcess } from '../gateway/programs.ts'
import { invalid, ServiceError } from '../gateway/service-error.ts'
import type { Row, ScratchReply, ScratchRequest, ScratchResult, ScratchTable } from './scratch-protocol.ts'

const TIME_MS_MAX = 30_000
const MEMORY_BYTES_MAX = 1 << 30
const ROWS_AT_ONCE = 1000

/** A table with its rows. */
export interface FilledTable {
  readonly table: ScratchTable
  readonly rows: readonly Row[]
}

interface ScratchOptions {
  readonly environment: Environment
  /** Ends the process. */
  readonly signal: AbortSignal
  readonly timeMsMax?: number
  /** The whole process has no more. */
  readonly memoryBytesMax?: number
}

/** @throws ServiceError INVALID with what SQLite says, or if the statements took too much time or memory */
export async function runScratch(
  tables: readonly FilledTable[],
  statements: string,
  { environment, signal, timeMsMax = TIME_MS_MAX, memoryBytesMax = MEMORY_BYTES_MAX }: ScratchOptions,
): Promise<ScratchResult> {
  signal.throwIfAborted()
  const child = startProcess(import.meta.url, 'scratch-program', [String(memoryBytesMax)], {
    serialization: 'advanced',
    env: {},
    execArgv: [],
    stdio: 'ignore',
  })
  let isLate = false
  const end = (): boolean => child.kill('SIGKILL')
  const cancel = environment.after(timeMsMax, () => {
    isLate = true
    end()
  })
  signal.addEventListener('abort', end)
  let failure: unknown
  const fail = (error: unknown): void => {
    failure ??= error
  }
  child.on('error', fail)
  const ended = once(child, 'close').catch(fail)
  // It ends itself so if it has too much memory.
  child.once('exit', (code, by) => {
    if (by !== 'SIGKILL') fail(new Error(`The process has ended with ${code ?? by}.`))
  })
  let reply: ScratchReply | undefined
  child.on('message', (message) => {
    reply ??= message as ScratchReply
  })
  try {
    await send(child, tables, statements).catch(() => {})
    await ended
  } finally {
    cancel()
    signal.removeEventListener('abort', end)
  }
  signal.throwIfAborted()
  if (reply === undefined && failure !== undefined)
    throw new ServiceError('UNAVAILABLE', 'The process for SQL has failed. Try again later.', { cause: failure })
  if (reply === undefined)
    throw refused(
      `the statements took more than ${isLate ? `${timeMsMax} ms` : `${memoryBytesMax} bytes`}, and were ended`,
    )
  if ('error' in reply) throw refused(reply.error)
  return reply.result
}

/** Each piece waits until the one before has left. Fails when the process ends. */
async function send(child: ChildProcess, tables: readonly FilledTable[], statements: string): Promise<void> {
  const one = (request: ScratchRequest): Promise<void> =>
    new Promise((resolve, reject) => child.send(request, (error) => (error === null ? resolve() : reject(error))))
  for (const { table, rows } of tables) {
    await one({ kind: 'table', table })
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
      await one({ kind: 'rows', table: table.name, rows: rows.slice(at, at + ROWS_AT_ONCE) })
  }
  await one({ kind: 'run', statements })
}

function refused(reason: string): Error {
  return invalid(`Failed to execute query. Raw error:\n${reason}`)
}
