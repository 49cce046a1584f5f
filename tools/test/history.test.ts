/** Goal: the checker of histories finds each kind of violation, and takes no right history for a wrong one. */
import { describe, expect, test } from 'vitest'
import {
  History,
  splitByLoss,
  violationsOf,
  type End,
  type Note,
  type Operation,
  type ViolationKind,
} from './history.ts'

type Part = Partial<Operation>

/** A write of `token` from `startMs` to `endMs`, acknowledged by server `a` unless `part` says otherwise. */
function write(token: string, startMs: number, endMs: number, part: Part = {}): Operation {
  return { server: 'a', startMs, endMs, outcome: 'done', write: { token, registers: ['r'] }, ...part }
}

function read(tokens: string, startMs: number, endMs: number, part: Part = {}): Operation {
  return { server: 'a', startMs, endMs, outcome: 'done', found: { r: tokens.split('') }, ...part }
}

const unknown: Part = { outcome: 'unknown' }
const atB: Part = { server: 'b' }

function ends(tokens: string): End {
  return { lists: { r: tokens.split('') } }
}

const kindsOf = (operations: readonly Operation[], end: End): ViolationKind[] => [
  ...new Set(violationsOf(operations, end).map(({ kind }) => kind)),
]

describe('a history that is right', () => {
  const cases: Record<string, [readonly Operation[], End]> = {
    'of nothing': [[], ends('')],
    'of writes one after another': [[write('x', 0, 1), write('y', 2, 3, atB), read('xy', 4, 5)], ends('xy')],
    'of writes at the same time, in either order': [[write('x', 0, 5), write('y', 1, 4, atB)], ends('yx')],
    'with a write of unknown outcome that has happened': [[write('x', 0, Infinity, unknown)], ends('x')],
    'with one that has not': [[write('x', 0, Infinity, unknown), write('y', 1, 2)], ends('y')],
    'with one that happens much later': [[write('x', 0, Infinity, unknown), write('y', 1, 2)], ends('yx')],
    'with a write that was refused': [[write('x', 0, 1, { outcome: 'refused' })], ends('')],
    'with a read during a write, without it': [[write('x', 0, 5), read('', 1, 2, { isFresh: true })], ends('x')],
    'with a read during a write, with it': [[write('x', 0, 5), read('x', 1, 2, { isFresh: true })], ends('x')],
    "with a read of another server's cache that is behind": [[write('x', 0, 1), read('', 2, 3, atB)], ends('x')],
    'with two reads of a server at the same time': [
      [write('x', 0, 1, atB), read('x', 2, 6), read('', 2, 7)],
      ends('x'),
    ],
    'with a read that failed': [[read('', 2, 3, { outcome: 'unknown' })], ends('')],
    'with a write of two registers': [
      [write('x', 0, 1, { write: { token: 'x', registers: ['r', 's'] } })],
      { lists: { r: ['x'], s: ['x'] } },
    ],
    'with dense sequence numbers': [[write('x', 0, 1)], { ...ends('x'), sequence: { newest: 3, others: 2 } }],
  }
  for (const [name, [operations, end]] of Object.entries(cases))
    test(name, () => expect(violationsOf(operations, end)).toEqual([]))
})

