/** What a server does in tests of faults: it adds tokens to lists that all servers share, each with a document of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { End, History, Operation } from '../../../tools/test/history.ts'
import { isPannierError, type Collection, type Database } from '../../db/src/index.ts'

export interface Item {
  readonly tokens: readonly string[]
  readonly text?: string
}

/** A list that is longer is left for the next one, so that its document stays small. */
const TOKENS_MAX = 50
const FRESH_EACH = 4

/** Failures that say that nothing was written. */
const REFUSALS: ReadonlySet<string> = new Set([
  'PANNIER_IO_FAILED',
  'PANNIER_RECOVERY_NEEDED',
  'PANNIER_QUOTA_EXCEEDED',
  'PANNIER_WRITE_TIMEOUT',
  'PANNIER_CONFLICT',
])
const AFTER_FAILURE_MS = 20

export class ListServer {
  readonly #db: Database
  readonly #items: Collection<Item>
  readonly #server: string
  readonly #history: History
  #list = 0

  /** `server`: its name in the history. */
  constructor(db: Database, server: string, history: History) {
    this.#db = db
    this.#items = db.collection<Item>('items')
    this.#server = server
    this.#history = history
  }

  /** Reads and writes until `isOver`. Failures end up in the history. */
  async work(isOver: () => boolean): Promise<void> {
    for (let n = 0; !isOver(); n++) {
      await this.write(`${this.#server}-${n}`)
      await this.read(n % FRESH_EACH === 0)
    }
  }

  /** In one commit: the token at the end of the list, and a document, which may be large. 'full': the next write takes another list. */
  async write(token: string, text?: string): Promise<'done' | 'full' | 'failed'> {
    const list = `list${this.#list}`
    const ended = this.#history.begin({ server: this.#server, write: { token, registers: [list, token] } })
    let tokens: readonly string[] = []
    try {
      const isWritten = await this.#db.transaction(async (tx) => {
        const items = tx.collection<Item>('items')
        tokens = (await items.get(list))?.tokens ?? []
        if (tokens.length >= TOKENS_MAX) return false
        tokens = [...tokens, token]
        await items.upsert({ _id: list, tokens })
        await items.insert({ _id: token, tokens: [token], ...(text !== undefined && { text }) })
        return true
      })
      if (isWritten) ended({ outcome: 'done', found: { [list]: tokens, [token]: [token] } })
      else ended({ outcome: 'refused' })
      if (!isWritten) this.#list++
      return isWritten ? 'done' : 'full'
    } catch (error) {
      if (!isPannierError(error)) throw error
      const isRefused = REFUSALS.has(error.code)
      if (!isRefused && error.code !== 'PANNIER_OUTCOME_UNKNOWN') throw error
      ended({ outcome: isRefused ? 'refused' : 'unknown' })
      await sleep(AFTER_FAILURE_MS)
      return 'failed'
    }
  }

  /** A fresh read asks PostgreSQL for what others have written. */
  async read(isFresh: boolean): Promise<void> {
    const list = `list${this.#list}`
    const ended = this.#history.begin({ server: this.#server, isFresh })
    try {
      if (isFresh) await this.#db.refresh()
      ended({ outcome: 'done', found: { [list]: (await this.#items.get(list))?.tokens ?? [] } })
    } catch (error) {
      if (!isPannierError(error) || error.code === 'PANNIER_RESTORED') throw error
      ended({ outcome: 'unknown' })
    }
  }
}

/** What is there at the end. */
export async function endOf(db: Database): Promise<End> {
  const items = db.collection<Item>('items')
  const found = await items.find().toArray()
  const lists = Object.fromEntries(found.map(({ _id, tokens }) => [_id, tokens]))
  return { lists, sequence: { newest: (await items.info()).lastSeq, others: 0 } }
}

/** Acknowledged, and of unknown outcome. */
export function countsOf(operations: readonly Operation[]): { done: number; unknown: number } {
  const writes = operations.filter(({ write }) => write !== undefined)
  const count = (wanted: Operation['outcome']): number => writes.filter(({ outcome }) => outcome === wanted).length
  return { done: count('done'), unknown: count('unknown') }
}
