/**
 * Goal: a tree on pages is a sorted map, through any sequence of batches; its branches know its counts; an older version stays
 * what it was.
 * Method: random batches of changes (fast-check, shrinking) beside a sorted array. After each batch the integrity check runs,
 * and every page must belong to the new tree, to an older version, or be freed.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Key, PageId } from '../../src/base/brand.ts'
import { attempt, together } from '../../src/base/miss.ts'
import { applyChanges } from '../../src/btree/apply.ts'
import { checkTree } from '../../src/btree/check.ts'
import type { PageIo } from '../../src/btree/page-packer.ts'
import type { SizeClass } from '../../src/btree/leaf.ts'
import { TreeCursor } from '../../src/btree/cursor.ts'
import { parseNode, type Node, type Tree } from '../../src/btree/node.ts'
import { descendToRank, get, rank } from '../../src/btree/search.ts'
import { numberKey } from '../../src/codec/key-encoding.ts'
import { PageCache } from '../../src/pager/page-cache.ts'
import { times } from '../../../../tools/test/seeds.ts'

/** Node compares thousands of entries a hundred times faster than vitest. */
function isSame(actual: unknown, expected: unknown): void {
  expect(isDeepStrictEqual(actual, expected)).toBe(true)
}

/** Pages in a Map, without a store's transactions. */
class Pages implements PageIo {
  readonly pages = new Map<PageId, Uint8Array>()
  readonly freed = new Set<PageId>()
  readonly cache = new PageCache<Node>({ readPages: (ids) => ids.map((id) => this.pages.get(id)) }, parseNode, () => 0)
  #next = 1

  peek(id: PageId): Node | undefined {
    return parseNode(id, this.pages.get(id)!)
  }

  load(): () => void {
    return () => {}
  }

