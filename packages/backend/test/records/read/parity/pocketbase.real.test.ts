/**
 * Goal: lists are those of PocketBase in applications that nobody has thought of. Method: a seed makes collections, records,
 * rules and requests; the real one is asked too.
 */
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { needPocketBase } from '../../../../../../tools/test/pocketbase.ts'
import { seedsOf } from '../../../../../../tools/test/seeds.ts'
import { seededRandom } from '../../../../../db/testing/random.ts'
import { PocketBase } from '../../../../../rules/test/pocketbase.ts'
import { peerWorldOf, randomApp, randomRequest } from '../random-app.ts'
import { makeWorld } from '../read-world.ts'
import { answer, canonical } from './answer.ts'

const REQUESTS = 500
/** PocketBase's, with one query. */
const PATIENCE_MS = 29_000
const LOG_MS = 4_000
const TIMEOUT_MS = 1_200_000

/** SQLite joins 64 tables, and PocketBase joins some twice. Its log is written every few seconds. */
async function isTooWide(peer: PocketBase): Promise<boolean> {
  await setTimeout(LOG_MS)
  const query = new URLSearchParams({ filter: 'data.status=400', sort: '-created', perPage: '1' })
  const { body } = await peer.get(`/api/logs?${query.toString()}`, 'super')
  return JSON.stringify(body).includes('at most 64 tables in a join')
}

test(
  'random lists have the answers of the real PocketBase, if it is asked',
  { timeout: TIMEOUT_MS },
  async (context) => {
    const binary = needPocketBase(context)
    for (const seed of seedsOf('diff')) {
      const random = seededRandom(seed)
      const app = randomApp(random, 8)
      await using peer = await PocketBase.start(binary, peerWorldOf(app))
      await using world = await makeWorld(app.definitions, app.records)
      for (let i = 0; i < REQUESTS; i++) {
        const request = randomRequest(random, app)
        const started = performance.now()
        const { status, body } = await peer.get(`/api/collections/${request.path}`, request.as)
        const [ourStatus, ours] = await answer(world, app.records, request)
        const isSlow = performance.now() - started > PATIENCE_MS
        if (status === 400 && ourStatus === 200 && (isSlow || (await isTooWide(peer)))) continue
        expect([seed, request, ourStatus, ours]).toEqual([seed, request, status, canonical(body)])
      }
    }
  },
)
