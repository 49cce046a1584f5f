/** Starts Node processes on copies of databases, with the library installed as users have it. Each is killed once it has printed its line. */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build as bundle } from 'esbuild'
import { waitForOutput } from '../../tools/browser/launch.ts'
import { build } from '../../tools/checks/build.ts'
import { root } from '../../tools/checks/packages.ts'
import { run, spawnTracked, stop } from '../../tools/processes.ts'
import { makeId } from '../documents.ts'
import type { DataSet } from '../documents.ts'
import type { Start, Starter } from './starter.ts'
import type { Variant } from './variants.ts'

/** Tasks measured in Node: the first rows, and one document by its id. */
export const TASKS = ['rows', 'get'] as const

export interface NodeRequest {
  readonly app: string
  readonly place: string
  readonly task: 'fill' | 'fillLog' | (typeof TASKS)[number]
  readonly set: DataSet
  /** The document that `get` reads. */
  readonly id: string
}

export interface NodeReport {
  readonly agent: string
  readonly rows: readonly string[]
  /** The marks of a start, in milliseconds since the process began. */
  readonly marks: {
    /** The first line of the program runs. */
    readonly launched: number
    readonly imported: number
    readonly opened: number
    readonly read: number
  }
}

/** The document that is got. */
export const WANTED = 1

const START_MS_MAX = 60_000
/** The exit code that `run` gives for a process that a signal has ended. */
const KILLED = 1
const PROGRAM = 'node-program'
const LIBRARY = 'packages/db'

export class Processes implements Starter {
  /** The folder of the program and all databases. */
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Puts the program into the folder, and beside it Pannier as its package is published, or within it Pannier of its sources. */
  async install(published: boolean): Promise<void> {
    if (published) {
      await build()
      for (const part of ['package.json', 'dist']) {
        cpSync(join(root, LIBRARY, part), join(this.#folder, 'node_modules/pannier', part), { recursive: true })
      }
    }
    await bundle({
      entryPoints: [join(import.meta.dirname, `${PROGRAM}.ts`)],
      outdir: this.#folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      ...(published ? { external: ['pannier'] } : { conditions: ['pannier-source'] }),
      logLevel: 'error',
    })
  }

  async fill(variant: Variant, set: DataSet): Promise<void> {
    const folder = this.#kept(variant)
    mkdirSync(folder)
    await this.#runToEnd(requestOf(variant, folder, 'fill', set), 0)
    if (variant.state === 'killed') await this.#runToEnd(requestOf(variant, folder, 'fillLog', set), KILLED)
  }

  async start(variant: Variant, way: string, set: DataSet): Promise<Start> {
    const folder = join(this.#folder, 'started')
    rmSync(folder, { recursive: true, force: true })
    cpSync(this.#kept(variant), folder, { recursive: true })
    const request = requestOf(variant, folder, way as NodeRequest['task'], set)
    const began = performance.now()
    const child = spawnTracked(process.execPath, this.#parameters(request), { stdio: ['ignore', 'pipe', 'pipe'] })
    const line = await waitForOutput(child, /^(\{.*\})\n/, START_MS_MAX)
    const total = performance.now() - began
    await stop(child, 'SIGKILL')
    const { agent, rows, marks } = JSON.parse(line) as NodeReport
    return { agent, rows, values: stepsOf(marks, total) }
  }

  forget(variant: Variant): void {
    rmSync(this.#kept(variant), { recursive: true, force: true })
  }

  #kept({ name }: Variant): string {
    return join(this.#folder, `kept ${name}`)
  }

  #parameters(request: NodeRequest): string[] {
    return ['--disable-warning=ExperimentalWarning', join(this.#folder, `${PROGRAM}.mjs`), JSON.stringify(request)]
  }

  async #runToEnd(request: NodeRequest, expectedCode: number): Promise<void> {
    const { code, output } = await run(process.execPath, this.#parameters(request))
    if (code !== expectedCode) throw new Error(`${request.task} of ${request.app} ended with ${code}: ${output}`)
  }
}

function requestOf({ app }: Variant, folder: string, task: NodeRequest['task'], set: DataSet): NodeRequest {
  return { app, place: join(folder, 'people'), task, set, id: makeId(set, WANTED) }
}

function stepsOf({ launched, imported, opened, read }: NodeReport['marks'], total: number): Record<string, number> {
  return {
    total,
    // What remains: the start of the process, and the way of the line.
    process: total - (read - launched),
    import: imported - launched,
    open: opened - imported,
    read: read - opened,
    openAndRead: read - imported,
  }
}
