/** What functions of design documents can do, and what they can't: escapes, loops, memory, recursion, ReDoS. */
import { systemEnvironment } from 'pannier/internal'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DesignFunctionError } from '../../src/sandbox/design-function-error.ts'
import type { Outcome } from '../../src/sandbox/protocol.ts'
import { Sandbox, type SandboxProgram } from '../../src/sandbox/sandbox.ts'

const lines: string[] = []
const LIMITS = { memoryBytesMax: 16 * 1024 * 1024, interruptsMax: 500 }
const PATIENT_MS = 60_000
/** Here no time is up on a busy machine. */
let sandbox: Sandbox
/** For functions whose time has to be up. */
let hasty: Sandbox
/** The time of its threads is up when the test says so. */
let held: Sandbox
const clock = virtualEnvironment()

beforeAll(() => {
  const limits = { ...LIMITS, threadMsMax: PATIENT_MS, callMsMax: PATIENT_MS }
  const environment = systemEnvironment()
  sandbox = new Sandbox({ environment, limits, onLog: (line) => lines.push(line) })
  hasty = new Sandbox({ environment, limits: { ...LIMITS, threadMsMax: 1500, callMsMax: 800 } })
  held = new Sandbox({ environment: clock, limits })
})
afterAll(() => Promise.all([sandbox.close(), hasty.close(), held.close()]))

function program(map: string, modules: unknown = {}, place = sandbox): SandboxProgram {
  return place.program({ functions: { map }, modules })
}

async function run(
  map: string,
  document: unknown = { _id: 'a' },
  modules?: unknown,
  place?: Sandbox,
): Promise<Outcome<unknown>> {
  const [outcome] = (await program(map, modules, place).call('map', 'map', [[document]])) as Outcome<unknown>[]
  return outcome!
}

/** What it emits first as key. */
async function keyOf(expression: string, place?: Sandbox): Promise<unknown> {
  const outcome = await run(`function (doc) { emit(${expression}) }`, undefined, undefined, place)
  return 'value' in outcome ? (outcome.value as unknown[][])[0]![0] : outcome.failure
}

describe('functions', () => {
  test('anonymous, named and arrow functions, with a semicolon or a comment at the end', async () => {
    for (const source of [
      'function (doc) { emit(doc._id, 1) }',
      'function map(doc) { emit(doc._id, 1); }; ',
      'doc => emit(doc._id, 1)',
      '(doc) => { emit(doc._id, 1) } // why',
    ])
      expect(await run(source)).toEqual({ value: [['a', 1]] })
  })

  test('helpers and modules', async () => {
    const modules = {
      lib: { twice: "exports.of = (n) => require('./sum').add(n, n)", sum: 'exports.add = (a, b) => a + b' },
    }
    const map = `function (doc) {
      log('seen ' + doc._id); log({ a: 1 })
      emit([sum([1, 2]), isArray([]), toJSON({ b: 2 }), require('lib/twice').of(21)], { _id: 'other' })
    }`
    expect(await run(map, { _id: 'a' }, modules)).toEqual({ value: [[[3, true, '{"b":2}', 42], { _id: 'other' }]] })
    expect(lines).toEqual(['seen a', '{"a":1}'])
  })

  test('a function that throws fails for its document only', async () => {
    const map = 'function (doc) { emit(doc.a.b) }'
    const outcomes = await program(map).call('map', 'map', [[{ a: { b: 1 } }, {}, { a: { b: 2 } }]])
    expect(outcomes).toMatchObject([{ value: [[1, null]] }, { failure: { kind: 'failed' } }, { value: [[2, null]] }])
  })

  test('what does not compile, or is no function, says so', async () => {
    for (const source of ['function (doc) {', '42', 'function (doc) {} ; 1', 'undefinedName'])
      await expect(program(source).call('check', 'map', [])).rejects.toThrow(DesignFunctionError)
  })

  test('text survives: lone surrogates, U+0000, __proto__', async () => {
    const document = JSON.parse('{"_id":"a","t":"\\ud800x\\u0000😀","__proto__":{"x":1}}') as object
    const outcome = await run('function (doc) { emit(doc.t, doc) }', document)
    expect(JSON.stringify(outcome)).toBe(JSON.stringify({ value: [[(document as { t: string }).t, document]] }))
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false)
  })

  test('reduce and rereduce', async () => {
    const reduce = 'function (keys, values, rereduce) { return rereduce ? sum(values) : keys.length }'
    const reducer = sandbox.program({ functions: { reduce }, modules: {} })
    expect(await reducer.call('reduce', 'reduce', [[['k', 'id']], [1], false])).toBe(1)
    expect(await reducer.call('reduce', 'reduce', [null, [1, 2], true])).toBe(3)
  })
})

