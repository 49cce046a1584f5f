/** Which migrations have been applied: one document of the server's state, in the order in which they were. */
import type { Database, Transaction } from 'pannier'
import type { JsonObject } from '../gateway/documents.ts'
import { ServerState, STATE_COLLECTION } from '../gateway/state.ts'

const STATE_ID = 'migrations'

/** The history: which migrations have been applied. */
export class MigrationHistory {
  readonly #state: ServerState

  constructor(database: Database) {
    this.#state = new ServerState(database)
  }

  /** Names of files. */
  async applied(): Promise<readonly string[]> {
    return namesIn(await this.#state.get(STATE_ID))
  }

  /** Replaces the names. */
  async replace(applied: readonly string[]): Promise<void> {
    await this.#state.set(STATE_ID, { applied })
  }
}

/** Adds a migration within a transaction. */
export async function noteApplied(transaction: Transaction, name: string): Promise<void> {
  const documents = transaction.collection<JsonObject>(STATE_COLLECTION)
  const applied = [...namesIn(await documents.get(STATE_ID)), name]
  await documents.upsert({ _id: STATE_ID, applied })
}

function namesIn(document: JsonObject | undefined): readonly string[] {
  return (document?.['applied'] ?? []) as readonly string[]
}
