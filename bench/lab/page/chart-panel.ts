/** The charts of one result: the choices, the drawing, and the same figures as a table. */
import type { ResultFile, Row } from '../../harness/results.ts'
import { SUITES } from '../../suites/suites.ts'
import {
  barsOf,
  cellsIn,
  contendersIn,
  fixedOf,
  gridOf,
  linesOf,
  metricsIn,
  overviewOf,
  PARAMETER_TITLES,
  parametersIn,
  suitesIn,
  titleOf,
} from '../model/chart-data.ts'
import type { Grid, Parameter } from '../model/chart-data.ts'
import { byId, create, setText } from '../../../tools/web/dom.ts'
import { chip, setOptions, table } from './dom.ts'
import { Drawing, loadSurfaces } from './draw.ts'
import { formatRatio, formatValue } from './format.ts'
import { barOptions, heatOptions, lineOptions, surfaceOptions } from './options.ts'
import type { Measure } from './options.ts'
import { onThemeChange, readTheme } from './theme.ts'

const KINDS = [
  ['overview', 'Overview'],
  ['bars', 'Bars'],
  ['lines', 'Lines'],
  ['heat', 'Heat map'],
  ['surface', 'Surface'],
] as const
type ChartKind = (typeof KINDS)[number][0]

const BAR_PX = 34
const ROW_PX = 34
const ROWS_NAMED_MAX = 3

const suite = byId<HTMLSelectElement>('chart-suite')
const metric = byId<HTMLSelectElement>('chart-metric')
const cell = byId<HTMLSelectElement>('chart-cell')
const parameter = byId<HTMLSelectElement>('chart-parameter')
const pair = byId<HTMLSelectElement>('chart-pair')
const contender = byId<HTMLSelectElement>('chart-contender')

/** The choices that each kind needs. */
const CHOICES: Readonly<Record<ChartKind, readonly HTMLSelectElement[]>> = {
  overview: [suite, cell],
  bars: [suite, metric, cell],
  lines: [suite, metric, parameter],
  heat: [suite, metric, pair, contender],
  surface: [suite, metric, pair, contender],
}

export class ChartPanel {
  readonly #drawing = new Drawing(byId('chart'))
  #file: ResultFile | undefined
  #kind: ChartKind = 'overview'

