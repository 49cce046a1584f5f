/**
 * Opens a database in the better one of two storages, or in the one that it is in.
 *
 * A database is never hidden by another one: what is there is opened where it is, or the reason why it can't be is told. New ones go to
 * the preferred storage, and to the other one only if the preferred one is not available. Two at once are what a move leaves that was cut
 * off: the copy is deleted, as by the next move. Whoever opens, deletes or moves does so in turn (place-turn.ts), so that those who open a new
 * database at the same time meet in one place, and nobody makes an empty one in the place that a move has just left.
 */
import { isPannierError, PannierError } from '../../base/errors.ts'
import { holdsDatabase } from '../../kv/restore-snapshot.ts'
import type { PageStore, DatabaseStorage } from '../../storage/page-store.ts'
import type { Database } from '../database.ts'
import { systemEnvironment } from './environment.ts'
import { limitsOf, open, type OpenOptions } from './open.ts'
import { inPlaceTurn } from './place-turn.ts'

/** A storage that can be asked, without opening anything, whether a database may be in it. */
export interface Place {
  readonly storage: DatabaseStorage
  has(name: string): Promise<boolean>
}

export interface Choice {
  readonly preferred: Place
  readonly fallback: Place
}

/** @throws what `open` throws; PANNIER_EXISTS if there is one in each that is no copy of the other. */
export function openByChoice<Schemas extends object>(
  choice: Choice,
  name: string,
  options: OpenOptions<Schemas>,
): Promise<Database<Schemas>> {
  // Before anything is looked for, as `open` does.
  limitsOf(name, options)
  return openChosen(choice, name, options)
}

async function openChosen<Schemas extends object>(
  choice: Choice,
  name: string,
  options: OpenOptions<Schemas>,
): Promise<Database<Schemas>> {
  const chosen = await inTurn(choice, name, options.signal, () => choose(choice, name, options.encryption))
  try {
    return await open(name, { ...options, storage: chosen.storage })
  } finally {
    await chosen.held.close()
  }
}

/** Deletes what is in either. */
export function destroyByChoice(choice: Choice, name: string): Promise<void> {
  limitsOf(name, {}, 'destroy()')
  return inTurn(choice, name, undefined, async () => {
    for (const place of [choice.preferred, choice.fallback]) {
      if (await place.has(name)) await place.storage.destroy(name)
    }
  })
}

function inTurn<T>(
  { preferred, fallback }: Choice,
  name: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const environment = systemEnvironment()
  return inPlaceTurn({ name, storages: [preferred.storage, fallback.storage], environment, signal }, work)
}

interface Chosen {
  readonly storage: DatabaseStorage
  /** Open, so that whoever comes next finds it there. */
  readonly held: PageStore
}

async function choose(choice: Choice, name: string, encryption: OpenOptions['encryption']): Promise<Chosen> {
  const { preferred, fallback } = choice
  const [isPreferred, isFallback] = await Promise.all([preferred.has(name), fallback.has(name)])
  if (isPreferred && isFallback) return hold(await originalOf(choice, name, encryption), name)
  if (isFallback) return hold(fallback.storage, name)
  try {
    return await hold(preferred.storage, name)
  } catch (error) {
    if (isPreferred || !isPannierError(error, 'PANNIER_UNAVAILABLE')) throw error
    // A mistake in how the page is deployed, not a browser that lacks something: nobody would notice it.
    if (error.details['script'] === 'missing')
      globalThis.console.warn(`Pannier: ${error.message} '${name}' is made in ${fallback.storage.kind} meanwhile.`)
    return hold(fallback.storage, name)
  }
}

async function hold(storage: DatabaseStorage, name: string): Promise<Chosen> {
  return { storage, held: await storage.open(name) }
}

/** Of two, the one that is no copy; of it nothing is left afterwards. */
async function originalOf(
  choice: Choice,
  name: string,
  encryption: OpenOptions['encryption'],
): Promise<DatabaseStorage> {
  const [preferred, fallback] = [choice.preferred.storage, choice.fallback.storage]
  if (!(await holds(preferred, name))) return fallback
  if (!(await holds(fallback, name))) return preferred
  const work = encryption === undefined ? {} : { encryption }
  for (const [original, other] of [
    [fallback, preferred],
    [preferred, fallback],
  ] as const) {
    const database = await open(name, { ...work, storage: original })
    try {
      if (await database.discardCopy(other, work)) return original
    } finally {
      await database.close()
    }
  }
  const where = `${preferred.kind} and ${fallback.kind}`
  throw new PannierError(
    'PANNIER_EXISTS',
    `There are two databases '${name}', in ${where}. The option \`storage\` opens one of them.`,
  )
}

/** Opening and closing leaves an empty shell. */
async function holds(storage: DatabaseStorage, name: string): Promise<boolean> {
  const store = await storage.open(name)
  try {
    return await holdsDatabase(store)
  } finally {
    await store.close()
  }
}
