/** The body of the report: what was measured and where, a table of ratios, then each workload with its figures. */
import { CONTENDERS, factsOf } from '../contenders/catalog.ts'
import type { ResultFile, Row } from '../harness/results.ts'
import { suiteOf } from '../suites/suites.ts'
import { groupRows, keyOf } from './charts.ts'
import { lossesOf } from './losses.ts'

const REFERENCE = 'pannier'
/** The noise: ratios nearer to 1 say nothing. */
const NOISE = 1.5

export function bodyOf(files: readonly ResultFile[]): string {
  const links = files.map((file) => `<li><a href="#${keyOf(file)}">${nameOf(file)}</a></li>`).join('')
  return `<header>
<h1>Pannier, measured</h1>
<p>Pannier beside other ways to keep documents, each used as its own documentation advises. All did the same work on the same
documents, in turn, each on a fresh database, and gave the right answers; a figure that goes with a wrong answer is not here.</p>
<p>Less is better everywhere. <strong>Trust ratios, not milliseconds</strong>, and no ratio below ${NOISE} from a busy machine.</p>
<nav aria-label="Places"><ul>${links}</ul></nav>
</header>
<main>
${files.map(sectionOf).join('\n')}
${notesOf()}
</main>`
}

function sectionOf(file: ResultFile): string {
  const cells = [...Map.groupBy(file.rows, ({ suite, cell }) => `${suite}\n${cell}`).values()]
  const groups = groupRows(file.rows)
  const parts = cells.map((rows) => cellOf(rows, file, groups))
  const stopped = file.complete
    ? ''
    : '<p class="warning">This run was stopped: the figures are what was measured until then.</p>'
  return `<section aria-labelledby="${keyOf(file)}">
<h2 id="${keyOf(file)}">${nameOf(file)} ${escape(file.environment.engineVersion)}</h2>
${stopped}${environmentOf(file)}
${lossesIn(file)}
${parts.join('\n')}
</section>`
}

function environmentOf({ environment, startedAt, finishedAt, runs }: ResultFile): string {
  const { processor, cores, memoryBytes, system, document, seed, versions, agent } = environment
  const minutes = (Date.parse(finishedAt) - Date.parse(startedAt)) / 60_000
  const repeats = Math.max(0, ...runs.map((run) => run.repeat))
  const facts: readonly [string, string][] = [
    [
      'when',
      `${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${minutes.toFixed(1)} minutes, ${repeats} repeats at most`,
    ],
    ['machine', `${cores} cores, ${processor}, ${formatBytes(memoryBytes)} of memory, ${system}`],
    ['documents', `some ${document.bytes} bytes of JSON each, seed ${seed}`],
    [
      'versions',
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ],
    ['engine', [agent, ...environment.features].join(', with ')],
  ]
  const list = facts.map(([term, text]) => `<dt>${term}</dt><dd>${escape(text)}</dd>`).join('')
  return `<details><summary>Where these figures come from</summary><dl>${list}</dl></details>`
}

/** The losses: readers look for them first, and benchmarks like to leave them out. */
function lossesIn(file: ResultFile): string {
  const losses = lossesOf(file)
  if (losses.length === 0) return '<p>Pannier is first in every row, of what is kept.</p>'
  const lines = losses.map(({ suite, cell, title, contender, times, reason }) => {
    const where = suite === 'standard' ? cell : `${suiteOf(suite).title}, ${cell}`
    const why = reason ?? 'not known'
    return `<tr><th scope="row">${escape(title)}</th><td>${escape(where)}</td><td>${escape(factsOf(contender).title)}</td><td>${formatNumber(times)}</td><td>${escape(why)}</td></tr>`
  })
  return `<details><summary>Where Pannier is not first: ${losses.length} rows</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Where Pannier is not first"><table>
<thead><tr><th scope="col">workload</th><th scope="col">with</th><th scope="col">first is</th><th scope="col">times its value</th><th scope="col">most likely why</th></tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div></details>`
}

function cellOf(rows: readonly Row[], file: ResultFile, groups: readonly Row[][]): string {
  const { suite, cell } = rows[0]!
  const own = groups.flatMap((group, at) =>
    group[0]!.suite === suite && group[0]!.cell === cell ? [{ group, at }] : [],
  )
  const heading = suite === 'standard' ? cell : `${suiteOf(suite).title}: ${cell}`
  const workloads = own.map(({ group, at }) => workloadOf(group, `${keyOf(file)}-${at}`))
  return `<h3>${escape(heading)}</h3>
${overviewOf(own.map(({ group }) => group))}
<details><summary>Every workload, with charts and spread</summary>
${workloads.join('\n')}
</details>`
}

