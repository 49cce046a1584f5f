/** Destroys databases that are not open. */
import { defaultStorage } from '#default-storage'
import { checkOptions, type OptionNames } from '../../base/options.ts'
import { limitsOf } from './open.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'

/** Options of `destroy`. */
export interface DestroyOptions {
  /** The storage where it is kept; as for `open`. */
  readonly storage?: DatabaseStorage
}

const DESTROY_OPTIONS: OptionNames<DestroyOptions> = { storage: true }

/**
 * Destroys a database with everything in it; does nothing if it does not exist. Unlike `db.destroy()` it needs no key.
 * Handles that are open elsewhere end at once: their calls reject with PANNIER_CLOSED, what is live fails, and `db.closed` resolves.
 *
 * @throws PANNIER_BLOCKED if another tab does not release it; PANNIER_LOCKED
 */
export function destroy(name: string, options: DestroyOptions = {}): Promise<void> {
  checkOptions('destroy()', options, DESTROY_OPTIONS)
  limitsOf(name, {}, 'destroy()')
  const { storage = defaultStorage() } = options
  return storage.destroy(name)
}
