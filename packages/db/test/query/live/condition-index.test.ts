/**
 * Goal: documents lead to exactly the conditions that they meet, whatever was added and removed before; and nothing is left of what
 * was removed. Method: random conditions over few values, so that branches name the same ones, against a test of each.
 */
import { expect, test } from 'vitest'
import { expressionsOf, normalise, type Condition } from '../../../src/query/ast/normalise.ts'
import { parseSelector } from '../../../src/query/ast/parse-selector.ts'
import { ConditionIndex } from '../../../src/query/live/condition-index.ts'
import { documentFields, compileCondition } from '../../../src/query/match.ts'
import { prepareRegexes } from '../../../src/query/regex/check-regex.ts'
import type { StoredDocument } from '../../../src/document/document-reader.ts'
import { randomDocuments, randomSelector, seededChoose, type Choose } from '../../../testing/query-cases.ts'
import { seedsOf } from '../../../../../tools/test/seeds.ts'

const STEPS = 150

interface Asked {
  readonly condition: Condition
}

test.each([
  {
    $or: [
      { a: 1, b: 2 },
      { a: 1, c: 3 },
    ],
  },
  { $or: [{ a: { $in: [1, 2] } }, { a: 2 }] },
  { a: { $in: [1, 1] } },
  { $and: [{ $or: [{ a: 1 }, { a: 1, b: 1 }] }, { c: 1 }] },
])('a condition that names a value twice leaves nothing behind: %j', (selector) => {
  const index = new ConditionIndex<object>()
  const condition = normalise(parseSelector(selector))
  const [one, two] = [{}, {}]
  for (const query of [one, two, one]) index.add(condition, query)
  index.remove(one)
  expect(index.isEmpty).toBe(false)
  for (const query of [two, one]) index.remove(query)
  expect(index.isEmpty).toBe(true)
})

for (const seed of seedsOf('model', 2)) {
  test(`conditions come and go, seed ${seed} (replay: SEED=${seed} SEEDS=1)`, () => comeAndGo(seededChoose(seed)))
}

async function comeAndGo(choose: Choose): Promise<void> {
  const index = new ConditionIndex<Asked>()
  const asked = new Set<Asked>()
  for (let step = 0; step < STEPS; step++) {
    if (choose(3) > 0) {
      const known = choose(4) === 0 ? [...asked][choose(asked.size || 1)] : undefined
      const query = { condition: known?.condition ?? normalise(parseSelector(randomSelector(choose, 2))) }
      await prepareRegexes(expressionsOf(query.condition))
      asked.add(query)
      index.add(query.condition, query)
      if (choose(5) === 0) index.add(query.condition, query)
    } else {
      const query = [...asked][choose(asked.size || 1)]
      if (query !== undefined) remove(query)
    }
    for (const document of randomDocuments(choose, 3) as StoredDocument[]) {
      const met = [...asked].filter(({ condition }) => compileCondition(condition, documentFields)(document))
      const found = index.matching(document).flatMap(({ queries }) => [...queries])
      expect(new Set(found)).toEqual(new Set(met))
      expect(found.length).toBe(met.length)
    }
  }
  for (const query of asked) remove(query)
  expect(index.isEmpty).toBe(true)

  function remove(query: Asked): void {
    asked.delete(query)
    index.remove(query)
  }
}
