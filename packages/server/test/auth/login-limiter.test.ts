/** The limiter of logins under many names and addresses. */
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { LoginLimiter } from '../../src/auth/login-limiter.ts'
import { ServiceError } from '@pannier/backend'

const limits = { windowMs: 60_000, sameMax: 10, addressMax: 60, nameMax: 300 }

function guesses(limiter: LoginLimiter, address: string, name: string, times: number): number {
  let passed = 0
  for (let at = 0; at < times; at++) {
    try {
      limiter.attempt(address, name)
      passed++
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'TOO_MANY_REQUESTS') throw error
    }
  }
  return passed
}

test('refused logins with other names do not make it forget the guesses at one', () => {
  const limiter = new LoginLimiter(limits, virtualEnvironment())
  expect(guesses(limiter, '192.0.2.1', 'root', 14)).toBe(10)
  for (let at = 0; at < 60_000; at++) guesses(limiter, '192.0.2.1', `random${at}`, 1)
  expect(guesses(limiter, '192.0.2.1', 'root', 10)).toBe(0)
})

test('nor do logins from many addresses, each with a name of its own', () => {
  const limiter = new LoginLimiter(limits, virtualEnvironment())
  expect(guesses(limiter, '192.0.2.1', 'root', 14)).toBe(10)
  for (let at = 0; at < 60_000; at++)
    guesses(limiter, `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, `random${at}`, 1)
  expect(guesses(limiter, '192.0.2.1', 'root', 10)).toBe(0)
})

test('all spellings of a name are one, as an index may ignore case', () => {
  const limiter = new LoginLimiter(limits, virtualEnvironment())
  const spellings = ['carlos', 'Carlos', 'CARLOS', 'cArLoS']
  expect(spellings.map((name) => guesses(limiter, '192.0.2.1', name, 7))).toEqual([7, 3, 0, 0])
})

test('when the window is over it counts from the start, also where it is full', async () => {
  const environment = virtualEnvironment()
  const limiter = new LoginLimiter(limits, environment)
  for (let at = 0; at < 30_000; at++) guesses(limiter, `10.0.${at >> 8}.${at & 255}`, `random${at}`, 1)
  expect(guesses(limiter, '192.0.2.1', 'root', 14)).toBe(10)
  await environment.advance(60_000)
  expect(guesses(limiter, '192.0.2.1', 'root', 14)).toBe(10)
})
