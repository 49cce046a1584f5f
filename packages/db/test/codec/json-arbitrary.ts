/** Arbitrary JSON values, with the strings, names and numbers that break things. */
import fc from 'fast-check'

export const nastyString: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom(
        'a',
        'b',
        '\0',
        '\x01',
        '\x02',
        '\x7f',
        '\x80',
        'ÿ',
        'ß',
        '€',
        '\ud800',
        '\udfff',
        '\uffff',
        '😀',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      maxLength: 8,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '__proto__', 'constructor', 'toString', '0', '1', '10', '\0', 'a.b', '\\'),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', '\0', 'é', '€', '😀'), fc.integer({ min: 20, max: 700 }))
      .map(([char, count]) => char.repeat(count)),
  },
)

export const jsonNumber: fc.Arbitrary<number> = fc
  .oneof(
    fc.integer({ min: -300, max: 300 }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc
      .integer({ min: 0, max: 53 })
      .chain((power) => fc.constantFrom(2 ** power - 1, 2 ** power, -(2 ** power), 2 ** power + 1)),
    fc.constantFrom(5e-324, -5e-324, 1.7976931348623157e308, 2 ** 53, 2 ** 53 + 2, 2 ** 64, 0.1, -0.1),
  )
  .map((n) => n + 0)

export const jsonValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(jsonNumber, nastyString, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(jsonNumber, { maxLength: 8 }),
    fc.array(fc.integer({ min: -200, max: 70000 }), { minLength: 3, maxLength: 8 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(nastyString, tie('value')), { maxLength: 6 }).map(toObject),
})).value

export const jsonObject: fc.Arbitrary<Record<string, unknown>> = fc
  .array(fc.tuple(nastyString, jsonValue), { maxLength: 8 })
  .map(toObject)

/** Unlike Object.fromEntries it says so itself: `__proto__` is a name like any other. */
export function toObject(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return object
}
