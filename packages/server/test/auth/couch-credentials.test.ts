/** What a record of CouchDB's may cost, and that its cost does not tell whose it is. */
import { pbkdf2Sync } from 'node:crypto'
import { virtualEnvironment } from 'pannier/testing'
import { expect, test, vi } from 'vitest'
import { verifyCredentials } from '../../src/auth/couch-credentials.ts'
import { Passwords } from '@pannier/backend/internal'

const KEY = 'ab'.repeat(20)
const pbkdf2 = { password_scheme: 'pbkdf2', derived_key: KEY, salt: 'salt', iterations: 10 }

/** What is derived from the password: by the record, and to take as long as another. */
async function hashesOf(record: Readonly<Record<string, unknown>>): Promise<readonly [ok: boolean, work: string[]]> {
  const passwords = new Passwords(virtualEnvironment())
  const work: string[] = []
  vi.spyOn(passwords, 'queued').mockImplementation(async (derive) => {
    work.push('record')
    return await derive()
  })
  vi.spyOn(passwords, 'waste').mockImplementation(async () => void work.push('waste'))
  const { ok } = await verifyCredentials(record, 'password', passwords)
  return [ok, work]
}

test.each([
  ['a thousand million iterations', { ...pbkdf2, iterations: 1e9 }],
  ['too many iterations for a key of four blocks', { ...pbkdf2, derived_key: 'ab'.repeat(64), iterations: 600_000 }],
  ['no iterations', { ...pbkdf2, iterations: 0 }],
  ['half an iteration', { ...pbkdf2, iterations: 0.5 }],
  ['iterations as text', { ...pbkdf2, iterations: '10' }],
  ['an unknown function', { ...pbkdf2, pbkdf2_prf: '__proto__' }],
  ['no salt', { ...pbkdf2, salt: undefined }],
  ['a key of one byte', { ...pbkdf2, derived_key: 'ab' }],
  ['a key that is no hex', { ...pbkdf2, derived_key: 'z'.repeat(40) }],
  ['simple without a salt', { password_scheme: 'simple', password_sha: KEY }],
  ['simple with a short hash', { password_scheme: 'simple', password_sha: 'ab', salt: 'salt' }],
  ['a scheme that is no text', { ...pbkdf2, password_scheme: ['pbkdf2'] }],
  ['nothing', {}],
])('%s: lets nobody in, and costs what an unknown name costs', async (_name, record) => {
  expect(await hashesOf(record)).toEqual([false, ['waste']])
})

test('a wrong password costs a weak record a hash of ours too, and one that costs as much alone only its own', async () => {
  expect(await hashesOf(pbkdf2)).toEqual([false, ['record', 'waste']])
  const costly = { ...pbkdf2, pbkdf2_prf: 'sha256', iterations: 600_000 }
  expect(await hashesOf(costly)).toEqual([false, ['record']])
})

test('a long salt is taken', async () => {
  const salt = 's'.repeat(60_000)
  const derived = pbkdf2Sync('password', salt, 10, 20, 'sha1').toString('hex')
  expect(await hashesOf({ ...pbkdf2, salt, derived_key: derived })).toEqual([true, ['record']])
})
