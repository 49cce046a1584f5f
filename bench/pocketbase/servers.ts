/** The servers that are compared, each in a process and a folder of its own, with a superuser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, makeFolder, removeFolder, run, spawnTracked, stop } from '../../tools/processes.ts'

export const SUPERUSER = 'bench@example.com'
export const SUPERUSER_PASSWORD = 'bench-password'

export interface Server {
  readonly name: 'pannier' | 'pocketbase'
  readonly url: string
  /** Bytes of memory: now, and the most since it began. */
  memory(): { readonly now: number; readonly peak: number }
  stop(): Promise<void>
}

const START_MS_MAX = 30_000
const CLI = join(import.meta.dirname, '../../packages/server/dist/cli/main.js')

/** The published form, with a database file as `pannier serve` makes it. */
export async function startPannier(): Promise<Server> {
  const dir = makeFolder('pannier')
  await succeed(process.execPath, [CLI, 'superuser', 'upsert', SUPERUSER, SUPERUSER_PASSWORD, '--dir', dir])
  return start('pannier', dir, (port) => [process.execPath, [CLI, 'serve', '--dir', dir, '--port', String(port)]])
}

/** `program`: PocketBase's. */
export async function startPocketBase(program: string): Promise<Server> {
  const dir = makeFolder('pocketbase')
  const flags = ['--dev=false', '--dir', dir]
  await succeed(program, ['superuser', 'upsert', SUPERUSER, SUPERUSER_PASSWORD, ...flags])
  return start('pocketbase', dir, (port) => [program, ['serve', '--http', `127.0.0.1:${port}`, ...flags]])
}

async function start(
  name: Server['name'],
  dir: string,
  command: (port: number) => readonly [string, readonly string[]],
): Promise<Server> {
  const port = await freePort()
  const child = spawnTracked(...command(port), { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  await answers(url)
  return {
    name,
    url,
    memory: () => memoryOf(child.pid!),
    stop: async () => {
      await stop(child)
      removeFolder(dir)
    },
  }
}

async function succeed(program: string, parameters: readonly string[]): Promise<void> {
  const { code, output } = await run(program, parameters)
  if (code !== 0) throw new Error(`${program} ${parameters.join(' ')} has ended with ${code}:\n${output}`)
}

async function answers(url: string): Promise<void> {
  const until = performance.now() + START_MS_MAX
  for (;;) {
    const response = await fetch(`${url}/api/health`).catch(() => undefined)
    if (response?.ok) return
    if (performance.now() > until) throw new Error(`${url} does not answer.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) * 1024
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
}
