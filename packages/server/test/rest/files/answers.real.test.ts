import { expect, test } from 'vitest'
import { needPocketBase, PocketBaseServer, VERSION } from '../../../../../tools/test/pocketbase.ts'
import { askAll } from './ask.ts'
import { fileCases } from './cases.ts'
import golden from './golden/files.json' with { type: 'json' }

const TIMEOUT_MS = 120_000

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/files.json',
  { timeout: TIMEOUT_MS },
  async (context) => {
    await using peer = await PocketBaseServer.start(needPocketBase(context))
    expect(golden.pocketbase).toBe(VERSION)
    expect(await askAll(peer.url, peer.token, await fileCases())).toEqual(golden.answers)
  },
)
