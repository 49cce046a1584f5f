/**
 * Goal: writes answer as the real PocketBase: statuses, codes, records, one after another. POCKETBASE=http://… asks an empty one
 * again whether the recorded answers still hold.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { askPocketBase } from './ask-pocketbase.ts'
import { account, ADMIN, NOBODY, openWorld, type World } from './world.ts'
import { codesOf, COLLECTIONS, recordAnswer, STEPS, type Answer, type Step } from './write-cases.ts'

const PASSWORD = { password: '1234567890', passwordConfirm: '1234567890' }
const answers = JSON.parse(readFileSync(new URL('write-answers.json', import.meta.url), 'utf8')) as readonly Answer[]

/** The server's adapter gives these; an empty message stands for the text of the status. */
const STATUSES: Readonly<Record<string, readonly [status: number, message: string]>> = {
  INVALID: [400, 'Something went wrong while processing your request.'],
  FORBIDDEN: [403, 'You are not allowed to perform this request.'],
  NOT_FOUND: [404, "The requested resource wasn't found."],
}

let world: World
beforeAll(async () => {
  world = await openWorld(COLLECTIONS)
  await world.writes.create(ADMIN, '_superusers', { email: 'first@example.com', ...PASSWORD })
})
afterAll(() => world.close())

async function actorOf(as: string): Promise<Actor> {
  if (as === 'guest' || as === 'admin') return as === 'admin' ? ADMIN : NOBODY
  return account('pbc_people', (await world.stored('people'))[as]!)
}

async function answerTo({ as, action, collection, id = '', input = {} }: Step): Promise<Answer> {
  const actor = await actorOf(as)
  try {
    if (action === 'create') return recordAnswer(200, await world.writes.create(actor, collection, input))
    if (action === 'update') return recordAnswer(200, await world.writes.update(actor, collection, id, input))
    await world.writes.delete(actor, collection, id)
    return { status: 204 }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [status, message] = STATUSES[error.code]!
    return { status, message: error.message === '' ? message : error.message, codes: codesOf(error.data ?? {}) }
  }
}

// Each step stands on those before it.
test.each(STEPS.map((step, index) => [index, step] as const))(
  'step %i is answered as by PocketBase',
  async (index, step) => {
    expect(await answerTo(step), JSON.stringify(step)).toEqual(answers[index])
  },
)

const { POCKETBASE } = process.env
if (POCKETBASE !== undefined)
  test('PocketBase answers as it did', async () => {
    expect(await askPocketBase(POCKETBASE)).toEqual(answers)
  })
