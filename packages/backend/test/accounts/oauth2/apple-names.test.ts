/** Goal: the name that Apple sends once reaches the login that has the same code, and nothing piles up. */
import { expect, test } from 'vitest'
import { AppleNames } from '../../../src/accounts/oauth2/apple-names.ts'

const ANN = '{"name":{"firstName":"Ann","lastName":"Other"}}'

test('a name is there once, for the login with the same code', () => {
  const names = new AppleNames(() => 0)
  names.keep('code', ANN)
  expect([names.take('other'), names.take('code'), names.take('code')]).toEqual(['', 'Ann Other', ''])
})

test('a name is forgotten after a minute', () => {
  let now = 0
  const names = new AppleNames(() => now)
  names.keep('code', ANN)
  now = 60_000
  expect(names.take('code')).toBe('')
})

test('long names are cut, long codes and other texts are ignored', () => {
  const names = new AppleNames(() => 0)
  const long = `{"name":{"firstName":"aaa","lastName":"${'b'.repeat(200)}"}}`
  names.keep('a'.repeat(985), long)
  names.keep('a'.repeat(986), long)
  expect(names.take('a'.repeat(985))).toBe(`aaa ${'b'.repeat(146)}`)
  expect(names.take('a'.repeat(986))).toBe('')
  for (const text of ['', '{', '[]', 'null', '{"name":1}', '{"name":{"firstName":1}}']) {
    names.keep('code', text)
    expect(names.take('code')).toBe('')
  }
})

test('of many names the oldest go', () => {
  const names = new AppleNames(() => 0)
  for (let at = 0; at <= 1000; at++) names.keep(`code ${at}`, ANN)
  expect([names.take('code 0'), names.take('code 1'), names.take('code 1000')]).toEqual(['', 'Ann Other', 'Ann Other'])
})
