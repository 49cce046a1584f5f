/** Views that remember, for our own packages: the present state has the rows of earlier ones, too. */
import type { Key } from '../../base/brand.ts'
import { numberKey } from '../../codec/key-encoding.ts'
import type { WriteTransaction } from '../../kv/key-value-store.ts'
import { keyByGroup, departedAtOf } from '../../view/remembered-changes.ts'
import { RememberedRows } from '../../view/remembered-rows.ts'
import { departedTrees, readView, saveView } from '../../view/view-catalog.ts'
import { NAMED, type Emit } from '../../view/view-definition.ts'
import type { Collection } from '../collection/collection.ts'
import type { View } from '../collection/view.ts'
import type { Database } from '../database.ts'
import type { GuardReader } from './guard-reader.ts'

/** Rows that one transaction forgets. */
const FORGOTTEN_AT_ONCE = 1000

/** The definition of a view that remembers. */
interface RememberingView<T extends object> {
  /** The name of the view in its collection. */
  readonly name: string
  /** Keys are arrays of at most some hundred characters. All rows of a document have different keys. */
  readonly map: (document: T, emit: Emit<readonly unknown[]>) => void
  /** Another version is another view: nothing is remembered of the one before. */
  readonly version: string
}

/** The view, to be updated. Its own queries are of no use: read it with `rememberedRows`. */
export function rememberingView<T extends object>(
  collection: Collection<T>,
  view: RememberingView<T>,
): View<unknown, unknown, unknown, unknown> {
  const { name, map, version } = view
  return collection.view(name, { map, version, remembers: true } as Parameters<Collection<T>['view']>[1]) as View<
    unknown,
    unknown,
    unknown,
    unknown
  >
}

/** The rows of a view in a state; undefined if it was never updated. */
export function rememberedRows(reader: GuardReader, collection: string, view: string): RememberedRows | undefined {
  return reader.readState(collection, (snapshot, state) => {
    const found = readView(snapshot, state.number, NAMED + view)
    return found?.forgottenTo === undefined ? undefined : new RememberedRows(snapshot, state.number, found)
  })
}

/** Forgets the rows that have left a view up to a sequence. */
export async function forgetDepartedRows(
  database: Database,
  collection: string,
  view: string,
  upTo: number,
): Promise<void> {
  const { store, catalog } = database.context
  const forgetSome = (transaction: WriteTransaction): boolean => {
    const state = catalog.collection(transaction, collection)
    const found = state && readView(transaction, state.number, NAMED + view)
    if (state === undefined || found?.forgottenTo === undefined) return false
    const names = departedTrees(state.number, found.number)
    const [byGroup, byTime] = [transaction.tree(names.byGroup)!, transaction.tree(names.byTime)!]
    const cursor = byTime.cursor({ lt: numberKey(upTo + 1) })
    const keys: Key[] = []
    while (keys.length < FORGOTTEN_AT_ONCE && cursor.next()) keys.push(cursor.key)
    for (const key of keys) {
      byTime.remove(key)
      byGroup.remove(keyByGroup(key))
    }
    const last = keys.length < FORGOTTEN_AT_ONCE ? upTo : departedAtOf(keys.at(-1)!)
    if (last > found.forgottenTo) saveView(transaction, state.number, { ...found, forgottenTo: last })
    return keys.length === FORGOTTEN_AT_ONCE
  }
  while (await store.write(forgetSome));
}
