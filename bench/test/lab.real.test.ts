/** The lab page without a browser: what it computes from results, which files it takes, and what it is served with. */
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { makeFolder, removeFolder } from '../../tools/processes.ts'
import type { Run } from '../harness/results.ts'
import { barsOf, fixedOf, gridOf, linesOf, overviewOf, parametersIn } from '../lab/model/chart-data.ts'
import { compareResults, differencesOf, summarize, verdictOf } from '../lab/model/compare.ts'
import { cellsOf, workloadsIn } from '../lab/model/plans.ts'
import { fileNameOf, readResultFile } from '../lab/model/result-file.ts'
import { makeAssets } from '../lab/node/assets.ts'
import { serveLab } from '../lab/node/server.ts'
import { compileSizes } from '../lab/page/sizes.ts'
import type { Cell } from '../suites/suite.ts'
import { fileOf, runOf } from './fixture.ts'

const counts = (contender: string, values: readonly number[]): Run[] =>
  values.map((count, at) => runOf(contender, at + 1, { count }))

test('a difference counts when the ranges of samples do not meet', () => {
  expect(verdictOf([10, 11, 12], [5, 6, 9])).toBe('faster')
  expect(verdictOf([5, 6, 9], [10, 11, 12])).toBe('slower')
  expect(verdictOf([5, 6, 10], [10, 11, 12])).toBe('same')
  expect(verdictOf([100, 100], [102, 102])).toBe('same')
  expect(verdictOf([10], [1])).toBe('unclear')
})

test('two results are compared figure by figure, and what only one has is counted', () => {
  const base = fileOf([...counts('pannier', [10, 12]), ...counts('dexie', [100, 110])])
  const other = fileOf([...counts('pannier', [5, 6]), ...counts('rxdb', [7, 8])])
  const comparisons = compareResults(base, other)
  expect(comparisons).toMatchObject([{ contender: 'pannier', metric: 'count', ratio: 0.5, verdict: 'faster' }])
  const summary = summarize(comparisons, base, other)
  expect(summary.counts).toEqual({ faster: 1, slower: 0, same: 0, unclear: 0 })
  expect(summary.meanRatio).toBeCloseTo(0.5)
  expect(summary.unpaired).toBe(2)
})

test('the mean of ratios is geometric: twice as much and half as much are even', () => {
  const base = fileOf([...counts('pannier', [10, 10]), ...counts('dexie', [10, 10])])
  const other = fileOf([...counts('pannier', [20, 20]), ...counts('dexie', [5, 5])])
  expect(summarize(compareResults(base, other), base, other).meanRatio).toBeCloseTo(1)
})

test('what differs between two devices is said', () => {
  const { environment } = fileOf([])
  expect(differencesOf(environment, environment)).toEqual([])
  const other = fileOf([], { cores: 8, versions: { pannier: '0.2.0' }, reopened: true }).environment
  expect(differencesOf(environment, other)).toEqual([
    'cores: 2 → 8',
    'cold phases: a fresh browser or process → reopened in the same browser',
    'pannier: 0.1.0 → 0.2.0',
  ])
})

test('bars come least first, with the reasons of those that are missing', () => {
  const runs = [
    ...counts('dexie', [30, 40]),
    ...counts('pannier', [1, 3]),
    runOf('rxdb', 1, {}, { gaps: { count: 'can’t' } }),
  ]
  const { bars, missing } = barsOf(fileOf(runs), 'standard', '200 documents', 'count')
  expect(bars).toMatchObject([
    { label: 'Pannier', kind: 'pannier', median: 2, least: 1, most: 3 },
    { label: 'Dexie', kind: 'persistent', median: 35 },
  ])
  expect(missing).toEqual([{ label: 'RxDB on Dexie', reason: 'can’t' }])
})

