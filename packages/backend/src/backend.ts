/** Puts the parts of an application backend together. */
import type { Database } from 'pannier'
import type { LoginAttempt } from './accounts/accounts-host.ts'
import { Passwords } from './accounts/passwords.ts'
import { RecordAccounts } from './accounts/record-accounts.ts'
import { Definitions } from './definitions/definitions.ts'
import { Settings } from './settings/settings.ts'

export interface BackendOptions {
  /** Hashes passwords; others may share its queue. */
  readonly passwords?: Passwords
  /** Counts failed logins by address and name. All are let pass when left out. */
  readonly attempt?: LoginAttempt
  /** The time in milliseconds since 1970. */
  readonly now?: () => number
}

/** An application backend on a database. Get it by `openBackend`. */
export interface Backend {
  /** What the collections are. */
  readonly definitions: Definitions
  /** Logins and tokens. */
  readonly accounts: RecordAccounts
  /** What superusers have set. */
  readonly settings: Settings
  /** Stops what runs. The database stays open. */
  close(): Promise<void>
}

/** Makes the system collections of a new database. The database stays open when the backend is closed. */
export async function openBackend(database: Database, options: BackendOptions = {}): Promise<Backend> {
  const { passwords = new Passwords(), attempt = () => () => {}, now = Date.now } = options
  const definitions = await Definitions.open(database)
  const settings = await Settings.open(database)
  const accounts = new RecordAccounts({
    database,
    definitions,
    settings,
    passwords,
    attempt,
    now,
    admits: async () => false,
  })
  return {
    definitions,
    accounts,
    settings,
    close: async () => {
      accounts.close()
      await settings.close()
      await definitions.close()
    },
  }
}