describe('nothing of the process is visible', () => {
  test.each([
    'typeof process',
    'typeof Deno',
    'typeof Buffer',
    'typeof module',
    'typeof fetch',
    'typeof setTimeout',
    'typeof performance',
    'typeof WebAssembly',
    'typeof Atomics',
    'typeof XMLHttpRequest',
    `typeof Function('return this')().process`,
    `typeof (0, eval)('this').process`,
    `typeof emit.constructor('return process')`.replace("'return process')", "'return typeof process')()"),
    `typeof (() => {}).constructor.constructor('return this')().process`,
    `typeof Object.getPrototypeOf(async function () {}).constructor('return this').process`,
  ])('%s', async (expression) => {
    const seen = await keyOf(expression)
    expect(seen === 'undefined' || seen === 'string').toBe(true)
  })

  test("require('fs') finds nothing, and import() loads nothing", async () => {
    for (const name of ['fs', 'node:fs', '../../etc/passwd', 'constructor', '__proto__', 'toString/x'])
      expect(await keyOf(`require('${name}')`)).toMatchObject({ kind: 'failed' })
    expect(await keyOf(`(import('fs'), 1)`)).toBe(1)
  })

  test('prototypes of one program are not those of the server, nor of another program', async () => {
    const map = `function (doc) {
      Object.prototype.polluted = 1; Array.prototype.push = null; JSON.parse = JSON.stringify = null
      emit(doc.n)
    }`
    const outcomes = await program(map).call('map', 'map', [[{ n: 1 }, { n: 2 }]])
    expect(outcomes).toMatchObject([{ value: [[1, null]] }, { value: [[2, null]] }])
    expect(await program(map).call('map', 'map', [[{ n: 3 }]])).toMatchObject([{ value: [[3, null]] }])
    expect('polluted' in {}).toBe(false)
    expect(await keyOf('typeof Object.prototype.polluted')).toBe('undefined')
  })

  test('clocks tell milliseconds, and no more', async () => {
    expect(await keyOf('Number.isInteger(Date.now()) && Number.isInteger(+new Date())')).toBe(true)
  })
})

/** Where QuickJS does not look. */
const NATIVE_LOOP = 'function (doc) { Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) }'

/** A function of one of several databases. */
function owned(database: string, map: string): SandboxProgram {
  return held.program({ functions: { map }, modules: {} }, { database, design: database })
}

