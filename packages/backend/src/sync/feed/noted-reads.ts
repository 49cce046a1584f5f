/**
 * Notes what is read of records. What was computed from them stays as it is until a record changes that was read, or that would be
 * read now.
 */
import type { RuleRecords } from '@pannier/rules'
import type { RecordChange } from '../../events/record-changes.ts'
import { holdsRecords } from '../../fields/field-types.ts'

/** With more reads of one account, its collections are noted as a whole. */
const READS_MAX = 500

/** The reads of one computation, as short texts. */
export class Reads {
  #noted = new Set<string>()
  #collections: Set<string> | undefined

  /** Records whose reads are noted. */
  of(records: RuleRecords): RuleRecords {
    return {
      get: (collection, id) => {
        this.#note(collection, one(collection, id))
        return records.get(collection, id)
      },
      via: (collection, field, id) => {
        this.#note(collection, those(collection, field, id))
        return records.via(collection, field, id)
      },
      all: (collection) => {
        this.#note(collection, collection)
        return records.all(collection)
      },
    }
  }

  get noted(): ReadonlySet<string> {
    return this.#collections ?? this.#noted
  }

  #note(collection: string, read: string): void {
    if (this.#collections !== undefined) {
      this.#collections.add(collection)
      return
    }
    this.#noted.add(read)
    if (this.#noted.size > READS_MAX)
      this.#collections = new Set(Array.from(this.#noted, (noted) => noted.split(/[/.]/, 1)[0]!))
  }
}

/** The reads whose answers a change may have changed. */
export function readsOf({ definition: { name, fields }, id, records }: RecordChange): readonly string[] {
  const related = fields
    .filter(holdsRecords)
    .flatMap((field) =>
      records.flatMap((record) => [record[field.name]].flat().map((to) => those(name, field.name, String(to)))),
    )
  return [...new Set([name, one(name, id), ...related])]
}

function one(collection: string, id: string): string {
  return `${collection}/${id}`
}

function those(collection: string, field: string, id: string): string {
  return `${collection}.${field}/${id}`
}
