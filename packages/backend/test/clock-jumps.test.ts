/**
 * Goal: a clock that was wrong for a minute locks nothing for years, and lets nothing be forgotten that is needed. Method: each part that
 * compares times works in the wrong minute, a year ahead or a day back, and then in right time.
 */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Challenges } from '../src/accounts/challenges.ts'
import { newestFirst } from '../src/backups/backup-folder.ts'
import { RowBudgets } from '../src/events/row-budgets.ts'
import { aloneIn } from '../src/fleet/fleet.ts'
import { Windows } from '../src/fleet/windows.ts'
import { ageMs, isClockTrusted } from '../src/gateway/seen-clock.ts'
import { GUEST, SYSTEM, type Actor } from '../src/index.ts'
import type { AuthDefinition } from '../src/definitions/definition.ts'
import { LOG_COLLECTION } from '../src/logs/log-definition.ts'
import { Logs } from '../src/logs/logs.ts'
import { Schedules } from '../src/schedules/schedules.ts'
import { openTestBackend, passwords, type TestBackend } from './test-backend.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const JUMPS = { 'a year ahead': 365 * DAY, 'a century ahead': 36_500 * DAY, 'a day back': -DAY }

/** Works while the clock is wrong, and puts it right. */
async function wrongly(environment: VirtualEnvironment, ms: number, work: () => unknown): Promise<void> {
  environment.jump(ms)
  await work()
  environment.jump(-ms)
}

describe.each(Object.entries(JUMPS))('a clock that was %s', (_, ms) => {
  let environment: VirtualEnvironment
  beforeEach(() => {
    environment = virtualEnvironment({ startMs: Date.UTC(2026, 10, 22, 12) })
  })

  test('locks no window of a limit', async () => {
    const windows = new Windows(environment, 'tests')
    await wrongly(environment, ms, () => {
      for (let n = 0; n < 5; n++) windows.count('ann', 3, 60)
    })
    expect(windows.take('ann', 3, 60)).toBe(false)
    await environment.advance(60_000)
    expect(windows.take('ann', 3, 60)).toBe(true)
  })

  test('takes no more of a budget of realtime than was spent', async () => {
    const backend = await openTestBackend()
    const budgets = new RowBudgets(() => environment.now())
    await wrongly(environment, ms, () => budgets.spend('ann', 600_000))
    await environment.advance(2000)
    expect(budgets.secondsUntilFree('ann')).toBe(0)
    await backend.close()
  })

  test('keeps no job from its times', async () => {
    const schedules = new Schedules({ environment, logs: { write: () => {} }, fleet: aloneIn(environment) })
    let runs = 0
    schedules.add('job', '30 * * * *', () => void runs++)
    await wrongly(environment, ms, () => environment.advance(HOUR))
    runs = 0
    await environment.advance(3 * HOUR)
    expect(runs).toBeGreaterThanOrEqual(2)
    // What was due while the clock stood back is made up for at once.
    expect(runs).toBeLessThanOrEqual(4)
    await schedules.close()
  })

  test('leaves no challenge open', async () => {
    const challenges = new Challenges(environment, aloneIn(environment))
    const text = async (): Promise<string> => Buffer.from(await challenges.make('x')).toString('base64url')
    let made = ''
    await wrongly(environment, ms, async () => (made = await text()))
    expect(await challenges.isOpen(made, 'x')).toBe(false)
    const now = await text()
    expect(await challenges.isOpen(now, 'x')).toBe(true)
  })

  test('gives up no backup for an older one', () => {
    const now = environment.wallClock()
    const info = (key: string, modifiedMs: number) => ({ key, modifiedMs, size: 1 })
    const keys = (...made: readonly (readonly [string, number])[]): string[] =>
      newestFirst(
        made.map(([key, at]) => info(key, at)),
        'new',
        now,
      ).map(({ key }) => key)
    expect(keys(['new', now], ['yesterday', now - DAY], ['wrong', now + ms])[0]).toBe('new')
    // The clock is a day back now: what was made before lies ahead.
    expect(keys(['new', now], ['last', now - HOUR], ['right', now + DAY])).toEqual(['new', 'last', 'right'])
    if (ms > 0) expect(keys(['wrong', now + ms], ['new', now], ['old', now - DAY])).toEqual(['new', 'old', 'wrong'])
  })

  test('makes nothing young or new', () => {
    const now = environment.wallClock()
    expect(ageMs(now, now + 365 * DAY)).toBe(Infinity)
    expect(ageMs(now, now + 60_000)).toBe(-60_000)
    expect(ageMs(now, now - DAY)).toBe(DAY)
  })
})

