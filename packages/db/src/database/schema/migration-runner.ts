/** Starts the migration of a collection if one is needed, and lets all callers wait for the same one. */
import { loadedModule } from '../../base/lazy-module.ts'
import type { LongWork } from '../../base/long-work.ts'
import type { WriteContext } from '../../document/write-documents.ts'
import type { DatabaseContext } from '../database-context.ts'
import type { CollectionSchema } from './collection-schema.ts'
import type { MigrationFailure, RetryResult } from './migration-failures.ts'

export class MigrationRunner {
  /** The options of the next migration. */
  options: LongWork = {}
  readonly #context: DatabaseContext
  readonly #schema: CollectionSchema
  readonly #writing: WriteContext
  #running: Promise<void> | undefined

  constructor(context: DatabaseContext, schema: CollectionSchema, writing: WriteContext) {
    this.#context = context
    this.#schema = schema
    this.#writing = writing
  }

  get running(): boolean {
    return this.#running !== undefined
  }

  /** Resolves when nothing is left to migrate. After a failure the next call tries again. */
  migrate(): Promise<void> {
    if (this.#running !== undefined) return this.#running
    const work = this.#migrateOnce()
    const ended = (): void => void (this.#running = undefined)
    work.then(ended, ended)
    this.#running = work
    return work
  }

  async idle(): Promise<void> {
    await this.#running?.catch(() => {})
  }

  async failures(): Promise<MigrationFailure[]> {
    await this.migrate()
    const { readFailures } = await loadedModule(import('./migrate.ts'))
    return await readFailures(this.#context, this.#writing.name)
  }

  async retry(options: LongWork): Promise<RetryResult> {
    await this.migrate()
    const { retryMigration } = await loadedModule(import('./migrate.ts'))
    return await retryMigration(this.#context, this.#schema, this.#writing, options)
  }

  async #migrateOnce(): Promise<void> {
    const schema = this.#schema
    if (schema.version === undefined) return
    const { store, catalog } = this.#context
    const needed = await store.read((snapshot) =>
      schema.needsMigration(catalog.collection(snapshot, this.#writing.name), true),
    )
    if (!needed) return
    // Most runs of an application migrate nothing, so it is loaded only for this.
    const { runMigration } = await loadedModule(import('./migrate.ts'))
    await runMigration(this.#context, schema, this.#writing, this.options)
  }
}
