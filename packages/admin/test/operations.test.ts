/** Goal: figures of Prometheus become rates and means, and what is typed becomes a filter of logs; two texts are compared by lines. */
import { expect, test } from 'vitest'
import { level, meanOf, p95Of, rate, readFigures } from '../src/views/metrics/samples.ts'
import { compareLines } from '../src/views/couchdb/compare-lines.ts'
import type { Sample } from '../src/views/metrics/samples.ts'
import { filterOf, filterOfText, mistakesOf, readLogQuery, withPeriod } from '../src/views/logs/log-filter.ts'

function sample(seconds: number, lines: readonly string[]): Sample {
  return { time: seconds * 1000, values: readFigures(lines.join('\n')) }
}

test('values of all labels are added up, and those of failed requests apart', () => {
  const figures = readFigures(
    [
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{method="GET",route="/{db}",status="200"} 5',
      'requests_total{method="GET",route="none",status="503"} 2',
      'time_bucket{le="0.1",method="GET"} 3',
      'time_bucket{le="+Inf",method="GET"} 4',
      'memory_bytes 1.5e+3',
      'lag_seconds Nan',
      '',
    ].join('\n'),
  )
  expect(Object.fromEntries(figures)).toEqual({
    requests_total: 7,
    'requests_total 5': 2,
    'time_bucket 0.1': 3,
    'time_bucket +Inf': 4,
    memory_bytes: 1500,
  })
})

test('a rate is the growth in a second, and a server that has started again leaves a gap', () => {
  const samples = [sample(0, ['n 10']), sample(5, ['n 20']), sample(10, ['n 3']), sample(12, ['n 5'])]
  expect(rate(samples, 'n')).toEqual([
    [5000, 2],
    [10_000, null],
    [12_000, 1],
  ])
  expect(level(samples, 'n')[0]).toEqual([0, 10])
  expect(rate([sample(0, ['n 1'])], 'n')).toEqual([])
})

test('the mean and the percentile are those of the requests between two samples', () => {
  const times = (sum: number, fast: number, all: number): string[] => [
    `t_sum ${sum}`,
    `t_count ${all}`,
    `t_bucket{le="0.1"} ${fast}`,
    `t_bucket{le="1"} ${all}`,
    `t_bucket{le="+Inf"} ${all}`,
  ]
  const samples = [sample(0, times(5, 10, 10)), sample(5, times(7, 108, 110)), sample(10, times(7, 108, 110))]
  expect(meanOf(samples, 't')).toEqual([
    [5000, 0.02],
    [10_000, null],
  ])
  expect(p95Of(samples, 't')).toEqual([
    [5000, 0.1],
    [10_000, null],
  ])
})

test('words become a search, a filter stays, and both are joined with the level and the period', () => {
  expect(filterOfText('no "luck"')).toBe('message ~ "no \\"luck\\""')
  expect(filterOfText('data.status >= 400')).toBe('data.status >= 400')
  const query = readLogQuery({ q: 'a = 1 || b = 2', level: 'errors', from: '2026-01-01T00:00:00.000Z', to: 'never' })
  expect(withPeriod(filterOf(query), query)).toBe(
    '(((a = 1 || b = 2) && (level >= 8)) && (data.auth != "_superusers")) && (created >= "2026-01-01 00:00:00.000Z")',
  )
  expect(filterOf(readLogQuery({ superusers: 'yes', level: 'none' }))).toBe('')
})

test('a filter of logs is wrong at a character, and words never are', () => {
  expect(mistakesOf('data.status >= 400 && level = 8')).toEqual([])
  expect(mistakesOf('two words (')).toEqual([])
  expect(mistakesOf('level >= ')[0]).toMatchObject({ at: 9 })
  expect(mistakesOf('nothing = 1')).toHaveLength(1)
})

test('lines that both texts have stand beside each other, as do those that were changed, and others have a gap beside them', () => {
  expect(compareLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
    ['a', 'a'],
    ['b', 'x'],
    ['c', 'c'],
    [undefined, 'd'],
  ])
  expect(compareLines(['a', 'b', 'c', 'e'], ['x', 'e', 'f'])).toEqual([
    ['a', 'x'],
    ['b', undefined],
    ['c', undefined],
    ['e', 'e'],
    [undefined, 'f'],
  ])
  expect(compareLines([], ['a'])).toEqual([[undefined, 'a']])
  expect(compareLines(['a'], ['a'])).toEqual([['a', 'a']])
})
