/** Sizes of a database and its storage, the tabs that share it, and checks of it. */
import type { Environment } from 'pannier/types'
import { Model } from './model.ts'
import type { Source } from './source.ts'

/** The parts of a browser that say how much is stored, and which tabs there are. */
export interface Platform {
  readonly locks?: Pick<LockManager, 'query' | 'request'>
  readonly storage?: Pick<StorageManager, 'estimate' | 'persisted'>
}

/** A tab or worker of the origin. */
interface TabRow {
  readonly name: string
  readonly isThis: boolean
  /** The parts that it has: it writes, it leads a sync, it waits to. */
  readonly parts: readonly string[]
}

/** A size in the list. */
interface SizeRow {
  readonly name: string
  readonly bytes: number | undefined
  readonly columnBytes: number
}

const PREFIX = 'pannier'

export class HealthModel extends Model {
  sizes: readonly SizeRow[] = []
  usedBytes: number | undefined
  quotaBytes: number | undefined
  isPersisted: boolean | undefined
  tabs: readonly TabRow[] = []
  /** The part of a check that is done; undefined: none runs. */
  checkDone: number | undefined
  /** The result of the last check, or of writing the log to pages. */
  report: string | undefined
  readonly #source: Source
  readonly #environment: Environment
  readonly #platform: Platform
  #checking: AbortController | undefined

  constructor(source: Source, environment: Environment, platform: Platform) {
    super()
    this.#source = source
    this.#environment = environment
    this.#platform = platform
  }

  stop(): void {
    this.#checking?.abort()
  }

  async refresh(): Promise<void> {
    const { locks, storage } = this.#platform
    const [estimate, persisted] = await Promise.all([
      storage?.estimate().catch(() => undefined),
      storage?.persisted().catch(() => undefined),
    ])
    this.usedBytes = estimate?.usage
    this.quotaBytes = estimate?.quota
    this.isPersisted = persisted
    if (locks !== undefined) this.tabs = await tabsOf(locks, this.#environment.randomId()).catch(() => [])
    if (this.#source.ended === undefined)
      await this.attempt(async () => {
        const names = await this.#source.db.collections()
        const infos = await Promise.all(names.map((name) => this.#source.collection(name).info()))
        this.sizes = infos.map(({ name, storedBytes, columnBytes }) => ({ name, bytes: storedBytes, columnBytes }))
      })
    this.changed()
  }

  /** Checks the database: reads everything and compares. */
  async check(): Promise<void> {
    const checking = new AbortController()
    this.#checking = checking
    this.report = undefined
    this.#progress(0)
    const report = await this.attempt(() =>
      this.#source.db.check({ signal: checking.signal, onProgress: (done) => this.#progress(done) }),
    )
    this.checkDone = undefined
    if (report !== undefined)
      this.report = report.ok
        ? 'No problem was found.'
        : report.problems.map(({ code, where, message }) => `${code} ${where}: ${message}`).join('\n')
    this.changed()
  }

  cancel(): void {
    this.#checking?.abort()
  }

  /** Writes what is only in the log to pages. */
  async flush(): Promise<void> {
    const flushed = await this.attempt(() => this.#source.db.flush().then(() => true))
    if (flushed === true) this.report = 'Everything is in pages.'
    await this.refresh()
  }

  #progress(done: number): void {
    this.checkDone = done
    this.changed()
  }
}

/** The tabs that hold locks of the library, or wait for them. A lock of this tab's own says which of them this is. */
async function tabsOf(locks: NonNullable<Platform['locks']>, id: string): Promise<TabRow[]> {
  const own = `${PREFIX}-devtools:${id}`
  const { held = [], pending = [] } = await locks.request(own, () => locks.query())
  const thisTab = held.find(({ name }) => name === own)?.clientId
  const parts = new Map<string, Set<string>>()
  for (const [list, isHeld] of [
    [held, true],
    [pending, false],
  ] as const)
    for (const { name = '', clientId = '' } of list) {
      if (!name.startsWith(PREFIX) || name.startsWith(`${PREFIX}-devtools:`)) continue
      const part = partOf(name, isHeld)
      parts.set(clientId, (parts.get(clientId) ?? new Set()).add(part))
    }
  const rows = [...parts].map(([clientId, all]) => ({ isThis: clientId === thisTab, parts: [...all].sort() }))
  rows.sort((a, b) => Number(b.isThis) - Number(a.isThis))
  return rows.map((row, at) => ({ name: row.isThis ? 'This tab' : `Another tab or worker (${at + 1})`, ...row }))
}

/** A lock, said for people. */
function partOf(lock: string, isHeld: boolean): string {
  const [, of = lock] = /^pannier:(.+)$/.exec(lock) ?? []
  const writer = /^(.+):writer$/.exec(of)
  if (writer !== null) return isHeld ? `may write ${writer[1]}` : `waits to write ${writer[1]}`
  const pin = /^(.+):pin:(\d+)$/.exec(of)
  if (pin !== null) return `reads ${pin[1]}`
  const name = of.replace(/^pannier-client:.*:/, '').replace(/:sync:.*$/, '')
  return isHeld ? `leads the sync of ${name}` : `would lead the sync of ${name}`
}
