/** The limiter of logins under many names and addresses. */
import { virtualEnvironment } from 'pannier/testing'
import { expect, test } from 'vitest'
import { LoginLimiter } from '../../src/accounts/login-limiter.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'

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

test('one client has one counter, whatever form its address has; texts that are no address share one', () => {
  for (const forms of [
    ['192.0.2.1', '192.0.2.1:50412', '::ffff:192.0.2.1', '[::ffff:c000:201]:443'],
    ['2001:db8::1', '2001:db8::2', '[2001:db8:0:0:5::1]:50412', '2001:DB8::1%eth0'],
    ['', 'unknown', 'a text of a client', '1.2.3', '_hidden'],
  ]) {
    const limiter = new LoginLimiter(limits, virtualEnvironment())
    expect([forms, forms.map((address) => guesses(limiter, address, 'root', 3))]).toEqual([
      forms,
      [3, 3, 3, 1, 0].slice(0, forms.length),
    ])
  }
})

test('only what was compared and wrong counts', async () => {
  const limiter = new LoginLimiter({ ...limits, sameMax: 2 }, virtualEnvironment())
  const compare = <T>(result: () => T): Promise<T> => limiter.compare('192.0.2.1', 'root', async () => result())
  const fails = (): never => {
    throw new Error('The queue is full.')
  }
  for (let at = 0; at < 5; at++) {
    expect(await compare(() => true)).toBe(true)
    expect(await compare(() => ({}))).toEqual({})
    await expect(compare(fails)).rejects.toThrow('The queue is full.')
  }
  expect([await compare(() => false), await compare(() => undefined)]).toEqual([false, undefined])
  await expect(compare(() => true)).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
})
