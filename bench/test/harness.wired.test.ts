/** The harness itself: what it computes from samples, in which order it runs, and that nothing wrong is counted. */
import { expect, test } from 'vitest'
import { ModelContender } from '../contenders/model.ts'
import { CONTENDERS, factsOf } from '../contenders/catalog.ts'
import type { Person } from '../documents.ts'
import { expectedAnswers, wrongAnswers } from '../harness/expected.ts'
import { pairRatios, rowsOf } from '../harness/results.ts'
import type { Run } from '../harness/results.ts'
import { runPhase, workloadsOf } from '../harness/run-phase.ts'
import { countedValues } from '../harness/turn.ts'
import { schedule } from '../harness/schedule.ts'
import { timeWarm } from '../measure.ts'
import { readOptions } from '../options.ts'
import { standardSuite } from '../suites/standard.ts'
import { cellOf } from '../suites/suite.ts'
import { SUITES } from '../suites/suites.ts'

const cell = cellOf(600, 1)

function runOf(contender: string, repeat: number, values: Run['values'], rest: Partial<Run> = {}): Run {
  return { suite: 'standard', cell, contender, repeat, values, wrong: [], gaps: {}, failures: {}, ...rest }
}

test('contenders take turns, and every cell has a first repeat before any has a second', () => {
  const cells = [cellOf(10, 1), cellOf(20, 1)]
  const turns = schedule({ suites: [{ suite: standardSuite, cells }], contenders: ['a', 'b'], repeats: 2 })
  const names = turns.map((turn) => `${turn.contender}${turn.cell.documents}/${turn.repeat}`)
  expect(names.join(' ')).toBe('a10/1 b10/1 a20/1 b20/1 a10/2 b10/2 a20/2 b20/2')
})

test('a row has median, p95, spread and the ratio of pairs', () => {
  const runs = [
    runOf('pannier', 1, { count: 1 }),
    runOf('dexie', 1, { count: 10 }),
    runOf('pannier', 2, { count: 2 }),
    runOf('dexie', 2, { count: 30 }),
    runOf('pannier', 3, { count: 4 }),
    runOf('dexie', 3, { count: 20 }),
  ]
  const row = rowsOf(runs).find(({ contender, metric }) => contender === 'dexie' && metric === 'count')
  expect(row).toMatchObject({ samples: [10, 30, 20], median: 20, p95: 30, spread: 1 })
  // 10/1, 30/2 and 20/4, not 20/2.
  expect(row?.ratio).toEqual({ median: 10, least: 5, most: 15 })
})

test('only runs of the same repeat are a pair', () => {
  const own = runOf('dexie', 2, { count: 30 })
  expect(pairRatios([own], [own, runOf('pannier', 1, { count: 1 })], 'count')).toEqual([])
})

test('a row without a figure says why', () => {
  const wrong = [{ workload: 'count', expected: '1', answer: '2' }]
  const runs = [
    runOf('pannier', 1, {}, { wrong }),
    runOf('rxdb', 1, {}, { gaps: { buildIndexes: 'by design' } }),
    runOf('dexie', 1, {}, { failures: { count: 'Error: quota' } }),
  ]
  const missing = Object.fromEntries(
    rowsOf(runs).map(({ contender, metric, missing: reason }) => [`${contender} ${metric}`, reason]),
  )
  expect(missing['pannier count']).toBe('wrong answer')
  expect(missing['rxdb buildIndexes']).toBe('by design')
  expect(missing['dexie count']).toBe('failed at count: Error: quota')
})

test('no value goes with a wrong answer, nor one that was not asked for', async () => {
  class Forgetful extends ModelContender {
    override insert(person: Person): void {
      if (!person._id.startsWith('a')) super.insert(person)
    }
  }
  const request = { contender: 'forgetful', suite: 'standard', phase: 'load', cell, place: 'x', only: [] }
  const expected = await expectedAnswers('standard', cell, [], {})
  const report = await runPhase(
    new Forgetful(),
    { ...factsOf('pannier'), gaps: {} },
    { ...request, only: ['count', 'getWarm'] },
  )
  const wrong = wrongAnswers(report.outcomes, expected)
  expect(wrong.map(({ workload }) => workload)).toContain('count')
  expect(Object.keys(countedValues(report, wrong, ['count']))).toEqual([])
  const right = await runPhase(new ModelContender(), { ...factsOf('pannier'), gaps: {} }, request)
  expect(Object.keys(countedValues(right, wrongAnswers(right.outcomes, expected), ['count']))).toEqual(['count'])
})

test('a workload that fails ends the phase and is reported, with what was measured before', async () => {
  class Broken extends ModelContender {
    override pageById(): readonly Person[] {
      throw new Error('no pages')
    }
  }
  const facts = { ...factsOf('pannier'), gaps: {} }
  const request = { contender: 'broken', suite: 'standard', phase: 'load', cell, place: 'x', only: [] }
  const report = await runPhase(new Broken(), facts, request)
  expect(Object.values(report.failures)).toEqual(['Error: no pages'])
})

test('a gap is said, and the operation is not called', async () => {
  const facts = { ...factsOf('pannier'), gaps: { update: 'not made for it' } }
  const request = { contender: 'x', suite: 'standard', phase: 'load', cell, place: 'x', only: ['update'] }
  const report = await runPhase(new ModelContender(), facts, request)
  expect(report.gaps).toEqual({ update: 'not made for it' })
})

test('what others build on runs also when it was not asked for', () => {
  const names = workloadsOf(standardSuite.phases[0]!, ['rangeCount']).map(({ name }) => name)
  expect(names).toEqual(['bulkInsert', 'buildIndexes', 'rangeCount'])
})

test('names of contenders, and of metrics within a suite, are unique', () => {
  expect(new Set(CONTENDERS.map(({ name }) => name)).size).toBe(CONTENDERS.length)
  for (const suite of SUITES) {
    const metrics = suite.phases.flatMap((phase) =>
      phase.workloads.flatMap((one) => one.metrics.map(({ name }) => name)),
    )
    expect(new Set(metrics).size).toBe(metrics.length)
  }
})

test('options are read, and what does not exist is refused', () => {
  expect(readOptions(['--help'])).toBeUndefined()
  expect(readOptions([])).toMatchObject({ documents: [10_000], minutes: 5, suites: ['standard'] })
  expect(readOptions(['--full'])).toMatchObject({ repeats: 5, minutes: undefined, documents: [1_000, 10_000, 100_000] })
  expect(readOptions(['webkit', 'node', '--only', 'count', '--repeat', '3'])).toMatchObject({
    places: ['node', 'webkit'],
    only: ['count'],
    repeats: 3,
  })
  for (const wrong of [['opera'], ['--only', 'nothing'], ['--documents', '-1'], ['--suite', 'x'], ['--wrong']]) {
    expect(() => readOptions(wrong)).toThrow(TypeError)
  }
})

test('a warm read is repeated, and gives the first answer', async () => {
  let runs = 0
  const { milliseconds, result } = await timeWarm(() => ++runs)
  expect(result).toBe(1)
  expect(runs).toBeGreaterThan(1)
  expect(milliseconds).toBeGreaterThanOrEqual(0)
})