  constructor() {
    const kinds = KINDS.map(([value, text]) =>
      chip('radio', { name: 'kind', value, text, checked: value === this.#kind }),
    )
    byId('kinds').append(...kinds)
    byId('kinds').addEventListener('input', (event) => {
      this.#kind = (event.target as HTMLInputElement).value as ChartKind
      this.#draw()
    })
    for (const select of new Set(Object.values(CHOICES).flat())) select.addEventListener('input', () => this.#draw())
    for (const button of byId('turn').querySelectorAll('button')) {
      button.addEventListener('click', () =>
        this.#drawing.rotate(Number(button.dataset['alpha']), Number(button.dataset['beta'])),
      )
    }
    onThemeChange(() => this.#draw())
    let widthPx = innerWidth
    addEventListener('resize', () => {
      if (innerWidth !== widthPx) this.#draw()
      widthPx = innerWidth
    })
  }

  show(file: ResultFile | undefined): void {
    this.#file = file
    this.#draw()
  }

  #draw(): void {
    const file = this.#file
    const isEmpty = file === undefined || file.rows.every((row) => row.median === undefined)
    byId('empty').hidden = !isEmpty
    byId('charts').hidden = isEmpty
    if (isEmpty) return
    this.#offer(file)
    byId('turn').hidden = true
    setText(byId('chart-note'), '')
    byId('chart-missing').replaceChildren()
    if (this.#kind === 'overview') this.#drawOverview(file)
    else if (this.#kind === 'bars') this.#drawBars(file)
    else if (this.#kind === 'lines') this.#drawLines(file)
    else this.#drawGrid(file, this.#kind)
  }

  /** Only what is in the file can be chosen, and only what the kind of chart needs. */
  #offer(file: ResultFile): void {
    setOptions(
      suite,
      suitesIn(file).map((name) => [name, SUITES.find((one) => one.name === name)?.title ?? name]),
    )
    setOptions(
      metric,
      metricsIn(file, suite.value).map((one) => [one.metric, one.title]),
    )
    const hadCell = cell.options.length > 0
    setOptions(
      cell,
      cellsIn(file, suite.value).map((label) => [label, label]),
    )
    // The largest size says most.
    if (!hadCell) cell.selectedIndex = cell.options.length - 1
    setOptions(
      contender,
      contendersIn(file, suite.value).map((name) => [name, titleOf(name)]),
    )
    const parameters = parametersIn(file, suite.value)
    setOptions(
      parameter,
      parameters.map((name) => [name, PARAMETER_TITLES[name]]),
    )
    setOptions(
      pair,
      pairsOf(parameters).map((names) => [names.join(' '), names.map((name) => PARAMETER_TITLES[name]).join(' × ')]),
    )
    const shown = CHOICES[this.#kind]
    for (const select of new Set(Object.values(CHOICES).flat())) {
      select.parentElement!.hidden = !shown.includes(select) || (select !== metric && select.options.length < 2)
    }
  }

  #drawOverview(file: ResultFile): void {
    const grid = overviewOf(file, suite.value, cell.value)
    const title = `How many times Pannier’s value, ${cell.value}`
    if (grid.values.flat().every((value) => value === undefined)) {
      return this.#without(title, 'The overview compares others with Pannier: it fills in when both are measured.')
    }
    const heightPx = grid.yLabels.length * ROW_PX + 140
    this.#drawing.draw(heatOptions(grid, 'ratio', this.#look()), {
      heightPx,
      description: `${title}. ${this.#tableHint}`,
    })
    this.#title(title)
    setText(
      byId('chart-note'),
      'Above 1: the contender takes longer, or more bytes. Medians of ratios taken pair by pair within a repeat.',
    )
    this.#missing(reasonsOf(grid))
    this.#table(gridTable(grid, 'ratio', title))
  }

  #drawBars(file: ResultFile): void {
    const { bars, unit, missing } = barsOf(file, suite.value, cell.value, metric.value)
    const title = `${metricTitle()}, ${cell.value}`
    const options = barOptions({ bars, unit, missing }, this.#look())
    this.#drawing.draw(options, { heightPx: bars.length * BAR_PX + 52, description: `${title}. ${this.#tableHint}` })
    this.#title(title)
    setText(
      byId('chart-note'),
      'Bars are medians; lines go from the least to the most of the samples; the number in brackets, where there is room for it, is how many times Pannier’s value it is.',
    )
    this.#missing(missing.map(({ label, reason }) => `${label}: ${reason}`))
    const rows = bars.map(({ label, median, least, most, ratio }) => [
      label,
      formatValue(median, unit),
      formatValue(least, unit),
      formatValue(most, unit),
      ratio === undefined ? '–' : formatRatio(ratio),
    ])
    this.#table(table(['Contender', 'Median', 'Least', 'Most', 'Times Pannier'], rows, title))
  }

  #drawLines(file: ResultFile): void {
    const over = parameter.value as Parameter
    const title = withFixed(`${metricTitle()} over ${PARAMETER_TITLES[over] ?? 'size'}`, file, suite.value, [over])
    const lines = parameter.options.length === 0 ? [] : linesOf(file, suite.value, metric.value, over)
    if (lines.length === 0) {
      return this.#without(title, 'This result has one size only. Choose several sizes in a run to see how time grows.')
    }
    const unit = unitOf(file, metric.value)
    const options = lineOptions(lines, { xTitle: PARAMETER_TITLES[over], unit }, this.#look())
    this.#drawing.draw(options, { heightPx: 440, description: `${title}. ${this.#tableHint}` })
    this.#title(title)
    setText(byId('chart-note'), 'Points are medians, lines across them go from the least to the most of the samples.')
    const xs = [...new Set(lines.flatMap((line) => line.points.map((point) => point.x)))].sort((a, b) => a - b)
    const rows = lines.map(({ label, points }) => [
      label,
      ...xs
        .map((x) => points.find((point) => point.x === x)?.median)
        .map((value) => (value === undefined ? '–' : formatValue(value, unit))),
    ])
    this.#table(table(['Contender', ...xs.map((x) => x.toLocaleString('en-US'))], rows, title))
  }

  #drawGrid(file: ResultFile, kind: 'heat' | 'surface'): void {
    const axes = pair.value.split(' ') as [Parameter, Parameter]
    if (pair.options.length === 0) {
      return this.#without(
        metricTitle(),
        'This needs two sizes that vary. Run indexed-db-perf with several numbers of records and sizes of values.',
      )
    }
    const grid = gridOf(file, suite.value, metric.value, contender.value, axes)
    const unit = unitOf(file, metric.value)
    const title = withFixed(`${titleOf(contender.value)}: ${metricTitle()}`, file, suite.value, axes)
    if (grid.values.flat().every((value) => value === undefined)) {
      return this.#without(title, `There is no figure: ${reasonsOf(grid)[0] ?? 'not measured'}.`)
    }
    this.#title(title)
    this.#missing(reasonsOf(grid))
    this.#table(gridTable(grid, { unit }, title))
    const description = `${title}. ${this.#tableHint}`
    if (kind === 'heat') {
      const heightPx = grid.yLabels.length * 56 + 120
      this.#drawing.draw(heatOptions(grid, { unit }, this.#look()), { heightPx, description })
      return
    }
    void loadSurfaces().then((can) => {
      if (this.#kind !== kind || file !== this.#file) return
      if (!can)
        return this.#without(title, 'This browser has no WebGL for a surface; the heat map shows the same figures.')
      byId('turn').hidden = false
      this.#drawing.draw(surfaceOptions(grid, { unit }, this.#look()), { heightPx: 460, description })
    })
  }

  readonly #tableHint = 'The figures are in the table below.'

  #look(): Parameters<typeof barOptions>[1] {
    return { theme: readTheme(), widthPx: this.#drawing.widthPx }
  }

  #title(text: string): void {
    setText(byId('chart-title'), text[0]!.toUpperCase() + text.slice(1))
    byId('chart').hidden = false
    byId('figures').hidden = false
  }

  /** Nothing to draw, and why. */
  #without(title: string, reason: string): void {
    this.#title(title || 'Nothing to draw')
    this.#drawing.clear()
    byId('chart').hidden = true
    byId('figures').hidden = true
    setText(byId('chart-note'), reason)
  }

