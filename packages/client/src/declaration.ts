/** What an app declares of its collections, and what becomes of those that it declares no more. */
import type { Database, OpenOptions } from 'pannier'
import { splitKey } from './overlay.ts'
import { STATE, Store } from './store.ts'
import type { Values } from './writes.ts'

/** Which records of a collection come to the device, what becomes of conflicts, and what the library is to do with them. */
export interface CollectionDeclaration {
  /**
   * Only records that meet it come, in the language of rules: `"done = false"`. It reads the record's own fields, and no time. If it is
   * another one than before, all records are compared once more, and those that are not wanted any more leave.
   */
  readonly filter?: string
  /**
   * What becomes of an update of a record that others have changed meanwhile. By default it is refused with CONFLICT.
   * - `fields`: it is refused only if others have changed one of its fields.
   * - A function gives the values to write now, or undefined: then it is refused. It may be called again.
   *
   * @example
   * const merge: Merge = ({ base, mine, theirs }) => ({ ...mine, text: mergeTexts(base.text, mine.text, theirs.text) })
   */
  readonly merge?: 'fields' | Merge
  /** As `open` of the library takes them. */
  readonly indexes?: NonNullable<NonNullable<OpenOptions['collections']>[string]>['indexes']
  /** As `open` of the library takes them. */
  readonly relations?: NonNullable<NonNullable<OpenOptions['collections']>[string]>['relations']
}

/** An update that the server refused, as others have changed the record. */
export interface Conflict {
  /** The id of the record. */
  readonly id: string
  /** What the update found in the fields that it changes. */
  readonly base: Values
  /** The values of the update, with their modifiers. */
  readonly mine: Values
  /** The record as the server has it. */
  readonly theirs: Values
}

/** Merges an update into what others have made of the record. */
export type Merge = (conflict: Conflict) => Values | undefined

/** The declarations of an app, by what they are for. */
export interface Declared {
  readonly names: readonly string[]
  readonly filters: Readonly<Record<string, string>>
  readonly merges: Merges
  /** What the library takes. */
  readonly options: Readonly<Record<string, object>>
}

/** By the names of collections. */
export type Merges = Readonly<Record<string, 'fields' | Merge>>

/** Sorts declarations by what they are for. */
export function readDeclarations(declarations: Readonly<Record<string, CollectionDeclaration>>): Declared {
  const filters: Record<string, string> = {}
  const merges: Record<string, 'fields' | Merge> = {}
  const options: Record<string, object> = {}
  for (const [name, { filter, merge, ...others }] of Object.entries(declarations)) {
    if (filter !== undefined) filters[name] = filter
    if (merge !== undefined) merges[name] = merge
    options[name] = others
  }
  return { names: Object.keys(options), filters, merges, options }
}

/**
 * Drops what the app does not sync any more: nothing says when its account may not see it any more. Collections that writes of this device
 * still touch stay until another start.
 */
export async function dropUndeclared(db: Database, names: readonly string[]): Promise<void> {
  const store = new Store(db)
  const states = await db.collection(STATE).find().fields('_id').toArray()
  const queued = await store.queue.find().fields('touches').toArray()
  const touched = new Set(queued.flatMap(({ touches }) => touches.map((key) => splitKey(key)[0])))
  const isGone = (name: string): boolean => !name.startsWith('$') && !names.includes(name) && !touched.has(name)
  for (const name of states.map(({ _id }) => String(_id)).filter(isGone)) {
    await db.dropCollection(name)
    // Last: a start that breaks off before drops it again.
    await db.transaction(async (tx) => {
      const { bases, staged } = new Store(tx)
      for (const kept of [bases, staged])
        for (const { _id } of await kept
          .find({ _id: { $gte: `${name}/`, $lt: `${name}0` } })
          .fields('_id')
          .toArray())
          await kept.purge(String(_id))
      await tx.collection(STATE).purge(name)
    })
  }
}
