/**
 * Databases in LevelDB, or in any other store with an abstract-level implementation.
 *
 * Handles of one process share a database and take turns. The store must keep other processes out. classic-level locks
 * its folder (PANNIER_LOCKED), and memory-level is private. If several may write, as with browser-level in several tabs
 * or classic-level's `multithreading`, the fences of the page store contract do not hold.
 *
 * A loss of power may lose the last relaxed writes, as in every storage. LevelDB opens only if there is room. After a
 * write has failed on a full disk, reads of uncached data fail too until there is room.
 */
import { callUser, type Expected } from '../../base/callback.ts'
import { Handle, tellDestroyed } from '../handle.ts'
import type { PageStore, SharingScope, DatabaseStorage } from '../page-store.ts'
import { levelError, type Level } from './abstract-level.ts'
import { LevelDatabase } from './level-database.ts'

/**
 * With a function each database has an abstract-level database of its own, which is opened with its first handle and closed with its
 * last. With an abstract-level database all are in that one, below their names; closing it is the caller's business, once they are
 * closed.
 *
 * @example
 * open('shop', { storage: level((name) => new ClassicLevel(name)) })
 * open('shop', { storage: level(new ClassicLevel('folder').sublevel('pannier')) })
 */
export function level(source: Level | ((name: string) => Level)): DatabaseStorage {
  return new LevelStorage(source)
}

/** The databases that this process has open, by the result of `identify`. */
const databases = new Map<string, LevelDatabase>()

const numbers = new WeakMap<object, number>()
let sources = 0

/** An identity that is equal for all sources with the same entries: a sublevel is its root and a prefix. */
function identityOf(source: object): string {
  const { db: root = source, prefix = '' } = source as { readonly db?: object; readonly prefix?: string }
  let number = numbers.get(root)
  if (number === undefined) numbers.set(root, (number = ++sources))
  return `${number}:${prefix}`
}

const A_LEVEL: Expected<Level> = {
  what: 'an abstract-level database',
  is: (value): value is Level => typeof (value as Partial<Level> | null)?.batch === 'function',
}

class LevelStorage implements DatabaseStorage {
  readonly kind: string = 'level'
  readonly scope: SharingScope = 'process'
  private readonly source: Level | ((name: string) => Level)

  constructor(source: Level | ((name: string) => Level)) {
    this.source = source
  }

  identify(name: string): string {
    return `level:${identityOf(this.source)}:${name}`
  }

  /** The storage can't say without opening. */
  async has(_name: string): Promise<undefined> {}

  open(name: string): Promise<PageStore> {
    return this.whenFree(name, async (database) => {
      database.users++
      try {
        await database.open()
      } catch (error) {
        await this.leave(name, database)
        throw error
      }
      return new Handle(database, () => this.leave(name, database))
    })
  }

  destroy(name: string): Promise<void> {
    return this.whenFree(name, async (database) => {
      await this.end(name, database, () => database.deleteAll())
      tellDestroyed(database)
    })
  }

  /** Gives `work` the database that is open, or a new one once the one before is closed. */
  private async whenFree<T>(name: string, work: (database: LevelDatabase) => Promise<T>): Promise<T> {
    const id = this.identify(name)
    let database: LevelDatabase | undefined
    while ((database = databases.get(id))?.ended) await database.ended
    if (!database) databases.set(id, (database = this.make(name)))
    return work(database)
  }

  private make(name: string): LevelDatabase {
    const { source } = this
    if (typeof source !== 'function') {
      return new LevelDatabase({ level: source, owned: false, prefix: JSON.stringify(name), name })
    }
    let level: unknown
    try {
      level = source(name)
    } catch (error) {
      throw levelError(error, name, true)
    }
    return new LevelDatabase({
      level: callUser('level()', 'source', () => level, A_LEVEL),
      owned: true,
      prefix: '',
      name,
    })
  }

  private async leave(name: string, database: LevelDatabase): Promise<void> {
    if (--database.users === 0 && !database.ended) await this.end(name, database)
  }

  private async end(name: string, database: LevelDatabase, work?: () => Promise<void>): Promise<void> {
    try {
      await database.end(work)
    } finally {
      databases.delete(this.identify(name))
    }
  }
}
