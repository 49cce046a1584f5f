/**
 * Deletes thumbs and objects of buckets whose records no longer name them. It follows what is written, through any door. The leader
 * of a fleet does it. What is young it spares: a write of another server may be about to name it.
 */
import type { Database, DatabaseChange } from 'pannier'
import type { Environment } from 'pannier/types'
import { RECORDS_PREFIX, type Definition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { holdsFiles } from '../fields/field-types.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { Bucket } from './bucket.ts'
import { thumbKeys, type KeptFile, type KeptFiles } from './kept-files.ts'
import { attachmentIn, fileNames } from './record-content.ts'
import { ageMs } from '../gateway/seen-clock.ts'

interface SweeperHost {
  readonly database: Database
  readonly fleet: Fleet
  readonly environment: Environment
  readonly definitions: Definitions
  readonly kept: KeptFiles
  readonly bucket: () => Bucket | undefined
}

interface FoundRecord {
  readonly definition: Definition | undefined
  readonly record: JsonObject | undefined
}

/** The time after which a failed deletion is tried again. */
const RETRY_MS = 60_000
/** Where there are several servers, no write takes longer. */
const YOUNG_MS = 3_600_000

export class FileSweeper {
  readonly #host: SweeperHost
  readonly #stopListening: readonly (() => void)[]
  /** Files that unfinished writes will name. */
  readonly #held = new Map<string, number>()
  /** Prefixes of keys: `COLLECTION/RECORD/`, `COLLECTION/` or all. */
  #due = new Set<string>()
  #running: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined
  #isClosed = false

  constructor(host: SweeperHost) {
    this.#host = host
    this.#stopListening = [
      host.database.subscribe((change) => this.#follow(change)),
      host.fleet.subscribeLeads(() => this.sweep('')),
    ]
    // What a crash has left.
    this.sweep('')
  }

  /** Spares the keys until the result is called. */
  hold(keys: readonly string[]): () => void {
    const count = (by: number): void => {
      for (const key of keys) {
        const holders = (this.#held.get(key) ?? 0) + by
        if (holders === 0) this.#held.delete(key)
        else this.#held.set(key, holders)
      }
    }
    count(1)
    return () => count(-1)
  }

  /** Looks at everything under a prefix, soon. */
  sweep(prefix: string): void {
    if (this.#isClosed || !this.#host.fleet.leads) return
    this.#due.add(prefix)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Resolves when all is settled: nothing is left to do. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const stop of this.#stopListening) stop()
    this.#cancelRetry?.()
    this.#due.clear()
    await this.#running
  }

  #follow({ collections }: DatabaseChange): void {
    const { kept, bucket, definitions } = this.#host
    if (!kept.isUsed && bucket() === undefined) return
    for (const [name, { ids, dropped }] of collections) {
      if (!name.startsWith(RECORDS_PREFIX)) continue
      const id = name.slice(RECORDS_PREFIX.length)
      const definition = definitions.find(id)
      if (definition !== undefined && !definition.fields.some(holdsFiles)) continue
      if (dropped || ids === undefined) this.sweep(`${id}/`)
      else for (const record of ids) this.sweep(`${id}/${record}/`)
    }
  }

  async #run(): Promise<void> {
    // The change is seen by all others first.
    await this.#host.environment.yield()
    while (this.#due.size > 0) {
      const due = this.#due
      this.#due = new Set()
      const failed: string[] = []
      for (const prefix of due) if (!this.#isClosed) await this.#sweepUnder(prefix).catch(() => failed.push(prefix))
      if (failed.length > 0 && !this.#isClosed) this.#tryAgain(failed)
    }
  }

  #tryAgain(failed: readonly string[]): void {
    this.#cancelRetry?.()
    this.#cancelRetry = this.#host.environment.after(RETRY_MS, () => failed.forEach((prefix) => this.sweep(prefix)))
  }

  async #sweepUnder(prefix: string): Promise<void> {
    let last: { readonly of: string; readonly found: FoundRecord } | undefined
    for await (const one of this.#host.kept.under(prefix)) {
      if (this.#isClosed) return
      const of = `${one.collection}/${one.record}`
      if (last?.of !== of) last = { of, found: await this.#recordOf(one) }
      if (isNamed(one, last.found) || this.#held.has(one.key)) continue
      this.#spare(one.modifiedMs)
      // A write may have ended since the record was read.
      if (!isNamed(one, await this.#recordOf(one))) await this.#remove(one)
    }
    const [collection = '', record] = prefix.split('/')
    if (record !== undefined) await this.#sweepBucket(prefix, { collection, record })
  }

  /** @throws if it is young: its prefix is looked at again later */
  #spare(modifiedMs: number): void {
    const { fleet, environment } = this.#host
    if (fleet.id !== '' && ageMs(environment.wallClock(), modifiedMs) < YOUNG_MS)
      throw new Error('Another server may be about to name it.')
  }

  /** Deletes what a lost record or collection has in the bucket, also from before the bucket was ours. */
  async #sweepBucket(prefix: string, of: Pick<KeptFile, 'collection' | 'record'>): Promise<void> {
    const bucket = this.#host.bucket()
    if (bucket === undefined || (await this.#isThere(of))) return
    for await (const { key, modifiedMs } of bucket.place.list(prefix)) {
      if (this.#held.has(key)) continue
      this.#spare(modifiedMs)
      if (await this.#isThere(of)) return
      await bucket.place.delete(key)
    }
  }

  async #isThere(of: Pick<KeptFile, 'collection' | 'record'>): Promise<boolean> {
    const { definition, record } = await this.#recordOf(of)
    return (of.record === '' ? definition : record) !== undefined
  }

  async #recordOf({ collection, record: id }: Pick<KeptFile, 'collection' | 'record'>): Promise<FoundRecord> {
    const { definitions } = this.#host
    const found = definitions.find(collection)
    const definition = found?.id === collection && found.type !== 'view' ? found : undefined
    const record = definition === undefined || id === '' ? undefined : await definitions.records(definition).get(id)
    return { definition, record }
  }

  async #remove(one: KeptFile): Promise<void> {
    const { kept, bucket } = this.#host
    if (one.bucket !== undefined) {
      const now = bucket()
      // Its note stays until that bucket is named again.
      if (now?.id !== one.bucket) return
      await now.place.delete(one.key)
      for await (const { key } of now.place.list(thumbKeys(one))) await now.place.delete(key)
    }
    await kept.forget(one.key)
  }
}

/** Whether a record still has the file, and the thumb was made from the same content. */
function isNamed({ name, madeOf }: KeptFile, { definition, record }: FoundRecord): boolean {
  if (definition === undefined || record === undefined || !fileNames(definition, record).includes(name)) return false
  return madeOf === undefined || attachmentIn(record, name)?.digest === madeOf
}
