/**
 * Random work on a key-value store beside a dumb model of it: what the model says is right.
 */
import type { Key } from '../src/base/brand.ts'
import type { Reducer } from '../src/btree/reducer.ts'
import { registerReducers } from '../src/btree/reducer.ts'
import { reducerOf, reducerOfId } from '../src/view/reducers.ts'
import { asArray } from '../src/codec/bytes.ts'
import { numberKey } from '../src/codec/key-encoding.ts'
import { decodeViewValue, encodeViewValue } from '../src/codec/view-entry.ts'
import type {
  KeyRange,
  Snapshot,
  TreeKind,
  TreeReader,
  TreeWriter,
  WriteTransaction,
} from '../src/kv/key-value-store.ts'
import { assertEqual, assertTrue } from './check.ts'
import type { Random } from './random.ts'

export interface ModelTree {
  readonly kind: TreeKind
  readonly entries: Map<Key, Uint8Array>
  next: number
}

export type Model = Map<string, ModelTree>

export function copyModel(model: Model): Model {
  return new Map([...model].map(([name, tree]) => [name, { ...tree, entries: new Map(tree.entries) }]))
}

const NAMES = ['a', 'b', 's', 'i', 'r'] as const
const KIND_OF: Readonly<Record<string, TreeKind>> = {
  a: 'ordered',
  b: 'ordered',
  s: 'sequence',
  i: 'inline',
  r: 'ordered',
}
/** The tree that is kept reduced: its values are numbers. */
const REDUCED = 'r'
const SUM = reducerOf('_sum')
registerReducers(reducerOfId)

/** Bytes of all keys and values, by a reducer that no tree is created with. */
const SIZES: Reducer<number> = {
  reduce: (entries) => {
    let bytes = 0
    for (let at = 0; at < entries.count; at++) bytes += entries.key(at).length + entries.value(at)!.length
    return bytes
  },
  combine: (parts) => parts.reduce((sum, part) => sum + part),
}

/** One operation, plain data, so that a transaction that has to run again does the same again. */
export type Step = TreeStep | EntryStep

interface TreeStep {
  readonly kind: 'create' | 'drop'
  readonly tree: string
}

interface EntryStep {
  readonly kind: 'put' | 'delete' | 'insertMany' | 'append' | 'appendMany' | 'removeOldest'
  readonly tree: string
  readonly key: Key
  readonly value: Uint8Array
}

export function randomSteps(random: Random, count: number): Step[] {
  const steps: Step[] = []
  for (let i = 0; i < count; i++) {
    const tree = random.pick(NAMES)
    if (random.chance(0.02)) steps.push({ kind: random.chance(0.7) ? 'create' : 'drop', tree })
    else steps.push({ kind: operationOn(tree, random), tree, key: randomKey(random), value: randomValue(random, tree) })
  }
  return steps
}

function operationOn(tree: string, random: Random): EntryStep['kind'] {
  const isMany = random.chance(0.01)
  if (KIND_OF[tree] === 'sequence') return isMany ? 'appendMany' : random.chance(0.6) ? 'append' : 'removeOldest'
  if (isMany && KIND_OF[tree] !== 'inline') return 'insertMany'
  return random.chance(0.65) ? 'put' : 'delete'
}

function randomKey(random: Random): Key {
  const length = random.chance(0.02) ? random.below(2000) : random.below(6)
  let key = random.pick(['', 'prefix/', 'prefix/longer/'])
  for (let i = 0; i < length; i++)
    key += String.fromCharCode(random.chance(0.8) ? 97 + random.below(4) : random.below(256))
  return key as Key
}

function randomValue(random: Random, tree: string): Uint8Array {
  if (tree === REDUCED)
    return asArray(encodeViewValue(random.chance(0.02) ? [random.below(9), random.below(9)] : random.below(1e6)))
  const sizes =
    tree === 'i' ? [0, 3, 20] : [0, 5, 5, 40, 40, 300, 300, 1500, 3000, random.chance(0.05) ? 150_000 : 9000]
  return new Uint8Array(random.pick(sizes)).fill(random.below(256))
}

/** Makes sure that every tree exists, so that the first steps do something. */
export function createAll(transaction: WriteTransaction, model: Model): void {
  for (const tree of NAMES) runStep(transaction, model, { kind: 'create', tree })
}

export function runStep(transaction: WriteTransaction, model: Model, step: Step): void {
  const known = model.get(step.tree)
  const tree = transaction.tree(step.tree)
  assertEqual(tree === undefined, known === undefined, `tree ${step.tree}`)
  if (step.kind === 'create') {
    if (known !== undefined) return
    transaction.createTree(step.tree, KIND_OF[step.tree]!, step.tree === REDUCED ? SUM.id : undefined)
    model.set(step.tree, { kind: KIND_OF[step.tree]!, entries: new Map(), next: 1 })
  } else if (known === undefined || tree === undefined) {
    return
  } else if (!('key' in step)) {
    transaction.dropTree(step.tree)
    model.delete(step.tree)
  } else {
    change(tree, known, step)
  }
}

