import { expect, test } from 'vitest'
import { answer } from './answer.ts'
import { CASES, DEPARTURES, lineOf } from './cases.ts'
import golden from './golden/answers.json' with { type: 'json' }

test('golden/answers.json answers these cases', () => {
  expect(golden.answers.map(([line]) => line)).toEqual(CASES.map(lineOf))
})

test('the evaluator answers every case as the real PocketBase does, except where it refuses on purpose', () => {
  const wrong = CASES.flatMap((each, index) => {
    const [line, real] = golden.answers[index]!
    const said = answer(each)
    const [, expected] = DEPARTURES.find(([departing]) => departing.test(line!)) ?? []
    return (expected?.test(said) ?? said === real) ? [] : [{ line, said, real }]
  })
  expect(wrong).toEqual([])
})

test('what is refused on purpose is answered otherwise by PocketBase', () => {
  for (const [departing, ours] of DEPARTURES) {
    const real = golden.answers.filter(([line]) => departing.test(line!)).map(([, said]) => said!)
    expect(real.length).toBeGreaterThan(0)
    expect(real.some((said) => !ours.test(said))).toBe(true)
  }
})
