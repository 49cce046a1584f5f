/** Goal: a token is what its key has signed, in one spelling. Method: jose as another implementation, and texts that a forger would try. */
import fc from 'fast-check'
import { jwtVerify, SignJWT } from 'jose'
import type { Database } from 'pannier'
import type { VirtualEnvironment } from 'pannier/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Backend } from '../../src/index.ts'
import type { JsonObject } from '../../src/internal.ts'
import type { AuthDefinition } from '../../src/definitions/definition.ts'
import { holderOf, newToken } from '../../src/accounts/tokens.ts'
import { openTestBackend } from '../test-backend.ts'

let database: Database
let backend: Backend
let environment: VirtualEnvironment
let users: AuthDefinition
let record: JsonObject

beforeEach(async () => {
  ;({ environment, database, backend } = await openTestBackend())
  users = backend.definitions.get('users') as AuthDefinition
  const records = backend.definitions.records(users)
  await records.insert({ _id: 'ann', email: 'ann@example.com', password: '', tokenKey: 'key of ann' })
  record = (await records.get('ann'))!
})

afterEach(async () => {
  await backend.close()
  await database.close()
})

const nowMs = (): number => environment.wallClock()
const made = (): string => newToken('auth', { definition: users, record }, { nowMs: nowMs() })
const key = (): Uint8Array => Buffer.from(`key of ann${users.authToken.secret}`)

async function isTaken(token: string): Promise<boolean> {
  return (await holderOf(backend.definitions, 'auth', token, nowMs())) !== undefined
}

function signedByJose(header: { alg: string; [name: string]: unknown }, claims: object = {}): Promise<string> {
  const exp = Math.floor(nowMs() / 1000) + 60
  const payload = { type: 'auth', id: 'ann', collectionId: users.id, exp, ...claims }
  return new SignJWT(payload).setProtectedHeader(header).sign(key())
}

test('jose verifies our tokens, and we take those that it makes', async () => {
  const { payload } = await jwtVerify(made(), key(), { algorithms: ['HS256'], currentDate: new Date(nowMs()) })
  expect(payload).toMatchObject({ type: 'auth', id: 'ann', collectionId: users.id })
  expect(await isTaken(made())).toBe(true)
  expect(await isTaken(await signedByJose({ alg: 'HS256', typ: 'JWT' }))).toBe(true)
})

test('another header is refused, though the key has signed it', async () => {
  for (const header of [{ alg: 'HS512', typ: 'JWT' }, { alg: 'HS256' }, { typ: 'JWT', alg: 'HS256' }])
    expect(await isTaken(await signedByJose(header))).toBe(false)
  const [, payload] = made().split('.')
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  for (const forged of [`${none}.${payload}.`, `${none}.${payload}`, `.${payload}.`])
    expect(await isTaken(forged)).toBe(false)
})

test('a token is over at the second of its end, and needs one', async () => {
  const second = Math.floor(nowMs() / 1000)
  for (const [exp, taken] of [
    [second + 1, true],
    [second, false],
    [-1, false],
    ['9'.repeat(12), false],
    [undefined, false],
  ])
    expect(await isTaken(await signedByJose({ alg: 'HS256', typ: 'JWT' }, { exp }))).toBe(taken)
})

test('another spelling of a token is another token', async () => {
  const token = made()
  const [head, payload, signature] = token.split('.') as [string, string, string]
  const padded = `${signature}=`
  const swapped = signature.replaceAll('-', '+').replaceAll('_', '/')
  const others = [
    `${token} `,
    ` ${token}`,
    `${token}.`,
    `${token}.${signature}`,
    `${head}.${payload}.${padded}`,
    `${head}.${payload}`,
  ]
  if (swapped !== signature) others.push(`${head}.${payload}.${swapped}`)
  for (const other of others) expect([other, await isTaken(other)]).toEqual([other, false])
  await fc.assert(
    fc.asyncProperty(
      fc.nat(token.length - 1),
      fc.string({ minLength: 1, maxLength: 2, unit: 'binary' }),
      async (at, text) => {
        const other = token.slice(0, at) + text + token.slice(at + 1)
        expect(await isTaken(other)).toBe(other === token)
      },
    ),
  )
})
