/**
 * The floor: the least cost of storing and reading the same JSON, as a few large records. It is not a database: it
 * finds nothing without reading everything. The cost above the floor is the price of being a database.
 */
import type { Contender } from './contender.ts'
import type { Person } from '../documents.ts'

/** The place of the records. */
export interface RecordStore {
  open(place: string): Promise<void>
  close(): void
  write(records: readonly Uint8Array[]): Promise<void>
  readAll(): Promise<readonly Uint8Array[]>
  clear(): Promise<void>
  destroy(place: string): Promise<void>
}

/** The bytes of a record, below 64 KiB: larger ones are much slower in Chromium where they don't compress. */
const RECORD_BYTES = 60 * 1024

export class FloorContender implements Contender {
  readonly #records: RecordStore

  constructor(records: RecordStore) {
    this.#records = records
  }

  open(place: string): Promise<void> {
    return this.#records.open(place)
  }

  async close(): Promise<void> {
    this.#records.close()
  }

  insertMany(people: readonly Person[]): Promise<void> {
    const encoder = new TextEncoder()
    const records: Uint8Array[] = []
    let texts: string[] = []
    let length = 0
    const end = (): void => {
      if (texts.length > 0) records.push(encoder.encode(`[${texts.join(',')}]`))
      texts = []
      length = 0
    }
    for (const person of people) {
      const text = JSON.stringify(person)
      if (length + text.length > RECORD_BYTES) end()
      texts.push(text)
      length += text.length
    }
    end()
    return this.#records.write(records)
  }

  async findByCountry(country: string): Promise<readonly Person[]> {
    const decoder = new TextDecoder()
    const found: Person[] = []
    for (const record of await this.#records.readAll()) {
      const people = JSON.parse(decoder.decode(record)) as Person[]
      for (const person of people) if (person.country === country) found.push(person)
    }
    return found
  }

  dropStore(): Promise<void> {
    return this.#records.clear()
  }

  destroy(place: string): Promise<void> {
    return this.#records.destroy(place)
  }

  readonly insert: () => never = missing
  readonly buildIndexes: () => never = missing
  readonly get: () => never = missing
  readonly count: () => never = missing
  readonly countAges: () => never = missing
  readonly findByCity: () => never = missing
  readonly pageById: () => never = missing
  readonly update: () => never = missing
  readonly delete: () => never = missing
  readonly deleteMany: () => never = missing
}

/** Records in memory as text alone: JSON.stringify and JSON.parse. */
export function memoryRecords(): RecordStore {
  let kept: readonly Uint8Array[] = []
  const forget = async (): Promise<void> => {
    kept = []
  }
  return {
    open: forget,
    close: () => undefined,
    async write(records) {
      kept = records
    },
    readAll: async () => kept,
    clear: forget,
    destroy: forget,
  }
}

function missing(): never {
  throw new Error('the floor is no database')
}