function change(tree: TreeWriter, model: ModelTree, step: EntryStep): void {
  const { key, value } = step
  if (step.kind === 'append') {
    assertEqual(tree.append(value), model.next, 'number of an appended entry')
    model.entries.set(numberKey(model.next++), value)
  } else if (step.kind === 'appendMany') {
    const values = Array.from({ length: manyOf(value) }, () => value)
    assertEqual(tree.appendMany(values), model.next, 'number of the first appended entry')
    for (const one of values) model.entries.set(numberKey(model.next++), one)
  } else if (step.kind === 'insertMany') {
    const suffixes = Array.from({ length: manyOf(value) }, (_, at) => String(1000 + at))
    const keys = suffixes.map((suffix) => (key + suffix) as Key).filter((one) => !model.entries.has(one))
    for (const one of keys) model.entries.set(one, value)
    tree.insertMany(
      keys,
      keys.map(() => value),
    )
  } else if (step.kind === 'removeOldest') {
    const victim = entryNear(model, key)
    if (victim === undefined) return
    tree.remove(victim, model.entries.get(victim)!.length)
    model.entries.delete(victim)
  } else if (step.kind === 'put') {
    tree.put(key, value)
    model.entries.set(key, value)
  } else {
    assertEqual(tree.delete(key), model.entries.delete(key), 'whether there was something to delete')
  }
}

function manyOf(value: Uint8Array): number {
  return value.length > 1000 ? 3 : 20 + (value.length % 60)
}

/** Some entry that is there, chosen by a random key among the first hundred. */
function entryNear(model: ModelTree, key: Key): Key | undefined {
  let skip = (key.length * 37 + (key.charCodeAt(key.length - 1) || 0)) % Math.min(100, model.entries.size)
  for (const candidate of model.entries.keys()) if (skip-- === 0) return candidate
  return undefined
}

/** Compares everything. */
export function compareAll(snapshot: Snapshot, model: Model): void {
  assertEqual(snapshot.treeNames(), [...model.keys()].sort(), 'names of trees')
  for (const [name, tree] of model) {
    const reader = snapshot.tree(name)!
    const keys = [...tree.entries.keys()].sort()
    assertEqual(reader.count(), keys.length, `count of ${name}`)
    compareWalk(reader, tree, keys, {}, false)
  }
}

/** Compares some reads of every kind. */
export function compareSome(snapshot: Snapshot, model: Model, random: Random): void {
  for (const [name, tree] of model) {
    const reader = snapshot.tree(name)!
    const keys = [...tree.entries.keys()].sort()
    const range = randomRange(random, keys)
    const inside = keys.filter(
      (key) => (range.gte === undefined || key >= range.gte) && (range.lt === undefined || key < range.lt),
    )
    assertEqual(reader.count(range), inside.length, `count of a range of ${name}`)
    if (tree.kind !== 'sequence') compareReductions(reader, name, tree, inside, range)
    const reverse = random.chance(0.5)
    compareWalk(reader, tree, inside, range, reverse, random.below(inside.length + 2))
    const some = Array.from({ length: 5 }, () =>
      random.chance(0.7) && keys.length > 0 ? random.pick(keys) : randomKey(random),
    )
    assertEqual(
      reader.getMany(some),
      some.map((key) => tree.entries.get(key)),
      `getMany of ${name}`,
    )
    const bytesMax = random.below(60)
    let bytes = 0
    assertEqual(
      reader.getSome(some, bytesMax),
      some
        .map((key) => tree.entries.get(key))
        .filter((value, at) => (bytes += value?.length ?? 0) <= bytesMax || at === 0),
      `getSome of ${name}`,
    )
    for (const key of some) {
      assertEqual(reader.get(key), tree.entries.get(key), `get of ${name}`)
      // Ranks in sequence trees are asked for numbers.
      if (tree.kind !== 'sequence' || key.length === 6) {
        assertEqual(reader.rank(key), keys.filter((other) => other < key).length, `rank in ${name}`)
      }
    }
    const index = random.below(keys.length + 1)
    const expected = keys[index]
    const selected = reader.select(index)
    assertEqual(selected?.key, expected, `select of ${name}`)
    if (expected !== undefined) assertEqual(selected?.value, tree.entries.get(expected), `value selected of ${name}`)
  }
}

function compareReductions(
  reader: TreeReader,
  name: string,
  tree: ModelTree,
  inside: readonly Key[],
  range: KeyRange,
): void {
  const bytes = inside.reduce((sum, key) => sum + key.length + tree.entries.get(key)!.length, 0)
  assertEqual(reader.reduce(range, SIZES) ?? 0, bytes, `bytes in a range of ${name}`)
  if (name !== REDUCED) return
  const total = inside.map((key) => decodeViewValue(tree.entries.get(key)!)).flat() as number[]
  const sum = reader.reduce(range, SUM) ?? 0
  const sums = (Array.isArray(sum) ? sum : [sum]) as number[]
  assertEqual(
    sums.reduce((left, right) => left + right, 0),
    total.reduce((left, right) => left + right, 0),
    `sum of a range of ${name}`,
  )
}

function randomRange(random: Random, keys: readonly Key[]): KeyRange {
  const bound = (): Key | undefined => {
    if (random.chance(0.3)) return undefined
    return keys.length > 0 && random.chance(0.8) ? random.pick(keys) : numberKey(random.below(1000))
  }
  return { gte: bound(), lt: bound() }
}

function compareWalk(
  reader: TreeReader,
  tree: ModelTree,
  keys: readonly Key[],
  range: KeyRange,
  reverse: boolean,
  skip = 0,
): void {
  const expected = (reverse ? [...keys].reverse() : keys).slice(skip)
  const cursor = reader.cursor(range, { reverse, skip })
  for (const key of expected) {
    assertTrue(cursor.next(), 'the walk goes on')
    assertEqual(cursor.key, key, 'key of a walk')
    if (tree.kind === 'sequence') assertEqual(numberKey(cursor.keyNumber), key, 'number of a key')
    assertEqual(cursor.value, tree.entries.get(key)!, 'value of a walk')
  }
  assertTrue(!cursor.next(), 'the walk ends')
}
