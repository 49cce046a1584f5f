/** One PostgreSQL of a storage: its connections, its tables, and what the processes that use it tell one another. */
import type { Environment } from 'pannier/types'
import { Connections, UNAWAITED, type Result, type Statement } from './connections.ts'
import { failure } from './errors.ts'
import { Hub } from './hub.ts'
import type { Settings } from './options.ts'
import { Schema } from './schema.ts'
import { statementsOf, type Statements } from './statements.ts'

export class OnePostgres {
  readonly settings: Settings
  readonly environment: Environment
  readonly connections: Connections
  readonly schema: Schema
  readonly hub: Hub
  readonly sql: Statements
  #member: Promise<string> | undefined

  constructor(settings: Settings, environment: Environment) {
    this.settings = settings
    this.environment = environment
    this.connections = new Connections(settings, environment)
    this.schema = new Schema(this.connections, settings.schema, settings.place)
    this.hub = new Hub(this)
    this.sql = statementsOf(settings.schema)
  }

  /** The place: host, port and database. */
  get place(): string {
    return this.settings.place
  }

  /** Makes the tables, and gives the id of this PostgreSQL as the first one of a storage. @throws PANNIER_OPEN_FAILED */
  asFirst(): Promise<string> {
    return this.#once(async () => {
      const { id, home } = await this.schema.ready()
      if (home === id) return id
      const message = `PostgreSQL at ${this.place} is one of several. Name all of them, in the same order at each server: the first one knows where each database is.`
      throw failure('PANNIER_OPEN_FAILED', message)
    })
  }

  /** Makes the tables, and gives the id of this PostgreSQL as a further one of those of `home`. @throws PANNIER_OPEN_FAILED */
  asFurther(home: string): Promise<string> {
    return this.#once(async () => {
      const { id } = await this.schema.ready()
      const { schema } = this.settings
      const join = `update ${schema}.identity set home = $1
        where home = id and id <> $1 and not exists (select from ${schema}.database)`
      await this.#unawaited({ text: join, values: [home] })
      const text = `select home from ${schema}.identity`
      const { rows } = await this.#unawaited({ text })
      if (rows[0]![0] === home && id !== home) return id
      const reason =
        id === home
          ? 'is named twice'
          : 'has databases already, or belongs to others. Add an empty one, or name them in the order that they had'
      throw failure('PANNIER_OPEN_FAILED', `PostgreSQL at ${this.place} ${reason}.`)
    })
  }

  /** The pages of databases that were destroyed, in slices. What a process leaves behind the next one deletes. */
  async deleteDestroyed(): Promise<void> {
    const slice = (): Promise<readonly Result[]> =>
      this.connections.transaction([{ text: this.sql.deleteSlice }, { text: this.sql.forgetDestroyed }])
    for (let deleted = 1; deleted > 0;) deleted = (await this.connections.patiently(slice))[0]!.count
  }

  #unawaited(statement: Statement): Promise<Result> {
    return this.connections.patiently(() => this.connections.one(statement), this.connections.patience(UNAWAITED))
  }

  #once(work: () => Promise<string>): Promise<string> {
    this.#member ??= work().catch((error: unknown) => {
      this.#member = undefined
      throw error
    })
    return this.#member
  }
}
