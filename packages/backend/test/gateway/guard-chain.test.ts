/** Goal: the server believes nothing that a guard of the operator returns: each wrong shape is an error that names it, and nothing passes. */
import { expect, test, vi } from 'vitest'
import { GuardChain, judgedBy } from '../../src/gateway/guard-chain.ts'
import type { GuardedChange, GuardedWrite, WriteGuard } from '../../src/gateway/guards.ts'
import type { LogEntry } from '../../src/gateway/log-entry.ts'
import { GUEST } from '../../src/gateway/principal.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'

const DOCUMENTS = [{ _id: 'a' }, { _id: 'b' }]
const WRITE = { principal: GUEST, database: 'd', newEdits: true, documents: DOCUMENTS } as unknown as GuardedWrite
const OWN = new Error('of the guard')

function chain(guard: object): GuardChain {
  return new GuardChain([guard as WriteGuard], { write: () => {} })
}

test.each([
  ['nothing', undefined],
  ['one document too few', [{ _id: 'a' }]],
  ['a hole', [{ _id: 'a' }, undefined]],
  ['true', true],
])('prepare that gives %s is an error', async (_, answer) => {
  const must = 'guards: prepare must return a document or an error for each document'
  for (const prepare of [() => answer, async () => answer])
    await expect(chain({ prepare }).prepare(WRITE)).rejects.toThrow(must)
})

test('prepare may promise, refuse and change, and what it throws is kept', async () => {
  const refusal = new ServiceError('FORBIDDEN', 'no')
  expect(await chain({ prepare: async () => [refusal, { _id: 'b', n: 1 }] }).prepare(WRITE)).toEqual([
    refusal,
    { _id: 'b', n: 1 },
  ])
  expect(await chain({ prepare: ({ documents }: GuardedWrite) => documents }).prepare(WRITE)).toBe(DOCUMENTS)
  const throwing = (): never => {
    throw OWN
  }
  await expect(chain({ prepare: throwing }).prepare(WRITE)).rejects.toBe(OWN)
  expect(() => chain({ decide: throwing }).decide(WRITE)).toThrow(OWN)
})

test('decide and what it gives are synchronous, and give a function, and an error', () => {
  expect(() => chain({ decide: async () => undefined }).decide(WRITE)).toThrow('decide must be synchronous')
  expect(() => chain({ decide: () => false }).decide(WRITE)).toThrow('decide must return a function, or undefined')
  expect(chain({ decide: () => undefined }).decide(WRITE)).toEqual([])
  const judged = (judge: unknown): unknown =>
    judgedBy(chain({ decide: () => judge }).decide(WRITE), {} as GuardedChange)
  expect(() => judged(async () => undefined)).toThrow('a judge must be synchronous')
  expect(() => judged(() => false)).toThrow('a judge must return an error, or undefined, got false')
  expect(judged(() => OWN)).toBe(OWN)
})

test('what hears of a write refuses nothing, also if it fails later', async () => {
  const logged: LogEntry[] = []
  const later = vi.fn<() => Promise<void>>(() => Promise.reject(OWN))
  const guards = [
    { written: later },
    {
      written: () => {
        throw OWN
      },
    },
  ] as unknown as WriteGuard[]
  new GuardChain(guards, { write: (entry) => void logged.push(entry as LogEntry) }).written(WRITE, DOCUMENTS)
  expect(logged.map(({ message }) => message)).toEqual([
    expect.stringContaining('written must be synchronous'),
    expect.stringContaining('of the guard'),
  ])
})
