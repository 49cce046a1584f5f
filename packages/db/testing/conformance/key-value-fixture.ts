/** What the suites of key-value stores are given, and the keys and values that they work with. */
import type { Key } from '../../src/base/brand.ts'
import type { KeyRange, KeyValueStore, TreeReader } from '../../src/kv/key-value-store.ts'
import type { SuiteContext } from '../suite.ts'

/** A store that may be able to check what is below its trees. */
export type CheckedKeyValueStore = KeyValueStore & { check?(): Promise<void> }

/** One database. */
export interface KeyValueFixture {
  /** Gives a handle: each time another one on the same database, where `supports.handles`. */
  open(): Promise<CheckedKeyValueStore>
}

export interface KeyValueSuiteContext extends SuiteContext<() => KeyValueFixture> {
  readonly supports: {
    /** Several handles, also one after another: false for what keeps nothing when it is closed. */
    readonly handles: boolean
  }
}

/** Every char of a key is a byte. */
export function someKey(text: string | number): Key {
  return String(text) as Key
}

export function someValue(length: number, fill = 1): Uint8Array {
  return new Uint8Array(length).fill(fill)
}

/** Zero-padded, so that keys sort as numbers. */
export function paddedKey(n: number): Key {
  return String(n).padStart(7, '0') as Key
}

export function keysOf(tree: TreeReader, range?: KeyRange, reverse = false, skip = 0): Key[] {
  const cursor = tree.cursor(range, { reverse, skip })
  const keys: Key[] = []
  while (cursor.next()) keys.push(cursor.key)
  return keys
}

/** The keys of a tree in the newest state; undefined if there is no such tree. */
export async function newestKeys(store: KeyValueStore, name: string): Promise<Key[] | undefined> {
  return await store.read((snapshot) => {
    const tree = snapshot.tree(name)
    return tree && keysOf(tree)
  })
}
