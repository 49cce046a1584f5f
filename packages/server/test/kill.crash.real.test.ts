/** kill -9 under load loses nothing that was acknowledged: testing/kill-rounds.ts tells how. EFFORT=50 kills more often. */
import { expect, test } from 'vitest'
import { killRounds } from '../testing/kill-rounds.ts'
import { FIRST_SEED, times } from '../../../tools/test/seeds.ts'

const rounds = times(3)
const seed = FIRST_SEED

test(`${rounds} kills (SEED=${seed})`, { timeout: 120_000 + rounds * 20_000 }, async () => {
  const result = await killRounds(rounds, seed, (round, { acknowledged }) => {
    if (round % 20 === 0) console.log(`${round} kills, ${acknowledged} writes acknowledged`)
  })
  expect(result.problems).toEqual([])
  expect(result.rounds).toBe(rounds)
  if (rounds > 5) console.log(JSON.stringify(result))
})
