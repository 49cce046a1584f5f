import { expect, test } from 'vitest'
import { EVERYWHERE } from '../../../../tools/test/seeds.ts'
import { findPocketBase, NOT_ASKED, PocketBaseServer, VERSION } from '../../../../tools/test/pocketbase.ts'
import { askAll, settled } from './ask.ts'
import golden from './golden/fields.json' with { type: 'json' }

const TIMEOUT_MS = 120_000

const binary = EVERYWHERE || process.env['POCKETBASE'] !== undefined ? findPocketBase() : undefined
if (binary === undefined) console.warn(NOT_ASKED)

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/fields.json',
  { timeout: TIMEOUT_MS },
  async () => {
    if (binary === undefined) return
    await using peer = await PocketBaseServer.start(binary)
    const answers = await askAll(peer)
    expect(golden.pocketbase).toBe(VERSION)
    expect(answers.map(([asked, answer]) => [asked, settled(answer)])).toEqual(
      golden.answers.map(([asked, answer]) => [asked, settled(answer)]),
    )
  },
)
