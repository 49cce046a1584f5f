import { expect, test } from 'vitest'
import { EVERYWHERE } from '../../../tools/test/seeds.ts'
import { CASES, lineOf } from './cases.ts'
import golden from './golden/answers.json' with { type: 'json' }
import { findPocketBase, PocketBase, VERSION } from './pocketbase.ts'

test('the real PocketBase still gives the answers of golden/answers.json', async () => {
  const binary = EVERYWHERE || process.env['POCKETBASE'] !== undefined ? findPocketBase() : undefined
  if (binary === undefined) {
    console.warn(
      `\n!!! PocketBase ${VERSION} WAS NOT ASKED: npm run soak asks it where Go is, or name the program in POCKETBASE.\n`,
    )
    return
  }
  await using peer = await PocketBase.start(binary)
  const answers: (readonly [line: string, answer: string])[] = []
  for (const each of CASES) answers.push([lineOf(each), await peer.answer(each)])
  expect(golden.pocketbase).toBe(VERSION)
  expect(answers).toEqual(golden.answers)
}, 1_200_000)
