import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringOrder } from '../../src/codec/key-order.ts'

test('orders strings that are starts of each other, and many that are equal', () => {
  const strings = Array.from({ length: 2000 }, (_, at) => 'x'.repeat((at * 7) % 50) + (at % 3 === 0 ? '' : 'yz'))
  const order = stringOrder(strings)!
  const expected = strings.map((_, place) => place)
  expected.sort((a, b) => (strings[a]! < strings[b]! ? -1 : strings[a]! > strings[b]! ? 1 : a - b))
  expect([...order]).toEqual(expected)
})

test('orders byte strings as the language does, equal ones as they came', () => {
  const byteString = fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\xff'), maxLength: 9 })
  const prefixed = fc.tuple(fc.constantFrom('', 'shared'), fc.array(byteString, { maxLength: 300, size: 'max' }))
  fc.assert(
    fc.property(prefixed, ([prefix, rest]) => {
      const strings = rest.map((text) => prefix + text)
      const order = stringOrder(strings) ?? strings.map((_, place) => place)
      expect(Array.from(order, (place) => strings[place])).toEqual([...strings].sort())
      for (let i = 1; i < order.length; i++) {
        if (strings[order[i - 1]!] === strings[order[i]!]) expect(order[i - 1]!).toBeLessThan(order[i]!)
      }
    }),
  )
})
