/** Goal: no answer tells an address that is hidden, and rules about logins read what the request has sent. */
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/gateway/principal.ts'
import { LiveWorld, PASSWORD } from '../events/live-world.ts'

const id = (letter: string): string => letter.repeat(15)
const request = { context: 'default', method: 'POST', query: {}, headers: {} }

test('a change of an account answers every address alike, to those who do not see it', async () => {
  await using world = await LiveWorld.open()
  const { definitions, records } = world.backend
  await definitions.update(SYSTEM, 'users', { listRule: '', viewRule: '', updateRule: '' })
  const [victim, writer] = [await world.account('users', id('v')), await world.account('users', id('w'))]
  const refusalOf = (by: typeof writer, email: unknown): Promise<unknown> =>
    records.update({ principal: by, request }, 'users', id('v'), { name: 'x', email }).catch((error: unknown) => error)
  const [right, wrong] = [await refusalOf(writer, `${id('v')}@example.com`), await refusalOf(writer, 'no@example.com')]
  expect(right).toMatchObject({ code: 'INVALID', data: { email: { code: 'validation_values_mismatch' } } })
  expect(right).toEqual(wrong)
  // The account itself sees its address.
  expect(await refusalOf(victim, `${id('v')}@example.com`)).toMatchObject({ name: 'x' })
  await world.update('users', id('v'), { emailVisibility: true })
  expect(await refusalOf(writer, `${id('v')}@example.com`)).toMatchObject({ name: 'x' })
})

test('nobody but superusers sorts by addresses, also through relations', async () => {
  await using world = await LiveWorld.open()
  const { definitions, records } = world.backend
  const users = await definitions.update(SYSTEM, 'users', { listRule: '' })
  const owner = { name: 'owner', type: 'relation', collectionId: users.id, maxSelect: 1 }
  await definitions.create(SYSTEM, { name: 'posts', fields: [owner], listRule: '' })
  const person = await world.account('users', id('u'))
  for (const [collection, sort] of [
    ['users', 'email'],
    ['users', '-email,id'],
    ['posts', 'owner.email'],
  ] as const) {
    const asked = records.list({ principal: person, request }, collection, { sort })
    await expect(asked).rejects.toMatchObject({ code: 'INVALID' })
    expect((await records.list({ principal: SYSTEM, request }, collection, { sort })).page).toBe(1)
  }
})

test('authRule and mfa.rule read the body of the request', async () => {
  await using world = await LiveWorld.open()
  const { accounts, definitions } = world.backend
  await world.account('users', id('u'))
  const identity = `${id('u')}@example.com`
  const logIn = (more: object = {}): Promise<object> =>
    accounts.authWithPassword({ principal: { ...SYSTEM, isAdmin: false }, request }, 'users', {
      identity,
      password: PASSWORD,
      ...more,
    })
  await definitions.update(SYSTEM, 'users', { authRule: '@request.body.captcha = "solved"' })
  await expect(logIn()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await logIn({ captcha: 'solved' })).toHaveProperty('token')
  await definitions.update(SYSTEM, 'users', { authRule: '@request.body.captcha:isset = false' })
  await expect(logIn({ captcha: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  // A refresh is a login, too.
  const { account } = await world.account('users', id('v'))
  const actor = { principal: { ...SYSTEM, isAdmin: false, account: account! }, request }
  await expect(accounts.authRefresh(actor, 'users', 'token', { captcha: 'x' })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  expect(await accounts.authRefresh(actor, 'users', 'token')).toHaveProperty('token')
  await definitions.update(SYSTEM, 'users', {
    authRule: '',
    otp: { enabled: true },
    mfa: { enabled: true, rule: '@request.body.identity ~ "@example.com"' },
  })
  expect(await logIn()).toHaveProperty('mfaId')
})
