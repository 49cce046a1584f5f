/** Applies and reverts migrations. What has run before an error stays in the database that they ran in: give them one of their own. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Database } from 'pannier'
import { errorText } from '../gateway/log-entry.ts'
import { ServiceError } from '../gateway/service-error.ts'
import { lineIn } from '../hooks/hook-log.ts'
import type { MigrationApp } from './migration-app.ts'
import { MigrationHistory } from './migration-history.ts'

const READ_ONLY = ' A collection that was found is read-only. Change it by app.updateCollection().'

/** A migration, as its file exports it. */
type Steps = Readonly<Partial<Record<'up' | 'down', (app: MigrationApp) => unknown>>>

/** The steps of a file in another language than modules. */
export type StepsOfFile = (path: string) => Steps

/** The migrations of a folder, in the order of their names: `1790000000_created_posts.ts`. */
export class Migrations {
  readonly #names: readonly string[]
  readonly #modules: string | undefined
  /** Files in another language, by name. */
  readonly #others: ReadonlyMap<string, string>

  private constructor(modules: string | undefined, own: readonly string[], others: ReadonlyMap<string, string>) {
    this.#modules = modules
    this.#names = [...own, ...others.keys()].sort()
    this.#others = others
  }

  /** The migrations that a folder has now, and those of a folder in another language. Either may be missing. */
  static async in(folder: string | undefined, other?: string): Promise<Migrations> {
    const others = await namesIn(other)
    return new Migrations(folder, await namesIn(folder), new Map(others.map((name) => [name, join(other!, name)])))
  }

  /** Whether there are no files. */
  get isEmpty(): boolean {
    return this.#names.length === 0
  }

  /** The names of migrations that the database does not have. */
  async pending(database: Database): Promise<readonly string[]> {
    const applied = await new MigrationHistory(database).applied()
    return this.#names.filter((name) => !applied.includes(name))
  }

  /** Applies what is pending, and returns the names. @throws ServiceError INVALID that names the file */
  async up(database: Database, app: MigrationApp, steps?: StepsOfFile): Promise<readonly string[]> {
    const pending = await this.pending(database)
    const history = new MigrationHistory(database)
    for (const name of pending) {
      await this.#run(name, 'up', app, steps)
      await history.replace([...(await history.applied()), name])
    }
    return pending
  }

  /**
   * Reverts the last `count` that were applied, the newest first, and returns the names. Migrations without a file are ignored.
   *
   * @throws ServiceError INVALID that names the file
   */
  async down(database: Database, app: MigrationApp, count: number, steps?: StepsOfFile): Promise<readonly string[]> {
    const history = new MigrationHistory(database)
    const last = (await history.applied()).toReversed().filter((name) => this.#names.includes(name))
    const reverted = last.slice(0, count)
    for (const name of reverted) {
      await this.#run(name, 'down', app, steps)
      await history.replace((await history.applied()).filter((one) => one !== name))
    }
    return reverted
  }

  /** Forgets applied migrations that have no file, and returns their names. */
  async forgetMissing(database: Database): Promise<readonly string[]> {
    const history = new MigrationHistory(database)
    const applied = await history.applied()
    await history.replace(applied.filter((name) => this.#names.includes(name)))
    return applied.filter((name) => !this.#names.includes(name))
  }

  async #run(name: string, step: 'up' | 'down', app: MigrationApp, stepsOf?: StepsOfFile): Promise<void> {
    try {
      const other = this.#others.get(name)
      const steps =
        other === undefined
          ? ((await import(pathToFileURL(join(this.#modules!, name)).href)) as Steps)
          : stepsOf?.(other)
      await steps?.[step]?.(app)
    } catch (error) {
      const data = error instanceof ServiceError && error.data !== undefined ? ` ${JSON.stringify(error.data)}` : ''
      const what = step === 'up' ? 'applied' : 'reverted'
      const line = lineIn(error)
      const place = line === undefined ? '' : ` (${line})`
      const isReadOnly = error instanceof TypeError && /read.only|not extensible/.test(error.message)
      const reason = errorText(error).replace(/(?<![.!?])$/, '.') + data + (isReadOnly ? READ_ONLY : '')
      const message = `The migration ${name} can't be ${what}${place}: ${reason} Nothing was changed.`
      throw new ServiceError('INVALID', message, { cause: error })
    }
  }
}

async function namesIn(folder: string | undefined): Promise<readonly string[]> {
  const entries = folder !== undefined && existsSync(folder) ? await readdir(folder, { withFileTypes: true }) : []
  return entries.flatMap((entry) => (entry.isFile() && isMigration(entry.name) ? [entry.name] : []))
}

function isMigration(name: string): boolean {
  return /\.m?[jt]s$/.test(name) && !/\.d\.m?ts$|^[._]|\.test\.\w+$/.test(name)
}