describe.each(Object.entries(JUMPS))('with a clock that was %s, a backend', (_, ms) => {
  let world: TestBackend
  let environment: VirtualEnvironment
  beforeEach(async () => {
    world = await openTestBackend()
    environment = world.environment
    const { definitions } = world.backend
    await definitions.update(SYSTEM, 'users', { otp: { enabled: true, duration: 180, length: 8 } })
    const hash = await passwords.hash('the password')
    await definitions
      .records(definitions.get('users'))
      .insert({ _id: 'ann', email: 'ann@example.com', password: hash, tokenKey: 'a key of ann' })
    // The jobs of an hour note the time.
    await environment.advance(7 * HOUR)
  })
  afterEach(() => world.close())

  const actor: Actor = {
    principal: { ...GUEST, address: '10.0.0.1' },
    request: { context: 'default', method: 'POST', query: {}, headers: {} },
  }
  const logIn = async (): Promise<string> => {
    const input = { identity: 'ann@example.com', password: 'the password' }
    return ((await world.backend.accounts.authWithPassword(actor, 'users', input)) as { token: string }).token
  }

  test('forgets no end of a session, and takes up none again', async () => {
    const { accounts } = world.backend
    const token = await logIn()
    const me = (await accounts.principalOf(token))!
    await accounts.endSession({ ...actor, principal: me }, 'users', 'ann', me.session!)
    await wrongly(environment, ms, () => environment.advance(2 * HOUR))
    expect(await accounts.principalOf(token)).toBe(undefined)
    const other = await logIn()
    expect(await accounts.principalOf(other)).toBeDefined()
  })

  test('has all logs of before', async () => {
    const logs = new Logs({ ...world, settings: world.backend.settings, print: () => {} })
    logs.write({ message: 'of before' })
    await logs.flush()
    await wrongly(environment, ms, async () => {
      await logs.removeOld()
      await environment.advance(HOUR / 2)
      await logs.removeOld()
    })
    const documents = world.database.collection<{ message: string }>(LOG_COLLECTION)
    expect(await documents.find({ message: 'of before' }).count()).toBe(1)
  })

  test('gives one-time passwords, and takes none from then', async () => {
    const { accounts, definitions } = world.backend
    const definition = definitions.get('users') as AuthDefinition
    const record = (await definitions.records(definition).get('ann'))!
    const make = async (): Promise<{ otpId: string; password: string }> => {
      const { otpId, password } = await accounts.oneTimePasswords.make({ definition, record })
      return { otpId, password }
    }
    let wrong = { otpId: '', password: '' }
    await wrongly(environment, ms, async () => {
      for (let n = 0; n < 11; n++) wrong = await make()
    })
    if (ms > 0) await expect(accounts.authWithOtp(actor, 'users', wrong)).rejects.toMatchObject({ code: 'INVALID' })
    // The request sends no mail to an account with many that are open.
    const stored = definitions.records(definitions.get('_otps'))
    const before = await stored.find().count()
    await accounts.oneTimePasswords.request(definition, { email: 'ann@example.com' })
    expect(await stored.find().count()).toBe(before + 1)
    expect(await accounts.authWithOtp(actor, 'users', await make())).toMatchObject({ token: expect.any(String) })
  })
})

describe('a clock is trusted', () => {
  let database: Database
  beforeEach(async () => {
    database = await open('clock', { storage: memory() })
  })
  afterEach(() => database.close())

  test('until it jumps, and again a week after it was put right', async () => {
    let now = Date.UTC(2026, 10, 22)
    const trusted = (): Promise<boolean> => isClockTrusted(database, now)
    expect(await trusted()).toBe(true)
    now += HOUR
    expect(await trusted()).toBe(true)
    now += 365 * DAY
    expect(await trusted()).toBe(false)
    now -= 365 * DAY
    expect(await trusted()).toBe(false)
    for (let day = 0; day < 7; day++) {
      now += DAY
      expect(await trusted()).toBe(day === 6)
    }
  })
})
