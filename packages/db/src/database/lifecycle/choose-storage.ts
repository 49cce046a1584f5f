/**
 * The choice among several storages that have a database, or are to have it (`firstOf`). Loaded with the first use.
 *
 * Guarantees: no database is hidden by another one. A database is opened where it is, or an error says why it can't be. If two
 * storages have one, an interrupted move left one of them: the copy is deleted once the original is found sound. All this happens
 * under the location lock, so that handles that open a new database at once meet in one storage, and nobody makes an empty one where a
 * move has just left.
 */
import { isPannierError, PannierError } from '../../base/errors.ts'
import { decodeMeta } from '../../kv/meta-body.ts'
import { holdsDatabase } from '../../kv/restore-snapshot.ts'
import { callUser, type Expected } from '../../base/callback.ts'
import type { DatabaseStorage } from '../../storage/page-store.ts'
import type { ChooseOptions, ChosenStorage, FirstOfOptions, FoundDatabase } from './storage-choice.ts'
import { withLocationLock } from '../coordination/coordinator.ts'
import { systemEnvironment } from './environment.ts'
import { assertSound, commitsIn, isCopyOf, stateIn } from './moved-copy.ts'
import { open } from './open.ts'

type Storages = readonly DatabaseStorage[]

interface Choices extends FirstOfOptions {
  readonly storages: Storages
}

/** @throws PANNIER_UNAVAILABLE, PANNIER_EXISTS, PANNIER_CORRUPT, PANNIER_ABORTED; what the storage throws that has it */
export function chooseStorage(choices: Choices, name: string, how: ChooseOptions): Promise<ChosenStorage> {
  const { storages } = choices
  const location = { name, storages, environment: systemEnvironment(), signal: how.signal }
  return withLocationLock(location, async () => {
    const owners = await ownersIn(storages, name)
    if (owners.length === 0) return firstThatWorks(storages, name)
    const storage = owners.length === 1 ? owners[0]! : await originalOf({ ...choices, storages: owners }, name, how)
    return { storage, held: await storage.open(name) }
  })
}

export function destroyInAll(storages: Storages, name: string): Promise<void> {
  return withLocationLock({ name, storages, environment: systemEnvironment() }, async () => {
    for (const storage of storages) if ((await storage.has(name)) !== false) await storage.destroy(name)
  })
}

/** The storages that have the database. A storage that can't say so is opened: if it fails, it may have it, so no other one is made. */
async function ownersIn(storages: Storages, name: string): Promise<Storages> {
  const has = await Promise.all(storages.map((storage) => storage.has(name)))
  const owners: DatabaseStorage[] = []
  for (const [at, storage] of storages.entries()) {
    const isOwner = has[at] ?? holds(storage, name)
    try {
      if (await isOwner) owners.push(storage)
    } catch (error) {
      if (!has.includes(true) || !isPannierError(error, 'PANNIER_UNAVAILABLE')) throw error
    }
  }
  return owners
}

async function firstThatWorks([storage, ...others]: Storages, name: string): Promise<ChosenStorage> {
  try {
    return { storage: storage!, held: await storage!.open(name) }
  } catch (error) {
    if (others.length === 0 || !isPannierError(error, 'PANNIER_UNAVAILABLE')) throw error
    const chosen = await firstThatWorks(others, name)
    // A mistake in how the page is deployed, not a browser that lacks something: nobody would notice it.
    if (error.details['script'] === 'missing')
      globalThis.console.warn(`Pannier: ${error.message} '${name}' is made in ${chosen.storage.kind} meanwhile.`)
    return chosen
  }
}

/** The original among several; nothing is left of its copy. */
async function originalOf(choices: Choices, name: string, { encryption }: ChooseOptions): Promise<DatabaseStorage> {
  const { storages: owners } = choices
  const full: DatabaseStorage[] = []
  for (const storage of owners) if (await holds(storage, name)) full.push(storage)
  if (full.length < 2) return full[0] ?? owners[0]!
  const states = await Promise.all(full.map((storage) => stateIn(storage, name, encryption)))
  for (const [at, original] of full.entries()) {
    const { meta } = states[at] ?? {}
    const others = full.filter((other) => other !== original)
    if (meta === undefined) continue
    const { databaseId } = decodeMeta(meta)
    if (!others.every((other) => isCopyOf(states[full.indexOf(other)], databaseId))) continue
    const database = await open(name, { storage: original, ...(encryption && { encryption }) })
    try {
      await assertSound(database)
    } finally {
      await database.close()
    }
    for (const copy of others) await copy.destroy(name)
    return original
  }
  return chosenOf(choices, full, name)
}

/** No storage knows which of them the app means: the app says it. */
async function chosenOf({ onSeveral }: Choices, full: Storages, name: string): Promise<DatabaseStorage> {
  const found: FoundDatabase[] = []
  for (const storage of full) found.push({ storage, commits: await commitsIn(storage, name) })
  found.sort((a, b) => b.commits - a.commits)
  if (onSeveral !== undefined) {
    return callUser('firstOf()', 'onSeveral', () => onSeveral(found), oneOf(found)).storage
  }
  const where = found.map(({ storage: { kind }, commits }) => `${kind} (commits: ${commits})`).join(' and ')
  throw new PannierError(
    'PANNIER_EXISTS',
    `There are several databases '${name}': in ${where}. The option \`storage\` of open() opens one of them, and ` +
      '`onSeveral` of firstOf() chooses: docs/guide/storage.md.',
    { details: { found: found.map(({ storage: { kind }, commits }) => ({ storage: kind, commits })) } },
  )
}

function oneOf(found: readonly FoundDatabase[]): Expected<FoundDatabase> {
  return {
    what: 'one of what was found',
    is: (value): value is FoundDatabase => found.includes(value as FoundDatabase),
  }
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
