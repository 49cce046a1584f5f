/** The servers that are compared, each in a process and a folder of its own, with a superuser. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, makeFolder, removeFolder, run, spawnTracked, stop } from '../../tools/processes.ts'

export const SUPERUSER = 'bench@example.com'
export const SUPERUSER_PASSWORD = 'bench-password'

export type ServerName = 'pannier' | 'before' | 'pocketbase'

/** How a server is started on a folder. */
export interface Program {
  readonly name: ServerName
  readonly addSuperuser: (dir: string) => readonly string[]
  readonly serve: (dir: string, port: number) => readonly string[]
}

export interface Server {
  readonly name: ServerName
  readonly url: string
  /** The folder of its data. */
  readonly dir: string
  /** Bytes of memory: now, and the most since it began. */
  memory(): { readonly now: number; readonly peak: number }
  /** Milliseconds of processor time that its threads have used. */
  processorMs(): number
  stop(): Promise<void>
}

const START_MS_MAX = 30_000

/** The published form, with a database file as `pannier serve` makes it. `root`: of a checkout that is built. */
export function pannierIn(root: string, name: ServerName): Program {
  const cli = [process.execPath, join(root, 'packages/server/dist/cli/main.js')]
  return {
    name,
    addSuperuser: (dir) => [...cli, 'superuser', 'upsert', SUPERUSER, SUPERUSER_PASSWORD, '--dir', dir],
    serve: (dir, port) => [...cli, 'serve', '--dir', dir, '--port', String(port)],
  }
}

export function pocketBaseAt(program: string): Program {
  return {
    name: 'pocketbase',
    addSuperuser: (dir) => [program, 'superuser', 'upsert', SUPERUSER, SUPERUSER_PASSWORD, '--dev=false', '--dir', dir],
    serve: (dir, port) => [program, 'serve', '--http', `127.0.0.1:${port}`, '--dev=false', '--dir', dir],
  }
}

/** A folder that `fill` has filled through a server. It is made once, and kept. */
export async function filledFolder(
  program: Program,
  folder: string,
  fill: (server: Server) => Promise<void>,
): Promise<string> {
  if (existsSync(folder)) return folder
  const made = makeFolder(program.name)
  const [command, ...parameters] = program.addSuperuser(made)
  const { code, output } = await run(command!, parameters)
  if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} has ended with ${code}:\n${output}`)
  const server = await serve(program, made)
  try {
    await fill(server)
  } finally {
    await server.stop()
  }
  mkdirSync(join(folder, '..'), { recursive: true })
  cpSync(made, `${folder}.part`, { recursive: true })
  renameSync(`${folder}.part`, folder)
  removeFolder(made)
  return folder
}

/** Serves a copy of the folder, which goes with the server. */
export async function serveCopy(program: Program, folder: string): Promise<Server> {
  const copy = makeFolder(program.name)
  cpSync(folder, copy, { recursive: true })
  const server = await serve(program, copy)
  return {
    ...server,
    stop: async () => {
      await server.stop()
      removeFolder(copy)
    },
  }
}

/** Resolves when it answers. */
export async function serve({ name, serve: command }: Program, dir: string, at?: number): Promise<Server> {
  const port = at ?? (await freePort())
  const [program, ...parameters] = command(dir, port)
  const child = spawnTracked(program!, parameters, { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  await answers(url)
  const pid = child.pid!
  return {
    name,
    url,
    dir,
    memory: () => memoryOf(pid),
    processorMs: () => processorMsOf(pid),
    stop: () => stop(child),
  }
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

/** Threads that have ended do not count; neither server ends any while it works. */
function processorMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6
}
