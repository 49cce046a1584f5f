/** Remembers, in the database, which views of design documents it has. So those that no design document has any more can be dropped. */
import { isPannierError, type JsonObject } from 'pannier'
import type { Place } from '../pouch.ts'

const RECORD = 'pouchdb-views'
const PREFIX = 'pouchdb:'

/** The library's name of a view. */
export function viewName(design: string, view: string): string {
  return `${PREFIX}${design}/${view}`
}

export class KnownViews {
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  /** The record is read each time: another instance or tab may have dropped the view. */
  async add(name: string): Promise<void> {
    await this.#change((names) => (names.includes(name) ? names : [...names, name]))
  }

  /** Drops the views that are not wanted. */
  async keep(wanted: ReadonlySet<string>): Promise<void> {
    const { docs } = this.#place
    const names = namesIn(await docs.local.get(RECORD))
    for (const name of names) if (!wanted.has(name)) await docs.view(name, { map: () => undefined }).drop()
    await this.#change((now) => now.filter((name) => wanted.has(name)))
  }

  /** Again, if another tab has changed them meanwhile. */
  async #change(change: (names: readonly string[]) => readonly string[]): Promise<void> {
    const { local } = this.#place.docs
    for (;;) {
      const stored = await local.get(RECORD)
      const before = namesIn(stored)
      const names = change(before)
      if (names.length === before.length) return
      try {
        await local.put({ _id: RECORD, ...(stored !== undefined && { _rev: stored._rev }), names })
        return
      } catch (error) {
        if (!isPannierError(error, 'PANNIER_CONFLICT')) throw error
      }
    }
  }
}

function namesIn(record: JsonObject | undefined): readonly string[] {
  return (record?.['names'] ?? []) as readonly string[]
}