/** A line for each workload, a column for each contender: its value, and by how much it differs from Pannier's. */
function overviewOf(groups: readonly (readonly Row[])[]): string {
  const contenders = CONTENDERS.map(({ name }) => name).filter((name) =>
    groups.some((rows) => rows.some((row) => row.contender === name)),
  )
  const head = contenders.map((name) => `<th scope="col">${escape(factsOf(name).title)}</th>`).join('')
  const lines = groups.map((rows) => {
    const cells = contenders.map((name) => overviewCellOf(rows.find((row) => row.contender === name)))
    const unit = rows[0]!.unit === 'ms' ? 'ms' : ''
    return `<tr><th scope="row">${escape(rows[0]!.title)} <small>${unit}</small></th>${cells.join('')}</tr>`
  })
  return `<p class="note">Median of the repeats; below it how many times Pannier's time or size that is.
<span class="slower">Green: Pannier needs less</span>, <span class="faster">red: Pannier needs more</span>, by ${NOISE} times at least; not
for what is kept in memory only, nor for floors. A dash: no figure; the reason is below, with the charts.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Overview"><table>
<thead><tr><th scope="col">workload</th>${head}</tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div>`
}

function overviewCellOf(row: Row | undefined): string {
  if (row?.median === undefined) return `<td class="none" title="${escape(row?.missing ?? 'not run')}">–</td>`
  const value = format(row.median, row.unit)
  if (row.contender === REFERENCE) return `<td class="own">${value}</td>`
  if (row.ratio === undefined) return `<td>${value}</td>`
  const { median } = row.ratio
  // Floors and memory keep nothing: they are there to be compared with, not to be beaten.
  const side =
    factsOf(row.contender).kind !== 'persistent'
      ? 'alike'
      : median >= NOISE
        ? 'slower'
        : median <= 1 / NOISE
          ? 'faster'
          : 'alike'
  return `<td class="${side}">${value}<small>${formatNumber(median)}×</small></td>`
}

function workloadOf(rows: readonly Row[], id: string): string {
  const { title } = rows[0]!
  const measured = rows.filter((row) => row.median !== undefined).sort((a, b) => a.median! - b.median!)
  const missing = rows.filter((row) => row.median === undefined)
  const lines = measured.map((row) => {
    const { ratio, spread = 0, p95 = 0, samples } = row
    const pairs =
      ratio === undefined
        ? ''
        : `${formatNumber(ratio.median)} (${formatNumber(ratio.least)} to ${formatNumber(ratio.most)})`
    const own = row.contender === REFERENCE ? ' class="own"' : ''
    return `<tr${own}><th scope="row">${escape(factsOf(row.contender).title)}</th><td>${format(row.median!, row.unit)}</td><td>${format(p95, row.unit)}</td><td>${Math.round(spread * 100)}%</td><td>${pairs}</td><td>${samples.length}</td></tr>`
  })
  const left = missing.map((row) => `<li>${escape(factsOf(row.contender).title)}: ${escape(row.missing ?? '')}</li>`)
  return `<h4>${escape(title)}</h4>
${measured.length === 0 ? '' : `<div class="chart"><canvas id="${id}" aria-label="${escape(title)}: the table below has the figures"></canvas></div>`}
<div class="scroll"><table><thead><tr><th scope="col">contender</th><th scope="col">median</th><th scope="col">p95</th><th scope="col">spread</th><th scope="col">times Pannier's</th><th scope="col">repeats</th></tr></thead>
<tbody>${lines.join('')}</tbody></table></div>
${left.length === 0 ? '' : `<ul class="left">${left.join('')}</ul>`}`
}

function notesOf(): string {
  const contenders = CONTENDERS.map(
    ({ title, documentation }) => `<li>${escape(title)}: ${escape(documentation)}</li>`,
  ).join('')
  return `<section aria-labelledby="notes"><h2 id="notes">Notes</h2>
<ul>
<li><em>Cold</em>: the first thing of its kind that a fresh browser or process does; the operating system has the files cached.</li>
<li><em>Spread</em>: from the least to the greatest sample, by the median. In charts: the line over the bar.</li>
<li>A dash: there is no figure; the list below the chart says why.</li>
<li><em>Floor</em>: what storing and reading the same JSON costs at least. It is no database.</li>
<li>RxDB remembers the results of queries that it has just answered: its warm counts and finds are from memory.</li>
<li>Bytes on disk: what files occupy. In Chromium and Firefox Pannier keeps a reserve of 32 MiB to go on when the quota is reached: a file without
content, which occupies nothing but counts against the quota.</li>
<li>SQLite WASM runs in a worker, where alone it can use OPFS: its times include the way there and back.</li>
</ul>
<h3>What each contender follows</h3><ul>${contenders}</ul>
</section>`
}

function nameOf({ place, name, environment: { features } }: ResultFile): string {
  const engine = { node: 'Node', chromium: 'Chromium', firefox: 'Firefox', webkit: 'WebKit' }[place]
  const whole = features.length === 0 ? engine : `${engine} with ${features.join(', ')}`
  return escape(name === undefined ? whole : `${whole}: ${name}`)
}

function format(value: number, unit: Row['unit']): string {
  return unit === 'bytes' ? formatBytes(value) : formatNumber(value)
}

function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return new Intl.NumberFormat('en-US', { maximumSignificantDigits: value >= 10 ? 3 : 2 }).format(value)
}

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const [divisor, unit] = bytes >= 2 ** 30 ? [2 ** 30, 'GiB'] : bytes >= 2 ** 20 ? [2 ** 20, 'MiB'] : [1024, 'KiB']
  return `${formatNumber(bytes / Number(divisor))} ${unit}`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
