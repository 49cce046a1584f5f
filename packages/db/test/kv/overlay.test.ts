/** Goal: how an overlay alters the count of a range is exact, and costs what the range holds, not what the overlay holds. */
import { expect, test } from 'vitest'
import type { Key } from '../../src/base/brand.ts'
import {
  EMPTY_OVERLAY,
  OPERATION_INSERT,
  OPERATION_REMOVE,
  type Overlay,
  overlayApply,
  overlayDeltaBefore,
  overlayDeltaBetween,
  overlayInsertMany,
  type OverlayNode,
} from '../../src/kv/overlay.ts'
import { seededRandom } from '../../testing/random.ts'

const keyOf = (n: number): Key => String(n).padStart(6, '0') as Key

/** Numbers that are a multiple of three are in the pages below, and are removed. */
function overlayOf(numbers: readonly number[]): Overlay {
  return numbers.reduce<Overlay>(
    (overlay, n) =>
      overlayApply(overlay, {}, n % 3 === 0 ? OPERATION_REMOVE : OPERATION_INSERT, keyOf(n), n % 3 === 0 ? 0 : ''),
    EMPTY_OVERLAY,
  )
}

test('the delta of a range is that of its changes', () => {
  const random = seededRandom(21)
  for (let round = 0; round < 200; round++) {
    const numbers = [...new Set(Array.from({ length: random.below(400) }, () => random.below(1000)))]
    const isRun = random.chance(0.2)
    const keys = numbers.map(keyOf).sort()
    const overlay = isRun
      ? overlayInsertMany(
          EMPTY_OVERLAY,
          {},
          keys,
          keys.map(() => ''),
        )
      : overlayOf(numbers)
    const expected = (from: number, to: number): number =>
      numbers.filter((n) => n >= from && n < to).reduce((sum, n) => sum + (isRun || n % 3 > 0 ? 1 : -1), 0)
    for (let probe = 0; probe < 20; probe++) {
      const [from, to] = [random.below(1000), random.below(1000)].sort((left, right) => left - right) as [
        number,
        number,
      ]
      expect(overlayDeltaBetween(overlay, keyOf(from), keyOf(to))).toBe(expected(from, to))
      expect(overlayDeltaBefore(overlay, keyOf(to))).toBe(expected(0, to))
    }
  }
})

test('a short range adds up its own changes only', () => {
  const overlay = overlayOf(Array.from({ length: 4000 }, (_, n) => n))
  let added = 0
  const counted = (node: OverlayNode): OverlayNode =>
    'children' in node
      ? { ...node, children: node.children.map(counted) }
      : { ...node, deltas: new Proxy(node.deltas, { get: (deltas, at) => (added++, Reflect.get(deltas, at)) }) }
  const root = counted(overlay.root!)
  const sums: number[] = []
  for (let from = 0; from < 4000; from += 4) {
    added = 0
    overlayDeltaBetween({ root }, keyOf(from), keyOf(from + 4))
    sums.push(added)
  }
  // One in eight ranges lies in two leaves of up to 32 changes: both ends are counted from their starts.
  expect(sums.filter((sum) => sum === 4).length).toBeGreaterThanOrEqual(875)
  expect(Math.max(...sums)).toBeLessThanOrEqual(32)
})