  #missing(lines: readonly string[]): void {
    byId('chart-missing').replaceChildren(...[...new Set(lines)].map((line) => create('li', {}, line)))
  }

  #table(made: HTMLTableElement): void {
    byId('chart-table').replaceChildren(made)
  }
}

function withFixed(title: string, file: ResultFile, suiteName: string, varied: readonly Parameter[]): string {
  const fixed = fixedOf(file, suiteName, varied)
  return fixed === '' ? title : `${title}, with ${fixed}`
}

function metricTitle(): string {
  return metric.selectedOptions[0]?.textContent ?? ''
}

function unitOf({ rows }: ResultFile, name: string): Row['unit'] {
  return rows.find((row) => row.metric === name)?.unit ?? 'ms'
}

function pairsOf(parameters: readonly Parameter[]): (readonly [Parameter, Parameter])[] {
  return parameters.flatMap((first, at) => parameters.slice(at + 1).map((second) => [first, second] as const))
}

/** Each reason once, with the rows that it is for, or how many they are. */
function reasonsOf({ xLabels, yLabels, yTitle, reasons }: Grid): string[] {
  const found = reasons.flatMap((row, y) =>
    row.flatMap((reason, x) => (reason === undefined ? [] : [{ reason, x: xLabels[x]!, y: yLabels[y]! }])),
  )
  const groups = Map.groupBy(found, ({ reason, x }) => `${x}: ${reason}`)
  return [...groups].map(([text, group]) => {
    if (group.length === yLabels.length) return text
    const many = group.length > ROWS_NAMED_MAX
    return `${text} (${many ? `${group.length} of ${yLabels.length}` : group.map(({ y }) => (yTitle === 'workload' ? y : `${y} ${yTitle}`)).join('; ')})`
  })
}

function gridTable(grid: Grid, measure: Measure, caption: string): HTMLTableElement {
  const format = (value: number | undefined): string =>
    value === undefined ? '–' : measure === 'ratio' ? formatRatio(value) : formatValue(value, measure.unit)
  const rows = grid.values.map((row, y) => [grid.yLabels[y]!, ...row.map(format)])
  return table([`${grid.yTitle} \\ ${grid.xTitle}`, ...grid.xLabels], rows, caption)
}