test('lines and grids vary what is asked for and keep the rest', () => {
  const cells = cellsOf('indexed-db-perf', { documents: [10, 20], valueBytes: [100, 1_000], keyChars: [8, 2_000] })
  expect(cells.length).toBe(8)
  const run = (cell: Cell): Run => {
    const rest = { suite: 'indexed-db-perf', cell }
    if (cell.keyChars === 2_000)
      return runOf('pannier', 1, {}, { ...rest, gaps: { insert: 'keys of at most 1,978 bytes' } })
    return runOf('pannier', 1, { insert: cell.documents * cell.valueBytes! }, rest)
  }
  const file = fileOf(cells.map(run))
  expect(parametersIn(file, 'indexed-db-perf')).toEqual(['documents', 'valueBytes', 'keyChars'])
  const [line] = linesOf(file, 'indexed-db-perf', 'insert', 'documents')
  expect(line?.points.map(({ x, median }) => [x, median])).toEqual([
    [10, 1_000],
    [20, 2_000],
  ])
  expect(fixedOf(file, 'indexed-db-perf', ['documents'])).toBe('values of 100 bytes, keys of 8 characters')
  const grid = gridOf(file, 'indexed-db-perf', 'insert', 'pannier', ['documents', 'keyChars'])
  expect(grid.values).toEqual([
    [1_000, 2_000],
    [undefined, undefined],
  ])
  expect(grid.reasons[1]).toEqual(['keys of at most 1,978 bytes', 'keys of at most 1,978 bytes'])
})

test('the overview has times Pannier’s value for everybody else', () => {
  const grid = overviewOf(fileOf([...counts('pannier', [2]), ...counts('dexie', [30])]), 'standard', '200 documents')
  expect(grid).toMatchObject({ xLabels: ['Dexie'], yLabels: ['count all'], values: [[15]] })
})

test('a file is read again as it was written', () => {
  const file = fileOf([...counts('pannier', [1]), runOf('rxdb', 1, {}, { failures: { count: 'Error' } })])
  expect(readResultFile(JSON.stringify(file))).toEqual(file)
  expect(fileNameOf(file)).toBe('pannier-bench-chromium-2026-01-01T00-00-00.json')
})

test('other files are refused with a reason', () => {
  const file = fileOf(counts('pannier', [1]))
  const wrong: readonly unknown[] = [
    'text',
    null,
    { ...file, version: 2 },
    { ...file, place: 'opera' },
    { ...file, startedAt: 'then' },
    { ...file, environment: { ...file.environment, cores: 'two' } },
    { ...file, runs: [{}] },
    { ...file, rows: [{ ...file.rows[0], samples: ['<b>'] }] },
    { ...file, rows: [{ ...file.rows[0], unit: 'miles' }] },
  ]
  for (const value of wrong) expect(() => readResultFile(JSON.stringify(value))).toThrow(TypeError)
  expect(() => readResultFile('{')).toThrow('the file is not JSON')
})

test('what a page can’t measure is not offered, and nothing is called cold', () => {
  const workloads = workloadsIn('standard')
  expect(workloads.map(({ name }) => name)).not.toContain('memoryAfterLoad')
  expect(workloads.filter(({ title }) => title.includes('cold'))).toEqual([])
  expect(workloads.find(({ name }) => name === 'getCold')?.title).toContain('reopened')
})

test('sizes of textures are computed without compiling text', () => {
  expect(compileSizes('width * 1.0 / 2')(100, 50, 2)).toBe(50)
  expect(compileSizes(' [width * dpr / 4, height] ')(100, 50, 2)).toEqual([50, 50])
  expect(() => compileSizes('alert(1)')).toThrow(TypeError)
})

test('the page is served isolated, without inline scripts, to those who name it', async () => {
  const folder = makeFolder('lab')
  const assets = await makeAssets(folder)
  removeFolder(folder)
  await using server = await serveLab(assets, 0)
  const response = await fetch(server.url)
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self' 'wasm-unsafe-eval';")
  expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(response.headers.get('cross-origin-embedder-policy')).toBe('require-corp')
  expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<[^>]+ (style|on\w+)=/)
  for (const name of ['main.js', 'frame.js', 'worker.js', 'style.css', 'frame.html', 'stored.json']) {
    expect((await fetch(server.url + name)).status).toBe(200)
  }
  const etag = response.headers.get('etag')!
  expect((await fetch(server.url, { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect((await fetch(`${server.url}main.ts`)).status).toBe(404)
  expect((await fetch(server.url, { method: 'POST' })).status).toBe(405)
  expect(await statusFor(server.url, 'example.org')).toBe(403)
})

/** `fetch` does not let anybody choose the host. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
