/** Goal: requests are limited by the first rule that fits, for each address, and superusers never. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from 'pannier/testing'
import { beforeEach, expect, test } from 'vitest'
import { GUEST, SYSTEM } from '../../src/index.ts'
import type { Principal } from '../../src/index.ts'
import { RateLimiter } from '../../src/settings/rate-limiter.ts'
import { Settings } from '../../src/settings/settings.ts'

const ANN: Principal = { ...GUEST, address: '1.1.1.1', account: { collection: 'users', record: {} } }
const BOB: Principal = { ...GUEST, address: '2.2.2.2' }

let settings: Settings
let limiter: RateLimiter
let environment: VirtualEnvironment

beforeEach(async () => {
  environment = virtualEnvironment()
  settings = await Settings.open(await open('limits', { storage: memory(), environment }))
  limiter = new RateLimiter(settings, environment)
})

async function rules(
  ...list: readonly (readonly [label: string, audience: string, maxRequests: number])[]
): Promise<void> {
  const all = list.map(([label, audience, maxRequests]) => ({ label, audience, duration: 10, maxRequests }))
  await settings.update(SYSTEM, { rateLimits: { enabled: true, rules: all, excludedIPs: ['9.0.0.0/8'] } })
  // They are heard of as changes of another handle are, too.
  await environment.idle()
}

/** How many of 10 requests pass. */
function passing(principal: Principal, labels: readonly string[], what = 'x'): number {
  let passed = 0
  for (let asked = 0; asked < 10; asked++) {
    try {
      limiter.check(principal, what, labels)
      passed++
    } catch (error) {
      expect(error).toMatchObject({ code: 'TOO_MANY_REQUESTS' })
    }
  }
  return passed
}

test('each address has its own window, which ends', async () => {
  await rules(['*:auth', '', 3])
  const labels = ['users:auth', '*:auth', 'POST /api/x', '/api/x']
  expect([passing(ANN, labels), passing(ANN, labels), passing(BOB, labels)]).toEqual([3, 0, 3])
  await environment.advance(9999)
  expect(passing(ANN, labels)).toBe(0)
  await environment.advance(1)
  expect(passing(ANN, labels)).toBe(3)
  expect(passing(ANN, labels, 'another route')).toBe(3)
})

test('all addresses of an IPv6 /64 are one, in any form; those of IPv4 in the form of IPv6 are not', async () => {
  await rules(['/a', '', 3])
  const passingAt = (address: string): number => passing({ ...GUEST, address }, ['/a'])
  expect(passingAt('2001:db8:1:2::1')).toBe(3)
  for (const same of ['2001:db8:1:2:3::1', '2001:0DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:0:0:1.2.3.4'])
    expect(passingAt(same), same).toBe(0)
  for (const other of ['2001:db8:1:3::1', '::1', 'fe80::1%eth0', '::ffff:8.8.8.8', '::ffff:8.8.4.4'])
    expect(passingAt(other), other).toBe(3)
})

test('the first label with a rule decides', async () => {
  await rules(['users:auth', '', 2], ['*:auth', '', 3], ['/api/', '', 4], ['POST /api/x', '', 5])
  expect(passing(BOB, ['users:auth', '*:auth', '/api/x'])).toBe(2)
  expect(passing(BOB, ['posts:auth', '*:auth', '/api/x'])).toBe(3)
  expect(passing(BOB, ['POST /api/x', '/api/x'])).toBe(5)
  expect(passing(BOB, ['POST /api/y', '/api/y'])).toBe(4)
  expect(passing(BOB, ['POST /other', '/other'])).toBe(10)
})

test('a rule may be for guests or for accounts alone; superusers and excluded addresses are free', async () => {
  await rules(['/a', '@guest', 1], ['/b', '@auth', 1])
  expect([passing(ANN, ['/a']), passing(BOB, ['/a']), passing(ANN, ['/b']), passing(BOB, ['/b'])]).toEqual([
    10, 1, 1, 10,
  ])
  expect(passing({ ...SYSTEM, address: '1.1.1.1' }, ['/a'])).toBe(10)
  expect(passing({ ...BOB, address: '9.1.1.1' }, ['/a'])).toBe(10)
})

test('nothing is limited unless it is enabled, and a change of the settings begins again', async () => {
  expect(passing(BOB, ['*:auth'])).toBe(10)
  await rules(['/a', '', 1])
  expect(passing(BOB, ['/a'])).toBe(1)
  await rules(['/a', '', 2])
  expect(passing(BOB, ['/a'])).toBe(2)
})

test('while the rules are off, an address has 300 logins a minute; this machine and superusers have any number', async () => {
  const labels = ['users:authWithPassword', '*:authWithPassword', 'users:auth', '*:auth', 'POST /api/x', '/api/x']
  const passingOf600 = (address: string, more: object = {}): number =>
    Array.from({ length: 60 }, () => passing({ ...GUEST, address, ...more }, labels)).reduce((sum, n) => sum + n, 0)
  expect(passingOf600('1.1.1.1')).toBe(300)
  expect(passing(BOB, labels)).toBe(10)
  expect(passing({ ...GUEST, address: '1.1.1.1' }, ['users:list', '*:list', '/api/x'])).toBe(10)
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(passingOf600(address)).toBe(600)
  expect(passingOf600('1.1.1.2', { isAdmin: true })).toBe(600)
  await environment.advance(60_000)
  expect(passingOf600('1.1.1.1')).toBe(300)
})

test('rules that are turned on take the place of the limit of logins', async () => {
  await rules(['*:create', '', 3])
  for (let round = 0; round < 40; round++) expect(passing(BOB, ['*:auth'])).toBe(10)
})

test('a request is not counted exactly where no rule can hold', async () => {
  const tags = ['list', 'view', 'create', 'update', 'delete', 'auth', 'authWithPassword', 'authRefresh', 'requestOTP']
  const paths = ['POST /api/x', '/api/x']
  for (const tag of tags) {
    const rule = limiter.ruleOf(BOB, [`posts:${tag}`, `*:${tag}`, ...paths])
    expect([tag, limiter.isUnlimited(BOB, [tag])]).toEqual([tag, rule === undefined])
  }
  expect(limiter.isUnlimited(BOB, [])).toBe(true)
  await rules(['/a', '', 3])
  expect(limiter.isUnlimited(BOB, ['list'])).toBe(false)
  expect(limiter.isUnlimited({ ...ANN, isAdmin: true }, ['auth'])).toBe(true)
})
