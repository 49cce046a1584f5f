/** The hooks of a folder, loaded again when a file changes. A request that runs keeps those that it began with. */
import { existsSync, watch } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Environment } from 'pannier/types'
import type { Backend } from '@pannier/backend'
import { HookFileError, loadHooks } from './load-hooks.ts'
import type { HookSet } from './hook-set.ts'
import type { RouteTable } from './route-table.ts'
import { TypeFile } from './type-file.ts'
import { Watchdog } from './watchdog.ts'

interface HookFolderParts {
  readonly environment: Environment
  /** The folder of hooks, if there is one. */
  readonly folder: string | undefined
  /** The folder of PocketBase's hooks, if there is one. */
  readonly pbHooks: string | undefined
  readonly backend: Backend
  readonly routes: RouteTable
  readonly log: FastifyBaseLogger
  /** Loads them again when a file changes, and writes the types of the collections beside them. */
  readonly isWatched: boolean
  /** Where the names of running hooks are kept. Undefined: nowhere. */
  readonly runningFile: string | undefined
}

/** Editors write a file in several steps. */
const SETTLE_MS = 100
/** Changes within it that are nobody's source. */
const IGNORED = /(?:^|[\\/])(?:node_modules|\.)|\.d\.ts$/

export class HookFolder {
  readonly #parts: HookFolderParts
  readonly #watchdog: Watchdog
  readonly #watching = new AbortController()
  #types: TypeFile | undefined
  #jobs: readonly string[] = []
  #end: HookSet['close'] = async () => {}
  #cancel: () => void = () => {}
  #loading: Promise<void> = Promise.resolve()

  /** @throws HookFileError */
  static async open(parts: HookFolderParts): Promise<HookFolder> {
    const opened = new HookFolder({ ...parts, folder: parts.folder && resolve(parts.folder) })
    await opened.#load().catch(async (error: unknown) => {
      await opened.#watchdog.close()
      throw error
    })
    if (parts.isWatched) await opened.#watch()
    return opened
  }

  private constructor(parts: HookFolderParts) {
    this.#parts = parts
    this.#watchdog = new Watchdog({ log: parts.log, file: parts.runningFile })
    parts.backend.hooks.onRun = (handler) => this.#watchdog.begin(handler)
  }

  async close(): Promise<void> {
    this.#watching.abort()
    this.#cancel()
    await this.#loading
    await this.#types?.close()
    await this.#watchdog.close()
    await this.#end()
  }

  async #load(): Promise<void> {
    const { folder, backend, pbHooks } = this.#parts
    this.#apply(await loadHooks(folder, backend, pbHooks))
    // The log has the file and the line.
    await backend.hooks.trigger('onBootstrap', { app: backend.app }, []).catch((error: Error) => {
      throw new HookFileError('onBootstrap', error.cause ?? error)
    })
  }

  #apply({ bound, jobs, close, ...requests }: HookSet): void {
    const { backend, routes } = this.#parts
    void this.#end()
    this.#end = close
    for (const id of this.#jobs) backend.schedules.remove(id)
    for (const { id, expression, run } of jobs) backend.schedules.add(id, expression, run)
    this.#jobs = jobs.map(({ id }) => id)
    backend.hooks.replace(bound)
    routes.replace(requests)
  }

  async #watch(): Promise<void> {
    const { folder, pbHooks, log, backend } = this.#parts
    if (folder !== undefined && existsSync(folder))
      this.#types = await TypeFile.open({ folder, log, definitions: backend.definitions })
    for (const one of [folder, pbHooks]) if (one !== undefined && existsSync(one)) this.#watchFolder(one)
  }

  #watchFolder(folder: string): void {
    const { environment, log } = this.#parts
    const { signal } = this.#watching
    const watcher = watch(folder, { recursive: true, signal, persistent: false }, (_event, name) => {
      if (name !== null && IGNORED.test(name)) return
      this.#cancel()
      const reload = (): void => void (this.#loading = this.#loading.then(() => this.#reload()))
      this.#cancel = environment.after(SETTLE_MS, reload)
    })
    watcher.on('error', (error) => log.warn({ err: error }, 'hooks are no longer watched'))
  }

  /** Loads the files again. Hooks that run stay if the new ones can't be loaded. */
  async #reload(): Promise<void> {
    const { folder, pbHooks, log } = this.#parts
    const name = basename((folder ?? pbHooks)!)
    try {
      await this.#load()
      log.info(`${name}: hooks are loaded again`)
    } catch (error) {
      const message = error instanceof HookFileError ? error.message : `${name}: ${String(error)}`
      log.error(`${message} The hooks that were loaded before stay.`)
    }
  }
}
