import { expect, test } from 'vitest'
import { answerAll } from './answer.ts'
import { settled } from './ask.ts'
import golden from './golden/fields.json' with { type: 'json' }

/** Where our answer is another on purpose: what is asked, and our answer. */
const DEPARTURES: readonly (readonly [asked: RegExp, ours: RegExp])[] = [
  // Go numbers the parts of its expressions.
  [/"autogeneratePattern":"\^a\$"/, /"Unsupported pattern operator\."/],
]

test('fields answer every case as the real PocketBase does, except where a departure is stated', async () => {
  const ours = await answerAll()
  expect(ours.map(([asked]) => asked)).toEqual(golden.answers.map(([asked]) => asked))
  const wrong = golden.answers.flatMap(([asked, answer], index) => {
    const [said, real] = [settled(ours[index]![1]), settled(answer)]
    const departure = DEPARTURES.find(([departing]) => departing.test(asked as string))
    return (departure?.[1].test(said) ?? said === real) ? [] : [{ asked, real, said }]
  })
  expect(wrong).toEqual([])
})