describe('a history that is wrong', () => {
  const cases: Record<string, [ViolationKind, readonly Operation[], End]> = {
    'an acknowledged write is lost': ['lost', [write('x', 0, 1), write('y', 2, 3)], ends('y')],
    'the last acknowledged write is lost': ['lost', [write('x', 0, 1), write('y', 2, 3)], ends('x')],
    'a write is done twice': ['twice', [write('x', 0, 1)], ends('xx')],
    'a write of unknown outcome is done twice': [
      'twice',
      [write('x', 0, Infinity, unknown), write('y', 1, 2)],
      ends('xyx'),
    ],
    'something is there that nobody wrote': ['phantom', [write('x', 0, 1)], ends('xy')],
    'something was read that nobody wrote': ['phantom', [read('y', 2, 3)], ends('')],
    'a refused write is there': ['phantom', [write('x', 0, 1, { outcome: 'refused' })], ends('x')],
    'a write was read before it began': ['phantom', [read('x', 0, 1), write('x', 2, 3)], ends('x')],
    'a later write comes first': ['order', [write('x', 0, 1), write('y', 2, 3, atB)], ends('yx')],
    'a write comes before what was read before it': [
      'order',
      [write('x', 0, Infinity, unknown), read('x', 1, 2), write('y', 3, 4, atB)],
      ends('yx'),
    ],
    'a write of unknown outcome comes before an earlier one': [
      'order',
      [write('x', 0, 1), write('y', 2, Infinity, unknown)],
      ends('yx'),
    ],
    'a server does not read its own write': ['stale', [write('x', 0, 1), read('', 2, 3)], ends('x')],
    "a fresh read misses another server's write": [
      'stale',
      [write('x', 0, 1), read('', 2, 3, { ...atB, isFresh: true })],
      ends('x'),
    ],
    'a fresh read misses what another server has read': [
      'stale',
      [write('x', 0, Infinity, unknown), read('x', 1, 2), read('', 3, 4, { ...atB, isFresh: true })],
      ends('x'),
    ],
    'a server reads back in time': [
      'backward',
      [write('x', 0, 1), read('x', 2, 3, atB), read('', 4, 5, atB)],
      ends('x'),
    ],
    'what was read is gone': ['fork', [write('x', 0, Infinity, unknown), read('x', 1, 2)], ends('')],
    'two servers have acknowledged other writes at one place': [
      'fork',
      [write('x', 0, 5, { found: { r: ['x'] } }), write('y', 0, 5, { ...atB, found: { r: ['y'] } })],
      ends('xy'),
    ],
    'an acknowledged write is not what was written last': [
      'fork',
      [write('x', 0, 5), write('y', 0, 5, { found: { r: ['x'] } })],
      ends('xy'),
    ],
    'a write of two registers is in one': [
      'torn',
      [write('x', 0, Infinity, { ...unknown, write: { token: 'x', registers: ['r', 's'] } })],
      { lists: { r: ['x'], s: [] } },
    ],
    'a sequence number is missing': ['hole', [write('x', 0, 1)], { ...ends('x'), sequence: { newest: 2, others: 0 } }],
    'a sequence number was given twice': [
      'hole',
      [write('x', 0, 5), write('y', 0, 5)],
      { ...ends('xy'), sequence: { newest: 1, others: 0 } },
    ],
  }
  for (const [name, [kind, operations, end]] of Object.entries(cases))
    test(name, () => expect(kindsOf(operations, end)).toContain(kind))
})

test('a history of several processes is joined from what each of them notes', () => {
  const all = new History()
  const processes = ['a', 'b'].map((server) => {
    const history = new History((note) => all.note(JSON.parse(JSON.stringify(note)) as Note))
    return (token: string) => history.begin({ server, write: { token, registers: ['r'] } })
  })
  processes[0]!('x')({ outcome: 'done', found: { r: ['x'] } })
  processes[1]!('y')
  expect(all.acknowledged).toBe(1)
  expect(all.operations).toMatchObject([{ outcome: 'done' }, { outcome: 'unknown', endMs: Infinity }])
  expect(kindsOf(all.operations, ends('x'))).toEqual([])
  expect(kindsOf(all.operations, ends('y'))).toContain('lost')
})

test('a random history is right in the order that made it, and wrong in each other one', () => {
  let seed = 7
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below
  const operations: Operation[] = []
  const list: string[] = []
  for (let n = 0, atMs = 0; n < 300; n++) {
    const server = `s${random(3)}`
    // Each takes effect in the middle of its time; two at the same time overlap.
    const [startMs, endMs] = [atMs - random(2), (atMs += 2) + random(2)]
    if (random(2) === 0) {
      list.push(`w${n}`)
      operations.push(write(`w${n}`, startMs, endMs, { server, found: { r: [...list] } }))
    } else operations.push({ server, startMs, endMs, outcome: 'done', isFresh: true, found: { r: [...list] } })
  }
  expect(violationsOf(operations, { lists: { r: list } })).toEqual([])
  for (let at = 0; at + 3 < list.length; at += 20) {
    const swapped = list.with(at, list[at + 3]!).with(at + 3, list[at]!)
    expect(violationsOf(operations, { lists: { r: swapped } })).not.toEqual([])
    expect(violationsOf(operations, { lists: { r: list.toSpliced(at, 1) } })).not.toEqual([])
  }
})

test('where commits may be lost, all that does not know of a lost one is to be right', () => {
  const [lost, seen] = [write('y', 2, 3), read('xy', 4, 5, atB)]
  const kept = [write('x', 0, 1), read('x', 6, 7, atB), write('z', 8, 9)]
  expect(kindsOf([...kept, lost, seen], ends('xz'))).toEqual(expect.arrayContaining(['lost', 'fork', 'backward']))
  expect(splitByLoss([...kept, lost, seen], ends('xz'))).toEqual({ gone: [lost, seen], kept })
  expect(violationsOf(kept, ends('xz'))).toEqual([])
})
