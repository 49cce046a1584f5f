/** Goal: one client can take no more than its share of the memory for answers, and one that does not read loses it. */
import { expect, test } from 'vitest'
import { ANSWER_BYTES_MAX, AnswerRoom, LoneBudget, type HeldBudget } from '../../src/gateway/answer-room.ts'
import { jsonSize } from '../../src/gateway/json-text.ts'
import { GUEST, SYSTEM, type Principal } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { Shares } from '../../src/gateway/shares.ts'

const MEBIBYTE = 1024 * 1024

const [A, B, C] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'] as const

function principalAt(address: string, id?: string): Principal {
  return { ...GUEST, address, ...(id !== undefined && { account: { collection: 'users', record: { _id: id } } }) }
}

function roomOf() {
  const room = new AnswerRoom({ allMax: 10 * MEBIBYTE, shareMax: 4 * MEBIBYTE })
  const cuts: string[] = []
  const clock = { ms: 0 }
  const enter = (address: string, id?: string): HeldBudget =>
    room.enter({
      principal: principalAt(address, id),
      now: () => clock.ms,
      begin: () => {},
      cut: () => void cuts.push(address),
    })
  return { room, cuts, clock, enter }
}

function refusal(take: () => void): string | undefined {
  try {
    take()
    return undefined
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error)
  }
}

test('each client has its share, an account as well as its address; small answers count for nobody', () => {
  const { room, enter } = roomOf()
  const first = enter(A, 'ann')
  first.take(3 * MEBIBYTE)
  expect(refusal(() => enter(A).take(2 * MEBIBYTE))).toBe('TOO_MANY_REQUESTS')
  expect(refusal(() => enter(B, 'ann').take(2 * MEBIBYTE))).toBe('TOO_MANY_REQUESTS')
  for (let n = 0; n < 100; n++) enter(A).take(200 * 1024)
  room.leave(first)
  expect(refusal(() => enter(A, 'ann').take(4 * MEBIBYTE))).toBeUndefined()
})

test('where all room is taken, an answer that nobody reads ends, and others are refused', () => {
  const { cuts, clock, enter } = roomOf()
  const [one, other] = [enter(A), enter(B)]
  one.take(4 * MEBIBYTE)
  other.take(4 * MEBIBYTE)
  expect(refusal(() => enter(C).take(3 * MEBIBYTE))).toBe('UNAVAILABLE')
  clock.ms += 6000
  other.moved()
  expect(refusal(() => enter(C).take(3 * MEBIBYTE))).toBeUndefined()
  expect(cuts).toEqual([A])
})

test('one answer has an end for everybody, but one record has any size', () => {
  const room = new AnswerRoom()
  const entered = (principal: Principal): HeldBudget =>
    room.enter({ principal, now: () => 0, begin: () => {}, cut: () => {} })
  for (const budget of [new LoneBudget(), entered(SYSTEM), entered(principalAt(A))]) {
    expect(refusal(() => budget.take(3 * ANSWER_BYTES_MAX))).toBeUndefined()
    expect(refusal(() => budget.take(1))).toBe('INVALID')
  }
  const small = entered(principalAt(B))
  small.take(1)
  expect(refusal(() => small.take(ANSWER_BYTES_MAX))).toBe('INVALID')
})

test('shares are given back', () => {
  const shares = new Shares({ allMax: 10, shareMax: 6 })
  shares.add(['a'], 6)
  expect(shares.exceededBy(['a'], 1)).toBe('share')
  expect(shares.exceededBy(['b'], 5)).toBe('all')
  shares.add(['a'], -6)
  expect(shares.exceededBy(['b', 'a'], 6)).toBeUndefined()
})

test('the size of a value is about that of its JSON, and counting stops at the limit', () => {
  for (const value of [null, 'text', [1, 2, [3]], { a: { b: ['c', null, true] }, d: 'x'.repeat(1000) }]) {
    const size = JSON.stringify(value).length
    expect(Math.abs(jsonSize(value) - size)).toBeLessThan(30 + size / 5)
  }
  expect(
    jsonSize(
      Array.from({ length: 100_000 }, () => 'x'.repeat(10)),
      1000,
    ),
  ).toBeLessThan(1100)
})
