import { expect, test } from 'vitest'
import { layOut } from '../node/table.ts'
import { countryName, foldName } from '../shared/city.ts'
import { formatDuration } from '../shared/format.ts'

test('names fold as people look for them', () => {
  expect(['Zürich', 'Łódź', '‘Ibrī', 'Tromsø', 'São Paulo', 'ʿAmmān'].map(foldName)).toEqual([
    'zurich',
    'lodz',
    'ibri',
    'tromso',
    'sao paulo',
    'amman',
  ])
})

test('countries have names, and unknown ones their code', () => {
  expect(['JP', 'XK', 'zz', ''].map(countryName)).toEqual(['Japan', 'Kosovo', 'zz', ''])
})

test('durations have three digits at most', () => {
  expect([0.001, 0.04, 0.996, 3.24, 9.96, 412.4, 999.6, 1_312, 12_340].map(formatDuration)).toEqual([
    '<0.01 ms',
    '0.04 ms',
    '1.0 ms',
    '3.2 ms',
    '10 ms',
    '412 ms',
    '1.00 s',
    '1.31 s',
    '12.3 s',
  ])
})

test('a table fits the terminal', () => {
  const columns = [
    { title: 'Question', align: 'left' },
    { title: 'Answer', align: 'left', shrinks: true },
    { title: 'Time', align: 'right' },
  ] as const
  const lines = layOut(columns, [['What?', 'A rather long answer to it', '3 ms']], 40).split('\n')
  expect(lines[1]).toMatch(/^What\? +A rather long .*… +3 ms$/)
  expect(lines[1]).toHaveLength(40)
})
