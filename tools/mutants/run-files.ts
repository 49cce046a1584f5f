/** Runs test files of a checkout with changed sources, in an order. */
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { makeFolder, removeFolder, spawnTracked, stop } from '../processes.ts'
import { editEnvironment, type Edit } from './edits.ts'
import { MARK, type Happening } from './reporter.ts'

export interface FilesToRun {
  /** The folder of the checkout. */
  readonly suite: string
  /** From the checkout's folder. */
  readonly files: readonly string[]
  readonly edits: ReadonlyMap<string, readonly Edit[]>
  readonly workers: number
  /** Ends with the first file that fails. */
  readonly isBail: boolean
  /** Milliseconds that a file may take; one that takes longer fails. */
  readonly limitOf: (file: string) => number
  /** Where the mutants that each file reaches are noted. */
  readonly reachedFolder?: string
  readonly onEnd?: (file: string, seconds: number, passed: boolean) => void
}

export interface Failure {
  readonly file: string
  readonly test: string
  readonly message: string
  /** The run was stopped, because it did not end. */
  readonly isEndless: boolean
}

/** The time that a file has to end after a failure. */
const GRACE_MS = 10_000
/** The time that vitest has to start, and to reach the next file. */
const IDLE_MS_MAX = 180_000
const LOOK_EVERY_MS = 1000
const LAST_OUTPUT_MS = 2000
/** A variable with this name is in the environment of all processes that a run starts. */
const RUN = 'MUTANT_RUN'

/** The first failure; undefined: all files have passed. */
export async function runFiles(work: FilesToRun): Promise<Failure | undefined> {
  const folder = makeFolder('mutants')
  // PostgreSQL runs as somebody else.
  chmodSync(folder, 0o1777)
  try {
    return await new Run(work, folder).result()
  } finally {
    killLeft(folder)
    removeFolder(folder)
  }
}

class Run {
  readonly #work: FilesToRun
  readonly #folder: string
  /** When each file that runs has begun. */
  readonly #running = new Map<string, number>()
  #failure: Failure | undefined
  /** When the run is stopped, if nothing happens until then. */
  #untilMs = performance.now() + IDLE_MS_MAX
  #last = ''
  #output = ''
  #isOver = false

  constructor(work: FilesToRun, folder: string) {
    this.#work = work
    this.#folder = folder
  }

  async result(): Promise<Failure | undefined> {
    const { suite, files, isBail, workers } = this.#work
    const parameters = ['run', '--config', join(import.meta.dirname, 'vitest.config.ts'), '--root', suite]
    parameters.push(
      `--maxWorkers=${workers}`,
      ...(isBail ? ['--bail=1'] : []),
      ...files.map((file) => join(suite, file)),
    )
    const child = spawnTracked(join(suite, 'node_modules/.bin/vitest'), parameters, {
      cwd: suite,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    createInterface(child.stdout!).on('line', (line) => {
      if (line.startsWith(MARK)) this.#take(JSON.parse(line.slice(MARK.length)) as Happening)
      else this.#output += `${line}\n`
    })
    const timer = setInterval(() => {
      if (this.#look()) void stop(child, 'SIGKILL')
    }, LOOK_EVERY_MS)
    await new Promise<void>((resolve) => {
      child.once('close', () => resolve())
      // What it has left may keep its outputs open.
      child.once('exit', () => setTimeout(resolve, LAST_OUTPUT_MS))
    })
    clearInterval(timer)
    if (this.#failure === undefined && !this.#isOver) this.#fail(this.#last, 'the process', this.#output.slice(-500))
    return this.#failure
  }

  #environment(): NodeJS.ProcessEnv {
    const { suite, edits, reachedFolder } = this.#work
    const { NODE_COMPILE_CACHE: _, ...environment } = process.env
    return {
      ...environment,
      ...editEnvironment(edits),
      ...(reachedFolder !== undefined && { MUTANT_REACHED: reachedFolder }),
      [RUN]: this.#folder,
      TMPDIR: this.#folder,
      PATH: [join(suite, 'node_modules/.bin'), environment['PATH']].join(delimiter),
    }
  }

  #take(happening: Happening): void {
    this.#untilMs = performance.now() + IDLE_MS_MAX
    if (happening.kind === 'over') {
      this.#isOver = true
      if (happening.message !== undefined) this.#fail(this.#last, 'outside of tests', happening.message)
      return
    }
    const file = relative(this.#work.suite, happening.file)
    this.#last = file
    if (happening.kind === 'begun') this.#running.set(file, performance.now())
    if (happening.kind === 'failed') this.#fail(file, happening.test, happening.message)
    if (happening.kind !== 'ended') return
    const ms = performance.now() - (this.#running.get(file) ?? performance.now())
    this.#running.delete(file)
    this.#work.onEnd?.(file, Math.round(ms / 10) / 100, happening.passed)
  }

  /** Whether the run has to be stopped. */
  #look(): boolean {
    const now = performance.now()
    for (const [file, since] of this.#running)
      if (now - since > this.#work.limitOf(file)) {
        this.#fail(file, 'the file', 'It does not end.', true)
        return true
      }
    return now > this.#untilMs && (this.#running.size === 0 || (this.#work.isBail && this.#failure !== undefined))
  }

  #fail(file: string, test: string, message: string, isEndless = false): void {
    this.#failure ??= { file: file === '' ? this.#work.files[0]! : file, test, message, isEndless }
    this.#untilMs = Math.min(this.#untilMs, performance.now() + GRACE_MS)
  }
}

/** Ends what the run has started and left, in groups of processes of its own. Linux says what that is. */
function killLeft(folder: string): void {
  for (const pid of readable('/proc', (path) => readdirSync(path)) ?? []) {
    if (!/^\d+$/.test(pid)) continue
    const environment = readable(`/proc/${pid}/environ`, (path) => readFileSync(path, 'utf8'))
    if (environment?.split('\0').includes(`${RUN}=${folder}`) === true)
      readable(pid, () => process.kill(Number(pid), 'SIGKILL'))
  }
}

function readable<T>(path: string, read: (path: string) => T): T | undefined {
  try {
    return read(path)
  } catch {
    return undefined
  }
}
