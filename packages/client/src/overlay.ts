/** Records as the app sees them: the server's version of a record, then the writes of this device that are not in it, in their order. */
import type { Transaction } from 'pannier'
import { isSame } from 'pannier/internal'
import { contentOf, REV, Store, type Rules } from './store.ts'
import { keyOf, written, type SentWrite, type Values } from './writes.ts'

export class Overlay {
  readonly #store: Store

  constructor(tx: Transaction) {
    this.#store = new Store(tx)
  }

  /** Notes the version of the server, before a write changes what is shown. */
  async keepBase(collection: string, id: string): Promise<void> {
    const { bases } = this.#store
    const key = keyOf(collection, id)
    if ((await bases.get(key)) !== undefined) return
    await bases.upsert({ _id: key, record: await this.#store.baseOf(collection, id) })
  }

  /** Computes again what is shown of records with bases. A base that nothing lies on goes. */
  async compute(keys: Iterable<string>): Promise<void> {
    const { bases } = this.#store
    for (const key of new Set(keys)) {
      const base = await bases.get(key)
      if (base === undefined) continue
      const writes = (await this.#store.touching(key)).flatMap((queued) => queued.writes)
      const own = writes.filter((write) => keyOf(write.collection, write.id) === key)
      const [collection, id] = splitKey(key)
      let record = base.record
      for (const write of own) record = await this.after(record, write)
      await this.show(collection, new Map([[id, record]]))
      if (own.length === 0) await bases.purge(key)
    }
  }

  /** A record after a write; null: no record. A new one has the empty values that the server gives to fields that are not set. */
  async after(record: Values | null, write: SentWrite): Promise<Values | null> {
    if (write.action !== 'create') return written(record, write)
    const rules = await this.#store.state<Rules>('$rules')
    const { fields = [] } = rules?.collections.find(({ name }) => name === write.collection) ?? {}
    const empty = Object.fromEntries(
      fields.flatMap(({ name, empty: value }) => (name === 'id' || value === undefined ? [] : [[name, value]])),
    )
    return written({ ...empty, ...record }, write)
  }

  /** Writes what is shown of records; null: nothing. Those that are equal are not written. */
  async show(collection: string, records: ReadonlyMap<string, Values | null>): Promise<void> {
    const shown = this.#store.records(collection)
    const ids = [...records.keys()]
    const before = await shown.get(ids)
    const changed = ids.flatMap((id, index) => {
      const [now, old] = [records.get(id), before[index]]
      return now && !(old && isSame(contentOf(old), now)) ? [{ ...now, _id: id }] : []
    })
    if (changed.length > 0) await shown.upsert(changed)
    for (const [index, id] of ids.entries())
      if (before[index] !== undefined && records.get(id) === null) await shown.purge(id)
  }
}

/** A record of the server as it is stored. */
export function received({ _rev, ...record }: Values): Values {
  return { ...record, [REV]: _rev }
}

/** The collection and the id. Ids may have any character. */
export function splitKey(key: string): [collection: string, id: string] {
  const at = key.indexOf('/')
  return [key.slice(0, at), key.slice(at + 1)]
}
