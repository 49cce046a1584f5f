import { expect, test } from 'vitest'
import { seedsOf } from '../../../../tools/test/seeds.ts'
import { logIn, needPocketBase, PASSWORD, PocketBaseServer, SUPERUSER } from '../../../../tools/test/pocketbase.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { randomApp } from './differential/random-app.ts'
import { randomRequest } from './differential/random-request.ts'
import { comparable, World } from './differential/world.ts'
import { startRest } from './rest-server.ts'

/** Three seeds are the 300 requests of `npm test`. SEEDS=200 makes 20,000 of them. */
const REQUESTS = 100
const TIMEOUT_MS = 3_600_000
const SHOWN = 5
/** docs/internals/backend-reads.md says why: the order would say what is hidden. */
const DEPARTURE = 'Only superusers can sort or group by e-mail addresses'

test(
  'random requests to a random application are answered as by the real PocketBase, if it is asked',
  { timeout: TIMEOUT_MS },
  async (context) => {
    await using peer = await PocketBaseServer.start(needPocketBase(context))
    const ours = await startRest()
    try {
      const token = await logIn(peer.url, '_superusers', SUPERUSER, PASSWORD)
      const wrong: unknown[] = []
      for (const seed of seedsOf('diff')) {
        const random = seededRandom(seed)
        const app = randomApp(random)
        const real = await World.load(peer.url, token, app)
        const said = await World.load(ours.url, ours.token, app)
        expect([seed, said.refused]).toEqual([seed, real.refused])
        for (let count = 0; count < REQUESTS; count++) {
          const request = randomRequest(random)
          const [expected, answer] = [comparable(await real.ask(request)), comparable(await said.ask(request))]
          if (answer === expected || answer.includes(DEPARTURE)) continue
          wrong.push({ seed, count, request, expected, answer })
          // What follows may differ because of it.
          break
        }
        if (wrong.length === SHOWN) break
      }
      expect(wrong).toEqual([])
    } finally {
      await ours.close()
    }
  },
)
