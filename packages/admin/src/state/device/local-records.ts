/** Records of this device that filters and orders lead to. What is missing is read, and the question is asked again. */
import type { Client, UntypedCollections } from '@pannier/client'
import type { FoundRecords, RuleRecord, RuleRecords } from '@pannier/rules'
import { collections, findCollection } from '../collections.ts'

type Read = RuleRecord | null | FoundRecords
type Selector = Readonly<Record<string, string | { readonly $all: readonly string[] }>>

const NOT_HERE: FoundRecords = { records: [], isComplete: false }

export class LocalRecords {
  private readonly client: Client<UntypedCollections>
  /** Collections that are here as a whole. */
  private readonly wholes: readonly string[]
  private readonly known = new Map<string, Read>()

  constructor(client: Client<UntypedCollections>, wholes: readonly string[]) {
    this.client = client
    this.wholes = wholes
  }

  /** `isKnown`: all that it has read is here. */
  async ask<T>(question: (records: RuleRecords) => T): Promise<{ readonly answer: T; readonly isKnown: boolean }> {
    for (;;) {
      let isKnown = true
      const missing = new Map<string, () => Promise<Read>>()
      const read = <V>(collection: string, key: string, load: () => Promise<V & Read>): V | undefined => {
        const whole = JSON.stringify([collection, key])
        if (this.known.has(whole)) return this.known.get(whole) as V
        if (this.wholes.includes(nameOf(collection))) missing.set(whole, load)
        else isKnown = false
        return undefined
      }
      const answer = question({
        get: (collection, id) => read(collection, `=${id}`, () => this.one(collection, id)),
        via: (collection, field, id) =>
          read<FoundRecords>(collection, `${field}=${id}`, () => this.via(collection, field, id)) ?? NOT_HERE,
        all: (collection) => read<FoundRecords>(collection, '', () => this.all(collection, {})) ?? NOT_HERE,
      })
      if (missing.size === 0) return { answer, isKnown }
      for (const [key, load] of missing) this.known.set(key, await load())
    }
  }

  private async one(collection: string, id: string): Promise<RuleRecord | null> {
    return (await this.client.collection(nameOf(collection)).get(id)) ?? null
  }

  private via(collection: string, field: string, id: string): Promise<FoundRecords> {
    const fields = findCollection(collections.get().list, collection)?.fields
    const { maxSelect = 1 } = fields?.find(({ name }) => name === field) ?? {}
    return this.all(collection, { [field]: maxSelect > 1 ? { $all: [id] } : id })
  }

  private async all(collection: string, selector: Selector): Promise<FoundRecords> {
    const records = await this.client.collection(nameOf(collection)).find(selector).toArray()
    return { records, isComplete: true }
  }
}

/** By its name or its id. */
function nameOf(collection: string): string {
  return findCollection(collections.get().list, collection)?.name ?? collection
}
