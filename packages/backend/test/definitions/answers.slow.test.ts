import { expect, test } from 'vitest'
import { findPocketBase, NOT_ASKED } from '../../../../tools/test/pocketbase.ts'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'
import { askAll, comparable } from './ask.ts'
import golden from './golden/answers.json' with { type: 'json' }

const TIMEOUT_MS = 120_000

const binary = EVERYWHERE || process.env['POCKETBASE'] !== undefined ? findPocketBase() : undefined
if (binary === undefined) console.warn(NOT_ASKED)

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/answers.json',
  { timeout: TIMEOUT_MS },
  async () => {
    if (binary === undefined) return
    const answers = await askAll(binary)
    for (const [group, replies] of Object.entries(golden))
      expect(answers[group]!.map(comparable)).toEqual(replies.map(comparable))
  },
)
