/** Goal: a clock that was wrong for a minute brings back no session that has ended, and keeps nothing for years. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { describe, expect, test } from 'vitest'
import { ServerState } from '@pannier/backend/internal'
import { BasicCache } from '../src/auth/basic-cache.ts'
import { EndedSessions } from '../src/auth/ended-sessions.ts'
import { RenewedCertificate } from '../src/tls/renewed-certificate.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = Date.UTC(2026, 10, 22, 12)

describe.each([
  ['a year ahead', 365 * DAY],
  ['a day back', -DAY],
])('a clock that was %s', (_, ms) => {
  test('forgets no end of a session', async () => {
    const environment = virtualEnvironment({ startMs: START })
    const database = await open('ended', { storage: memory(), environment })
    const host = { database, environment, state: new ServerState(database) }
    const ended = await EndedSessions.open(host)
    await ended.add('first', environment.wallClock() + HOUR)
    environment.jump(ms)
    await ended.add('in the wrong minute', environment.wallClock() + HOUR)
    environment.jump(-ms)
    const again = await EndedSessions.open(host)
    expect([ended.has('first'), again.has('first')]).toEqual([true, true])
    ended.close()
    again.close()
    await database.close()
  })

  test('remembers a login no longer than it may be', async () => {
    const environment = virtualEnvironment({ startMs: START })
    const cache = new BasicCache(environment)
    let verified = 0
    const login = { keptMs: 60_000 } as never
    const verify = (): Promise<unknown> =>
      cache.verify(
        'ann',
        async () => login,
        async () => {
          verified++
          return login
        },
      )
    environment.jump(ms)
    await verify()
    environment.jump(-ms)
    await verify()
    expect(verified).toBe(1)
    await environment.advance(60_000)
    await verify()
    expect(verified).toBe(2)
  })

  test('does not keep a server from asking for a certificate again', async () => {
    const environment = virtualEnvironment({ startMs: START })
    let asked = 0
    const renewed = await RenewedCertificate.open({
      environment,
      names: ['a.example'],
      folder: { certificate: async () => undefined, keep: async () => {} },
      log: { warn: () => {}, info: () => {}, error: () => {} },
      use: () => {},
      order: async () => {
        asked++
        throw new Error('The time is wrong.')
      },
    } as never)
    environment.jump(ms)
    renewed.start()
    await environment.advance(1000)
    expect(asked).toBe(1)
    environment.jump(-ms)
    await environment.advance(2 * DAY)
    expect(asked).toBeGreaterThan(2)
    await renewed.close()
  })
})