  allocate(count: number): PageId {
    this.#next += count
    return (this.#next - count) as PageId
  }

  write(id: PageId, bytes: Uint8Array): void {
    expect(this.pages.has(id)).toBe(false)
    this.pages.set(id, bytes)
  }

  writeLate(id: PageId, size: number, build: () => Uint8Array): void {
    const bytes = build()
    expect(bytes.length).toBe(size)
    this.write(id, bytes)
  }

  free(id: PageId): void {
    expect(this.freed.has(id)).toBe(false)
    this.freed.add(id)
  }

  pause(): void {}

  read<T>(read: () => T): T {
    return attempt(read) as T
  }

  async check(tree: Tree): Promise<Set<PageId>> {
    const used = new Set<PageId>()
    const use = (id: PageId): void => {
      expect(used.has(id), `page ${id} is used twice`).toBe(false)
      expect(this.freed.has(id), `page ${id} is used and freed`).toBe(false)
      used.add(id)
    }
    await checkTree(
      tree,
      (id) => parseNode(id, this.pages.get(id)!),
      use,
      (message) => new Error(message),
    )
    return used
  }
}

type Model = Map<Key, Uint8Array>

interface Batch {
  readonly puts: readonly (readonly [Key, number])[]
  readonly removes: readonly number[]
}

async function applyBatch(pages: Pages, tree: Tree, model: Model, batch: Batch, sizeClass: SizeClass): Promise<Tree> {
  const changes = new Map<Key, { change: Uint8Array | number; delta: 1 | 0 | -1 }>()
  const existing = [...model.keys()].sort()
  for (const at of batch.removes) {
    const key = existing[at % Math.max(1, existing.length)]
    if (key !== undefined) changes.set(key, { change: model.get(key)!.length, delta: -1 })
  }
  for (const [key, size] of batch.puts) {
    if (sizeClass === 'sequence' && model.has(key)) continue
    changes.set(key, { change: new Uint8Array(size).fill(size), delta: model.has(key) ? 0 : 1 })
  }
  const keys = [...changes.keys()].sort()
  for (const key of keys) {
    const { change } = changes.get(key)!
    if (typeof change === 'number') model.delete(key)
    else model.set(key, change)
  }
  return applyChanges(
    pages,
    tree,
    { keys, changes: keys.map((key) => changes.get(key)!.change), deltas: keys.map((key) => changes.get(key)!.delta) },
    sizeClass,
  )
}

function compare(pages: Pages, tree: Tree, model: Model, probes: readonly Key[]): void {
  const { cache } = pages
  const keys = [...model.keys()].sort()
  expect(tree?.count ?? 0).toBe(keys.length)
  for (const reverse of [false, true]) {
    const [lower, upper] = [...probes].sort()
    const inside = keys.filter((key) => (lower === undefined || key >= lower) && (upper === undefined || key < upper))
    if (reverse) inside.reverse()
    const cursor = new TreeCursor(cache, tree, lower, upper, reverse)
    const walked: Key[] = []
    while (pages.read(() => cursor.next())) {
      walked.push(cursor.key)
      isSame(
        pages.read(() => cursor.value),
        model.get(cursor.key),
      )
    }
    isSame(walked, inside)
  }
  isSame(
    pages.read(() => together(probes, (key) => get(cache, tree, key))),
    probes.map((key) => model.get(key)),
  )
  for (const key of probes) {
    isSame(
      pages.read(() => get(cache, tree, key)),
      model.get(key),
    )
    expect(pages.read(() => rank(cache, tree, key))).toBe(keys.filter((other) => other < key).length)
  }
  if (tree === undefined) return
  for (const index of [0, keys.length >> 1, keys.length - 1]) {
    const { leaf, before } = pages.read(() => descendToRank(cache, tree, index, () => 0))
    expect(before).toBeLessThanOrEqual(index)
    expect(leaf.key(leaf.count - 1) >= keys[index]!).toBe(true)
  }
}

const textKey = fc
  .tuple(
    fc.constantFrom('', 'shared/', 'shared/prefix/'),
    fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', '\0', '\xff') }),
  )
  .map(([prefix, rest]) => (prefix + rest) as Key)
const size = fc.oneof(
  { weight: 20, arbitrary: fc.nat(60) },
  { weight: 3, arbitrary: fc.nat(2500) },
  { weight: 1, arbitrary: fc.nat(140_000) },
)
const RUNS = times(16)

function batches(key: fc.Arbitrary<Key>): fc.Arbitrary<Batch[]> {
  const manyPuts = fc.array(fc.tuple(key, size), { maxLength: 200, size: 'max' })
  const removes = fc.array(fc.nat(1000), { maxLength: 150, size: 'max' })
  return fc.array(fc.record({ puts: manyPuts, removes }), { maxLength: 12, size: 'max' })
}

async function run(sizeClass: SizeClass, work: readonly Batch[], probes: readonly Key[]): Promise<void> {
  const pages = new Pages()
  const model: Model = new Map()
  let tree: Tree
  let next = 1
  let older: { readonly tree: Tree; readonly model: Model } | undefined
  for (const [at, batch] of work.entries()) {
    if (at === work.length >> 1) older = { tree, model: new Map(model) }
    // A sequence tree only grows at its end.
    const numbered = batch.puts.map(([, bytes]) => [numberKey(next++), bytes] as const)
    const step = sizeClass === 'sequence' ? { ...batch, puts: numbered } : batch
    tree = await applyBatch(pages, tree, model, step, sizeClass)
    const used = await pages.check(tree)
    expect(
      [...pages.pages.keys()].filter((id) => !used.has(id) && !pages.freed.has(id)),
      'lost pages',
    ).toEqual([])
    compare(pages, tree, model, probes)
  }
  if (older !== undefined) compare(pages, older.tree, older.model, probes)
}

describe('model', () => {
  test('ordered trees', async () => {
    const probes = fc.array(textKey, { minLength: 2, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(batches(textKey), probes, (work, keys) => run('ordered', work, keys)),
      { numRuns: RUNS },
    )
  })

  test('sequence trees', async () => {
    const probes = fc.array(fc.nat(400).map(numberKey), { minLength: 2, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(batches(textKey), probes, (work, keys) => run('sequence', work, keys)),
      { numRuns: RUNS },
    )
  })
})

test('a bulk load fills its pages, and 100,000 entries are three levels at most', async () => {
  const pages = new Pages()
  const model: Model = new Map()
  const puts = Array.from({ length: 100_000 }, (_, i) => [`key-${String(i).padStart(8, '0')}` as Key, 4] as const)
  const tree = await applyBatch(pages, undefined, model, { puts, removes: [] }, 'ordered')
  await pages.check(tree)
  expect(tree!.height).toBeLessThanOrEqual(3)
  expect(tree!.bytes / (pages.pages.size * 16_384)).toBeGreaterThan(0.6)
})
