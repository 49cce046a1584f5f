import { expect, test, type TestContext } from 'vitest'
import { needPocketBase, VERSION } from '../../../tools/test/pocketbase.ts'
import { seedsOf } from '../../../tools/test/seeds.ts'
import { answer } from './answer.ts'
import { CASES, lineOf, sample } from './cases.ts'
import golden from './golden/answers.json' with { type: 'json' }
import { PocketBase } from './pocketbase.ts'

const TIMEOUT_MS = 1_200_000

async function ask(context: TestContext, body: (peer: PocketBase) => Promise<void>): Promise<void> {
  await using peer = await PocketBase.start(needPocketBase(context))
  await body(peer)
}

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/answers.json',
  { timeout: TIMEOUT_MS },
  (context) =>
    ask(context, async (peer) => {
      const answers: (readonly [line: string, answer: string])[] = []
      for (const each of CASES) answers.push([lineOf(each), await peer.answer(each)])
      expect(golden.pocketbase).toBe(VERSION)
      expect(answers).toEqual(golden.answers)
    }),
)

test('random filters have the answers of the real PocketBase, if it is asked', { timeout: TIMEOUT_MS }, (context) =>
  ask(context, async (peer) => {
    for (const seed of seedsOf('diff'))
      for (const each of sample(seed * 7919))
        for (const as of ['super', 'ann', 'guest']) {
          const asked = { ...each, as }
          expect([seed, lineOf(asked), answer(asked)]).toEqual([seed, lineOf(asked), await peer.answer(asked)])
        }
  }),
)
