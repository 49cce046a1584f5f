import { expect, test } from 'vitest'
import { EVERYWHERE } from '../../../../../tools/test/seeds.ts'
import { findPocketBase, NOT_ASKED, PocketBaseServer, VERSION } from '../../../../../tools/test/pocketbase.ts'
import { askAll } from './ask.ts'
import { fileCases } from './cases.ts'
import golden from './golden/files.json' with { type: 'json' }

const TIMEOUT_MS = 120_000

const binary = EVERYWHERE || process.env['POCKETBASE'] !== undefined ? findPocketBase() : undefined
if (binary === undefined) console.warn(NOT_ASKED)

test(
  'the real PocketBase, if it is asked, still gives the answers of golden/files.json',
  { timeout: TIMEOUT_MS },
  async () => {
    if (binary === undefined) return
    await using peer = await PocketBaseServer.start(binary)
    expect(golden.pocketbase).toBe(VERSION)
    expect(await askAll(peer.url, peer.token, await fileCases())).toEqual(golden.answers)
  },
)
