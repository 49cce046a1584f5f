/** The report: everything in one file, every figure in a table, nothing that can be mistaken for markup. */
import { expect, test } from 'vitest'
import { chartsOf } from '../report/charts.ts'
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
