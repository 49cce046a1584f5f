/**
 * The starts of the server, and how far each index was at each of them. So a token is known to be of this history: one of a state that a
 * restored backup never reached is not, even if nobody says that it was restored.
 */
import type { Collection, Database } from 'pannier'
import { randomSecret, type Chance } from '../../gateway/chance.ts'
import { BOOTS_COLLECTION } from '../../gateway/seen-clock.ts'

interface Boot {
  readonly id: string
  /** When it started, in ms. */
  readonly ms: number
  /** By the name of the index. */
  readonly builtTo: Readonly<Record<string, number>>
}

interface StoredBoots {
  readonly _id: string
  readonly boots: readonly Boot[]
}

const BOOTS_ID = 'boots'
/** Tokens of earlier starts begin again. */
const BOOTS_MAX = 1000

export class Boots {
  readonly #stored: Collection<StoredBoots>
  #boots: readonly Boot[]
  readonly #stopListening: () => void

  private constructor(database: Database, stored: Collection<StoredBoots>, boots: readonly Boot[]) {
    this.#stored = stored
    this.#boots = boots
    // Other servers add theirs.
    this.#stopListening = database.subscribe(({ collections }) => {
      if (collections.has(BOOTS_COLLECTION)) void this.#read().catch(() => {})
    })
  }

  /**
   * Stores a start, before an index is brought up to date. `joins`: other servers are there, so their start is this one's too.
   */
  static async open(database: Database, start: Omit<Boot, 'id'>, chance: Chance, joins: boolean): Promise<Boots> {
    const stored = database.collection<StoredBoots>(BOOTS_COLLECTION)
    const { boots: before = [] } = (await stored.get(BOOTS_ID)) ?? {}
    if (joins && before.length > 0) return new Boots(database, stored, before)
    const boots = [...before.slice(-BOOTS_MAX), { id: randomSecret(chance, 9), ...start }]
    await stored.upsert({ _id: BOOTS_ID, boots })
    return new Boots(database, stored, boots)
  }

  close(): void {
    this.#stopListening()
  }

  async #read(): Promise<void> {
    this.#boots = (await this.#stored.get(BOOTS_ID))?.boots ?? this.#boots
  }

  /** Whether a database has any. */
  static async areIn(database: Database): Promise<boolean> {
    return (await database.collection<StoredBoots>(BOOTS_COLLECTION).get(BOOTS_ID)) !== undefined
  }

  /** The name of this start. */
  get current(): string {
    return this.#boots.at(-1)!.id
  }

  /** Forgets starts that had ended before a time. */
  async forget(beforeMs: number): Promise<void> {
    const first = this.#boots.findLastIndex(({ ms }) => ms <= beforeMs)
    if (first < 1) return
    this.#boots = this.#boots.slice(first)
    await this.#stored.upsert({ _id: BOOTS_ID, boots: this.#boots })
  }

  /** Whether an index was at a sequence, in a start of this history. `builtTo`: where it is now. */
  knows(boot: string, index: string, sequence: number, builtTo: number): boolean {
    const at = this.#boots.findIndex(({ id }) => id === boot)
    if (at < 0) return false
    const next = this.#boots[at + 1]
    return sequence <= (next === undefined ? builtTo : (next.builtTo[index] ?? 0))
  }
}
