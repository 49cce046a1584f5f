/** Servers in processes of their own, which can be killed at any moment, and never outlive this process. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'

export interface ServerProcess {
  readonly url: string
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Orderly. */
  close(): Promise<void>
  /** After a garbage collection. */
  memory(): Promise<NodeJS.MemoryUsage>
  /** The most that was seen since this was asked last, or since the start. */
  peak(): Promise<Peak>
  /** What it has used of the processor until now. */
  cpuMs(): Promise<number>
}

/** Bytes. */
export interface Peak {
  readonly heapUsed: number
  readonly rss: number
}

type Entry = 'pannier-process.ts' | 'pouchdb-process.ts' | 'canned-process.ts'

interface Message {
  readonly url?: string
  readonly memory?: NodeJS.MemoryUsage
  readonly peak?: Peak
  readonly cpuMs?: number
}

/** `heapMegabytes`: the most that its JavaScript objects may take. */
export async function startProcess(
  entry: Entry,
  parameters: readonly string[] = [],
  { heapMegabytes }: { readonly heapMegabytes?: number } = {},
): Promise<ServerProcess> {
  const child = fork(join(import.meta.dirname, entry), parameters, {
    execArgv: [
      '--conditions=pannier-source',
      '--expose-gc',
      '--disable-warning=ExperimentalWarning',
      ...(heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`]),
    ],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const { url } = await answer(child, ({ url }) => url !== undefined)
  return {
    url: url!,
    kill: async () => {
      child.kill('SIGKILL')
      await gone
    },
    close: async () => {
      if (child.connected) child.send('close')
      await gone
    },
    memory: async () => {
      const told = answer(child, ({ memory }) => memory !== undefined)
      child.send('memory')
      return (await told).memory!
    },
    peak: async () => {
      const told = answer(child, ({ peak }) => peak !== undefined)
      child.send('peak')
      return (await told).peak!
    },
    cpuMs: async () => {
      const told = answer(child, ({ cpuMs }) => cpuMs !== undefined)
      child.send('cpu')
      return (await told).cpuMs!
    },
  }
}

function answer(child: ChildProcess, isWanted: (message: Message) => boolean): Promise<Message> {
  return new Promise((resolve, reject) => {
    const take = (message: unknown): void => {
      if (!isWanted(message as Message)) return
      child.off('exit', fail)
      child.off('message', take)
      resolve(message as Message)
    }
    const fail = (code: number | null): void => reject(new Error(`the server has ended with ${code}`))
    child.on('message', take)
    child.once('exit', fail)
  })
}
