import { expect, test } from 'vitest'
import { needPocketBase } from '../../../../tools/test/pocketbase.ts'
import { askAll, comparable } from './ask.ts'
import golden from './golden/answers.json' with { type: 'json' }

const TIMEOUT_MS = 120_000

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/answers.json',
  { timeout: TIMEOUT_MS },
  async (context) => {
    const answers = await askAll(needPocketBase(context))
    for (const [group, replies] of Object.entries(golden))
      expect(answers[group]!.map(comparable)).toEqual(replies.map(comparable))
  },
)
