/** The report: everything in one file, every figure in a table, nothing that can be mistaken for markup. The figures of the README and of the page on performance. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chartsOf } from '../report/charts.ts'
import { storedResults } from '../harness/stored.ts'
import { lossesOf } from '../report/losses.ts'
import { withFigures } from '../report/readme-figures.ts'
import { prepareReport } from '../report/report.ts'
import { fileOf, runOf } from './fixture.ts'

const runs = [
  runOf('pannier', 1, { bulkInsert: 100, bytesOnDisk: 2048 }),
  runOf('dexie', 1, { bulkInsert: 300 }),
  runOf('rxdb', 1, {}, { failures: { bulkInsert: '</script><b>broken</b>' } }),
]

test('one file that fetches nothing', async () => {
  const html = (await prepareReport())([fileOf(runs)])
  expect(html).not.toMatch(/(?:src|href)="?https?:/)
  expect(html).not.toMatch(/@import|url\(/)
  expect(html).toContain('<html lang="en">')
})

test('every figure and every reason is in a table or list', async () => {
  const html = (await prepareReport())([fileOf(runs)])
  expect(html).toContain('>300<small>3×</small>')
  expect(html).toContain('2 KiB')
  expect(html).toContain('RxDB on Dexie: failed at bulkInsert: &lt;/script&gt;&lt;b&gt;broken&lt;/b&gt;')
  expect(html).toContain('a &lt;fast&gt; one')
  expect(html).not.toContain('This run was stopped')
  expect((await prepareReport())([{ ...fileOf(runs), complete: false }])).toContain('This run was stopped')
})

test('charts have a bar for each figure, least first', () => {
  const [chart] = chartsOf([fileOf(runs)])
  expect(chart).toMatchObject({ id: 'chromium-0', unit: 'ms' })
  expect(chart?.bars.map((bar) => bar.label)).toEqual(['Pannier', 'Dexie'])
})

test('a row that another is first in is named, with the gap and the reason', () => {
  const values = { bulkInsert: 100, durableWrite: 1, count: 1 }
  const lost = [
    runOf('pannier', 1, values),
    runOf('indexed-db', 1, { ...values, bulkInsert: 400, durableWrite: 0.5 }),
    runOf('floor-storage', 1, { bulkInsert: 1 }),
  ]
  expect(lossesOf(fileOf(lost))).toEqual([
    expect.objectContaining({ contender: 'indexed-db', metric: 'durableWrite', times: 2, reason: expect.any(String) }),
  ])
})

const stored = storedResults()

test('every loss in the stored results has a reason', () => {
  expect(stored.map(({ place }) => place)).toEqual(expect.arrayContaining(['chromium', 'firefox', 'node', 'webkit']))
  expect(stored.flatMap(lossesOf).filter(({ reason }) => reason === undefined)).toEqual([])
})

test.each([
  ['README.md', 'few'],
  ['docs/internals/performance.md', 'all'],
] as const)('the figures of %s are those of the stored results', (path, extent) => {
  const page = readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
  expect(withFigures(page, stored, extent)).toBe(page)
})