describe('limits', () => {
  /** So many calls are under way, for as long as they may take. */
  const timeIsUp = async (calls: number): Promise<void> => {
    await expect.poll(() => clock.timerCount).toBe(calls)
    await clock.advance(PATIENT_MS)
  }
  const stillWorks = async (): Promise<void> => expect(await keyOf('1')).toBe(1)
  /** On a busy machine its time may be up, too. */
  const worksAgain = (): Promise<void> => expect.poll(() => keyOf('1', hasty)).toBe(1)

  test.each([
    // On a slow machine time may be up before the budget is.
    ['an endless loop', 'for (;;);', 'budget timeout'],
    ['a loop that catches', 'for (;;) try { for (;;); } catch (e) {} finally { continue }', 'budget timeout'],
    ['ReDoS', "/^(a+)+$/.test('a'.repeat(40) + 'b')", 'budget timeout'],
    ['a getter without an end', 'new Proxy({}, { get() { for (;;); } }).x', 'budget timeout'],
    // The collector of garbage runs more and more often the closer the limit is, so time may be up first.
    ['a large array', 'var a = []; for (;;) a.push(new Array(1000).fill(1))', 'memory failed timeout'],
    ['a large buffer', 'new ArrayBuffer(1e9)', 'failed'],
    ['a large string', "'a'.repeat(1e8)", 'failed'],
    ['endless recursion', '(function f() { f() })()', 'failed'],
    // What JSON.stringify takes is quadratic in the depth.
    ['a deep value', 'var o = {}, x = o; for (var i = 0; i < 1e5; i++) x = x.a = {}; emit(o)', 'failed timeout'],
    ['too many rows', 'for (var i = 0; i <= 1e5; i++) emit(i)', 'failed budget timeout'],
  ])('%s', async (_name, statement, kinds) => {
    const map = `function (doc) { ${statement}; }`
    const found = await run(map, undefined, undefined, hasty).catch((error: DesignFunctionError) => ({
      failure: { kind: error.kind },
    }))
    expect(kinds.split(' ')).toContain('failure' in found ? found.failure.kind : found)
    await worksAgain()
  })

  test('a result that is too large fails for its document only', async () => {
    const small = new Sandbox({ environment: clock, limits: { resultCharsMax: 100 } })
    const map = "function (doc) { emit('a'.repeat(doc.n)) }"
    const outcomes = await small
      .program({ functions: { map }, modules: {} })
      .call('map', 'map', [[{ n: 60 }, { n: 200 }]])
    expect(outcomes).toMatchObject([{ value: [['a'.repeat(60), null]] }, { failure: { kind: 'failed' } }])
    await small.close()
  })

  test('a document that loops does not cost its neighbours their rows', async () => {
    const map = 'function (doc) { if (doc.n === 2) for (;;); emit(doc.n) }'
    const outcomes = await program(map).call('map', 'map', [[{ n: 1 }, { n: 2 }, { n: 3 }]])
    expect(outcomes).toMatchObject([{ value: [[1, null]] }, { failure: { kind: 'budget' } }, { value: [[3, null]] }])
  })

  test('a loop inside a built-in function, where QuickJS does not look: the thread is ended', async () => {
    const before = [keyOf('1', held), keyOf('2', held)]
    const loop = run(NATIVE_LOOP, undefined, undefined, held).catch((error: unknown) => error)
    const behind = keyOf('3', held)
    expect(await Promise.all(before)).toEqual([1, 2])
    await timeIsUp(1)
    expect(await loop).toMatchObject({ kind: 'timeout' })
    expect(await behind).toBe(3)
  })

  test('functions of one database do not keep those of another waiting', async () => {
    const native = owned('busy', NATIVE_LOOP)
    const ended: unknown[] = []
    const loops = Array.from({ length: 3 }, () =>
      native.call('map', 'map', [[{}]]).catch((error: unknown) => ended.push(error)),
    )
    for (let n = 0; n < 20; n++)
      expect(await owned('quiet', 'doc => emit(doc.n)').call('map', 'map', [[{ n }]])).toEqual([{ value: [[n, null]] }])
    expect(ended).toEqual([])
    for (const [at, loop] of loops.entries()) {
      await timeIsUp(1)
      await loop
      expect(ended).toHaveLength(at + 1)
    }
  })

  test('databases that are both busy take turns', async () => {
    const order: string[] = []
    // One thread is left for them: two may be of very different speed.
    const loop = owned('busy', NATIVE_LOOP)
      .call('map', 'map', [[{}]])
      .catch(() => {})
    const calls = ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'c'].map((database) =>
      owned(database, 'doc => emit(1)')
        .call('map', 'map', [[{}]])
        .then(() => order.push(database)),
    )
    await Promise.all(calls)
    await timeIsUp(1)
    expect(order.slice(0, 6).filter((database) => database === 'a').length).toBeLessThan(4)
    await loop
  })

  test('more calls of one database than may wait are refused', async () => {
    const one = program('doc => emit(1)')
    const outcomes = await Promise.allSettled(Array.from({ length: 1200 }, () => one.call('map', 'map', [[{}]])))
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(150)
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: { kind: 'unavailable' } })
    await stillWorks()
  })

  test('equal functions of two databases, or of two design documents, share nothing', async () => {
    const map = 'function (doc) { this.seen = (this.seen || "") + doc.n; emit(this.seen) }'
    const of = (database: string, design: string) =>
      sandbox.program({ functions: { map }, modules: {} }, { database, design: `${database} ${design}` })
    for (const [database, design] of [
      ['t1', 'a'],
      ['t2', 'a'],
      ['t1', 'b'],
    ] as const) {
      const [outcome] = (await of(database, design).call('map', 'map', [[{ n: `${database}${design}` }]])) as {
        value: unknown[][]
      }[]
      expect(outcome!.value[0]![0]).toBe(`${database}${design}`)
    }
  })

  test('many programs: those that were used longest ago make room', async () => {
    const programs = Array.from({ length: 40 }, (_, n) => program(`doc => emit(${n})`))
    for (const round of [1, 2])
      for (const [n, one] of programs.entries())
        expect(await one.call('map', 'map', [[{ round }]])).toEqual([{ value: [[n, null]] }])
  })

  test('a closed sandbox says so', async () => {
    const closed = new Sandbox({ environment: clock })
    const call = closed.program({ functions: { map: 'doc => 1' }, modules: {} }).call('map', 'map', [[{}]])
    await Promise.all([expect(call).rejects.toMatchObject({ kind: 'unavailable' }), closed.close()])
  })
})
