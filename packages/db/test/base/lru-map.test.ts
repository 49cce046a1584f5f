/** Goal: a cache keeps what was used last, never weighs more than it may, and reports each entry that leaves once. */
import { describe, expect, test } from 'vitest'
import { LruMap } from '../../src/base/lru-map.ts'

describe('a cache of three entries', () => {
  test('loses the entry that was used longest ago', () => {
    const kept = new LruMap<string, number>(3)
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) kept.set(key, value)
    expect(kept.get('a')).toBe(1)
    kept.set('d', 4)
    expect([...kept]).toEqual([
      ['c', 3],
      ['a', 1],
      ['d', 4],
    ])
    expect(kept.get('b')).toBeUndefined()
  })

  test('reports a replaced, an evicted, a deleted and a cleared entry once each', () => {
    const left: string[] = []
    const kept = new LruMap<string, number>(3, (value, key) => left.push(`${key}${value}`))
    kept.set('a', 1)
    kept.set('a', 2)
    for (const [key, value] of Object.entries({ b: 3, c: 4, d: 5 })) kept.set(key, value)
    kept.delete('c')
    kept.delete('c')
    kept.clear()
    expect(left).toEqual(['a1', 'a2', 'c4', 'b3', 'd5'])
    expect([...kept]).toEqual([])
  })

  test('has room again after an entry was deleted or replaced', () => {
    const kept = new LruMap<number, number>(3)
    for (let round = 0; round < 10; round++) {
      kept.set(1, round)
      kept.set(2, round)
      kept.delete(2)
    }
    kept.set(3, 0)
    kept.set(4, 0)
    expect([...kept].map(([key]) => key)).toEqual([1, 3, 4])
  })
})

test('a heavy entry stays alone, until the next one comes', () => {
  const kept = new LruMap<string, string>(10)
  kept.set('light', 'x', 4)
  kept.set('heavy', 'y', 100)
  expect([...kept]).toEqual([['heavy', 'y']])
  kept.set('light', 'x', 4)
  expect([...kept]).toEqual([['light', 'x']])
})
