import { expect, test } from 'vitest'
import { needPocketBase, PocketBaseServer, VERSION } from '../../../../tools/test/pocketbase.ts'
import { askAll, settled } from './ask.ts'
import golden from './golden/fields.json' with { type: 'json' }

const TIMEOUT_MS = 120_000

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/fields.json',
  { timeout: TIMEOUT_MS },
  async (context) => {
    await using peer = await PocketBaseServer.start(needPocketBase(context))
    const answers = await askAll(peer)
    expect(golden.pocketbase).toBe(VERSION)
    expect(answers.map(([asked, answer]) => [asked, settled(answer)])).toEqual(
      golden.answers.map(([asked, answer]) => [asked, settled(answer)]),
    )
  },
)
