/**
 * Goal: the document that gives an account roles is never there without the record, whichever call of the storage fails, and what was
 * acknowledged is there. Method: an admin gives roles, and the record is deleted; calls in turn fail in every way. Then the database is
 * opened again.
 */
import { expect, test } from 'vitest'
import { SYSTEM } from '@pannier/backend'
import { virtualEnvironment } from 'pannier/testing'
import { openOver, strike } from '../../../db/test/strike.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { randomOrder, SimulatedStorage, type Fault } from '../../../db/testing/simulated-page-store.ts'
import { createServer, type PannierServer } from '../../src/index.ts'
import { ITSELF } from '../rest/rest-server.ts'

const clock = virtualEnvironment()
const FAULTS: readonly Fault[] = [
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  { kind: 'power', happens: false },
  { kind: 'power', happens: true },
]
const ID = 'account00000001'
const DOCUMENT = `org.couchdb.user:users:${ID}`

/** What was acknowledged. */
interface Acknowledged {
  roles?: readonly string[]
  isDeleted?: boolean
}

async function serve(storage: SimulatedStorage): Promise<PannierServer> {
  return createServer({ database: await openOver(storage, 'strict'), logger: false, environment: clock })
}

async function stop(server: PannierServer): Promise<void> {
  await server.close()
  await server.database.close()
}

async function filled(storage: SimulatedStorage): Promise<void> {
  const server = await serve(storage)
  const row = { id: ID, email: 'ann@example.com', password: 'no hash', tokenKey: 'k'.repeat(50) }
  await server.backend.imports.write(SYSTEM, 'users', [row])
  await stop(server)
}

async function giveRoles({ gateway }: PannierServer, roles: readonly string[]): Promise<boolean> {
  const users = await gateway.collection(SYSTEM, '_users')
  const { _rev } = (await users.get(DOCUMENT)) ?? {}
  const document = { _id: DOCUMENT, name: `users:${ID}`, type: 'user', roles: [...roles], ...(_rev && { _rev }) }
  const [outcome] = await users.put([document])
  return outcome !== undefined && !('error' in outcome)
}

async function crash(call: number, fault: Fault, seed: number): Promise<number> {
  const { next } = seededRandom(seed)
  const storage = new SimulatedStorage({ random: next, schedule: randomOrder(next) })
  await filled(storage)
  const done: Acknowledged = {}
  const server = await serve(storage)
  const calls = await strike(storage, fault, call, async () => {
    for (const roles of [['a'], ['a', 'b']]) if (await giveRoles(server, roles)) done.roles = roles
    await server.backend.records.delete(ITSELF, 'users', ID)
    done.isDeleted = true
  })
  if (call === 0) expect(done).toEqual({ roles: ['a', 'b'], isDeleted: true })
  // It may not come to an end.
  stop(server).catch(() => {})
  await clock.idle()
  const after = await serve(storage)
  const record = await after.database.collection('$records__pb_users_auth_').get(ID)
  const document = await after.database.collection<{ readonly roles: readonly string[] }>('$_users').get(DOCUMENT)
  if (done.isDeleted === true) expect(record).toBe(undefined)
  if (record === undefined) expect(document).toBe(undefined)
  else expect(document?.roles.length ?? 0).toBeGreaterThanOrEqual(done.roles?.length ?? 0)
  expect((await after.database.check()).problems).toEqual([])
  await stop(after)
  return calls
}

test.each(FAULTS)('calls in turn: %j', { timeout: 120_000 }, async (fault) => {
  const calls = await crash(0, fault, 1)
  for (let call = 1; call <= calls; call++)
    await crash(call, fault, call).catch((error: unknown) => {
      throw new Error(`call ${call} of ${calls}`, { cause: error })
    })
})
