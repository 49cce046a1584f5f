/** Drawings as options of ECharts: plain data made from plain data. */
import type { EChartsCoreOption } from 'echarts/core'
import type { Bars, Grid, Line } from '../model/chart-data.ts'
import type { Row } from '../../harness/results.ts'
import { formatRatio, formatValue } from './format.ts'
import type { Theme } from './theme.ts'

/** The longest bar by the shortest, from which on a linear scale hides the short ones. */
const LOGARITHMIC_FROM = 20
const NARROW_PX = 520
/** Narrower columns have their names at a slant. */
const COLUMN_PX_MIN = 66
/** Steps that a reader can distinguish, as multiples of Pannier's value; the last has no upper limit. */
export const RATIO_STEPS: readonly number[] = [0.67, 1.5, 5, 20]

interface Frame {
  readonly theme: Theme
  readonly widthPx: number
}

export function barOptions({ bars, unit }: Bars, { theme, widthPx }: Frame): EChartsCoreOption {
  const isNarrow = widthPx < NARROW_PX
  const isLogarithmic = needsLogarithm(bars.map((bar) => bar.median))
  const data = bars.map(({ median, kind }) => ({ value: median, itemStyle: { color: theme.kinds[kind] } }))
  return {
    ...base(theme),
    grid: { left: isNarrow ? 112 : 190, right: isNarrow ? 64 : 130, top: 8, bottom: 40 },
    xAxis: {
      ...valueAxis(theme, unit, isLogarithmic, widthPx),
      ...(isLogarithmic && { min: floorOf(bars), startValue: floorOf(bars) }),
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: bars.map((bar) => bar.label),
      axisTick: { show: false },
      axisLine: { show: false },
      axisLabel: { color: theme.ink, fontSize: isNarrow ? 12 : 13, width: isNarrow ? 104 : 180, overflow: 'break' },
    },
    tooltip: {
      ...tooltip(theme),
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: describeBar(bars, unit),
    },
    series: [
      {
        type: 'bar',
        data,
        barMaxWidth: 20,
        itemStyle: { borderRadius: [0, 4, 4, 0] },
      },
      {
        type: 'custom',
        silent: true,
        z: 5,
        // So that the axis has room for all of it.
        encode: { x: [0, 2], y: 1 },
        renderItem: spreadOfBars(bars, unit, theme, isNarrow),
        data: bars.map(({ least, most }, at) => [least, at, most]),
      },
    ],
  }
}

export function lineOptions(
  lines: readonly Line[],
  { xTitle, unit }: { readonly xTitle: string; readonly unit: Row['unit'] },
  { theme, widthPx }: Frame,
): EChartsCoreOption {
  const points = lines.flatMap((line) => line.points)
  const xs = points.map((point) => point.x)
  const isLogarithmic = needsLogarithm(points.map((point) => point.median))
  const colours = lines.map(({ kind }, at) =>
    kind === 'pannier' ? theme.accent : theme.series[at % theme.series.length]!,
  )
  return {
    ...base(theme),
    color: colours,
    legend: {
      bottom: 0,
      icon: 'roundRect',
      itemWidth: 14,
      itemHeight: 4,
      textStyle: { color: theme.ink },
      type: 'scroll',
      pageTextStyle: { color: theme.muted },
    },
    grid: { left: 16, right: 20, top: 30, bottom: 64, containLabel: true },
    xAxis: {
      ...valueAxis(theme, 'ms', needsLogarithm(xs), widthPx),
      name: xTitle,
      min: 'dataMin',
      max: 'dataMax',
      axisLabel: { color: theme.muted, formatter: (value: number) => value.toLocaleString('en-US'), hideOverlap: true },
    },
    yAxis: {
      ...valueAxis(theme, unit, isLogarithmic, widthPx),
      nameGap: 14,
      nameLocation: 'end',
      nameTextStyle: { color: theme.muted, align: 'left' },
    },
    tooltip: { ...tooltip(theme), trigger: 'item', formatter: describePoint(lines, unit, xTitle) },
    series: lines.flatMap((line, at) => [
      {
        type: 'line',
        name: line.label,
        data: line.points.map(({ x, median }) => [x, median]),
        symbol: SYMBOLS[at % SYMBOLS.length],
        symbolSize: 9,
        lineStyle: { width: line.kind === 'pannier' ? 4 : 2, type: line.kind === 'floor' ? 'dashed' : 'solid' },
        z: line.kind === 'pannier' ? 4 : 3,
        emphasis: { focus: 'series' },
      },
      {
        type: 'custom',
        name: line.label,
        silent: true,
        encode: { x: 0, y: [1, 2] },
        renderItem: spreadOfPoints(colours[at]!),
        data: line.points.map(({ x, least, most }) => [x, least, most]),
      },
    ]),
  }
}

export type Measure = { readonly unit: Row['unit'] } | 'ratio'

export function heatOptions(grid: Grid, measure: Measure, { theme, widthPx }: Frame): EChartsCoreOption {
  const isNarrow = widthPx < NARROW_PX
  const isOverview = measure === 'ratio'
  const cells = grid.values.flatMap((row, y) =>
    row.flatMap((value, x) =>
      value === undefined
        ? []
        : [
            {
              value: [x, y, value],
              label: { formatter: isNarrow && isOverview ? shortRatio(value) : format(value, measure) },
            },
          ],
    ),
  )
  const gaps = grid.values.flatMap((row, y) => row.flatMap((value, x) => (value === undefined ? [[x, y]] : [])))
  const leftPx = isOverview ? (isNarrow ? 104 : 210) : 76
  const columnPx = (widthPx - leftPx - 12) / grid.xLabels.length
  const rotates = isOverview && columnPx < COLUMN_PX_MIN
  return {
    ...base(theme),
    grid: { left: leftPx, right: 12, top: isOverview ? (rotates ? 96 : 52) : 12, bottom: isOverview ? 44 : 100 },
    xAxis: {
      ...categoryAxis(theme, grid.xLabels, isOverview ? '' : grid.xTitle),
      ...(isOverview && { position: 'top' }),
      axisLabel: {
        color: theme.ink,
        fontSize: isNarrow ? 11 : 12,
        interval: 0,
        ...(rotates ? { rotate: 60, width: 96, overflow: 'truncate' } : { width: columnPx - 6, overflow: 'break' }),
      },
    },
    yAxis: {
      ...categoryAxis(theme, grid.yLabels, isOverview ? '' : grid.yTitle),
      inverse: isOverview,
      nameGap: 60,
      axisLabel: { color: theme.ink, fontSize: isNarrow ? 11 : 12, width: leftPx - 10, overflow: 'break', interval: 0 },
    },
    visualMap: isOverview ? ratioColours(theme, isNarrow) : valueColours(theme, grid, measure, isNarrow),
    tooltip: { ...tooltip(theme), trigger: 'item', formatter: describeCell(grid, measure) },
    series: [
      {
        type: 'heatmap',
        data: cells,
        label: { show: true, fontSize: isNarrow ? 10 : 12, color: theme.ink },
        itemStyle: { borderColor: theme.surface, borderWidth: 2, borderRadius: 4 },
        emphasis: { itemStyle: { borderColor: theme.ink, borderWidth: 2 } },
      },
      { type: 'custom', data: gaps, renderItem: gapMark(theme) },
    ],
  }
}

export function surfaceOptions(grid: Grid, measure: Measure, { theme, widthPx }: Frame): EChartsCoreOption {
  const points = grid.values.flatMap((row, y) => row.map((value, x) => [x, y, value ?? Number.NaN]))
  const axis = (name: string, labels: readonly string[]): object => ({
    type: 'value',
    name,
    min: 0,
    max: labels.length - 1,
    interval: 1,
    minInterval: 1,
    nameGap: 28,
    axisLabel: { formatter: (at: number) => labels[at] ?? '', margin: 8 },
  })
  const zUnit = measure === 'ratio' ? 'ms' : measure.unit
  return {
    ...base(theme),
    tooltip: { ...tooltip(theme), formatter: describeCell(grid, measure) },
    visualMap: {
      ...valueColours(theme, grid, measure, widthPx < NARROW_PX),
      bottom: undefined,
      top: 4,
      inRange: { color: [theme.ramp[2], theme.ramp[4], theme.accent] },
    },
    xAxis3D: axis(grid.xTitle, grid.xLabels),
    yAxis3D: axis(grid.yTitle, grid.yLabels),
    zAxis3D: {
      type: 'value',
      name: '',
      axisLabel: { formatter: (value: number) => formatValue(value, zUnit), margin: 14 },
    },
    grid3D: {
      boxWidth: 120,
      boxDepth: 120,
      boxHeight: 76,
      top: 0,
      bottom: 24,
      axisLine: { lineStyle: { color: theme.muted } },
      splitLine: { lineStyle: { color: theme.line } },
      axisPointer: { lineStyle: { color: theme.muted } },
      axisLabel: { color: theme.ink },
      axisTick: { lineStyle: { color: theme.line } },
      nameTextStyle: { color: theme.muted, fontSize: 13 },
      viewControl: {
        distance: widthPx < NARROW_PX ? 330 : 225,
        alpha: 22,
        beta: 30,
        animation: theme.moves,
      },
    },
    series: [
      {
        type: 'surface',
        data: points,
        dataShape: [grid.yLabels.length, grid.xLabels.length],
        shading: 'color',
        wireframe: { show: true, lineStyle: { color: theme.ink, width: 1, opacity: 0.35 } },
      },
    ],
  }
}

function base(theme: Theme): EChartsCoreOption {
  return {
    animation: theme.moves,
    animationDuration: 300,
    animationDurationUpdate: 300,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: theme.font, color: theme.ink },
  }
}

/** Drawn, not HTML: text of a file stays text, and no style is needed that the page's policy forbids. */
function tooltip(theme: Theme): object {
  return {
    renderMode: 'richText',
    confine: true,
    backgroundColor: theme.surface,
    borderColor: theme.line,
    textStyle: { color: theme.ink, fontFamily: theme.font, fontSize: 13 },
    axisPointer: { type: 'shadow' },
  }
}

function valueAxis(theme: Theme, unit: Row['unit'], isLogarithmic: boolean, widthPx: number): object {
  return {
    type: isLogarithmic ? 'log' : 'value',
    name: `${unit === 'ms' ? 'time' : 'bytes'}${isLogarithmic ? ', logarithmic' : ''}; less is better`,
    nameLocation: 'middle',
    nameGap: 26,
    nameTextStyle: { color: theme.muted },
    splitNumber: widthPx < NARROW_PX ? 2 : 6,
    axisLabel: { color: theme.muted, formatter: (value: number) => formatValue(value, unit), hideOverlap: true },
    splitLine: { lineStyle: { color: theme.line } },
    axisLine: { show: false },
  }
}

function categoryAxis(theme: Theme, labels: readonly string[], name: string): object {
  return {
    type: 'category',
    data: labels,
    name,
    nameLocation: 'middle',
    nameGap: 30,
    nameTextStyle: { color: theme.muted },
    axisTick: { show: false },
    axisLine: { show: false },
  }
}

function ratioColours(theme: Theme, isNarrow: boolean): object {
  const [low, even, some, much] = RATIO_STEPS as readonly [number, number, number, number]
  return {
    type: 'piecewise',
    dimension: 2,
    orient: 'horizontal',
    left: 'center',
    bottom: 0,
    itemSymbol: 'roundRect',
    itemGap: isNarrow ? 5 : 12,
    itemWidth: isNarrow ? 10 : 18,
    seriesIndex: 0,
    textStyle: { color: theme.muted, fontSize: isNarrow ? 10 : 12 },
    pieces: [
      { lt: low, color: theme.ramp[0], label: isNarrow ? 'less' : 'less than Pannier' },
      { gte: low, lt: even, color: theme.ramp[1], label: isNarrow ? 'even' : 'about even' },
      { gte: even, lt: some, color: theme.ramp[2], label: `${even}–${some}×` },
      { gte: some, lt: much, color: theme.ramp[3], label: `${some}–${much}×` },
      { gte: much, color: theme.ramp[4], label: `over ${much}×` },
    ],
    outOfRange: { color: theme.line },
  }
}

function valueColours(theme: Theme, grid: Grid, measure: Measure, isNarrow: boolean): object {
  const values = grid.values.flat().filter((value) => value !== undefined)
  return {
    type: 'continuous',
    seriesIndex: 0,
    dimension: 2,
    min: Math.min(...values),
    max: Math.max(...values),
    calculable: true,
    orient: 'horizontal',
    left: 'center',
    bottom: 4,
    itemHeight: isNarrow ? 120 : 220,
    textStyle: { color: theme.muted },
    formatter: (value: number) => format(value, measure),
    inRange: { color: theme.ramp.slice(1) },
    outOfRange: { color: theme.line },
  }
}

function needsLogarithm(values: readonly number[]): boolean {
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > LOGARITHMIC_FROM
}

/** For a cell as wide as four digits. */
function shortRatio(ratio: number): string {
  if (ratio < 0.1) return '<0.1'
  return ratio.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 2 })
}

function format(value: number, measure: Measure): string {
  return measure === 'ratio' ? formatRatio(value) : formatValue(value, measure.unit)
}

const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond', 'roundRect', 'pin']

interface Hit {
  readonly dataIndex: number
  readonly seriesName?: string
  readonly value?: readonly unknown[]
}

function describeBar(bars: Bars['bars'], unit: Row['unit']): (hits: readonly Hit[]) => string {
  return ([hit]) => {
    const { label, median, least, most, ratio } = bars[hit!.dataIndex]!
    const range = `${formatValue(least, unit)} to ${formatValue(most, unit)}`
    const times = ratio === undefined ? '' : `\n${formatRatio(ratio)} Pannier, pair by pair`
    return `${label}\nmedian ${formatValue(median, unit)}\nfrom ${range}${times}`
  }
}

function describePoint(lines: readonly Line[], unit: Row['unit'], xTitle: string): (hit: Hit) => string {
  return ({ seriesName, dataIndex }) => {
    const point = lines.find((line) => line.label === seriesName)?.points[dataIndex]
    if (point === undefined) return ''
    const range = `${formatValue(point.least, unit)} to ${formatValue(point.most, unit)}`
    return `${seriesName}\n${point.x.toLocaleString('en-US')} ${xTitle}\nmedian ${formatValue(point.median, unit)}\nfrom ${range}`
  }
}

function describeCell(grid: Grid, measure: Measure): (hit: Hit) => string {
  return ({ value = [] }) => {
    const [x, y] = value as readonly number[]
    const found = grid.values[y!]?.[x!]
    const what = found === undefined ? (grid.reasons[y!]?.[x!] ?? 'no figure') : format(found, measure)
    return `${grid.yTitle}: ${grid.yLabels[y!]}\n${grid.xTitle}: ${grid.xLabels[x!]}\n${what}`
  }
}

interface DrawApi {
  value(dimension: number): number
  coord(point: readonly number[]): [number, number]
  size(range: readonly number[]): [number, number]
}

/** A line from the least to the most of the samples, with ends, and the figure behind it. */
function spreadOfBars(
  bars: Bars['bars'],
  unit: Row['unit'],
  theme: Theme,
  isNarrow: boolean,
): (parameters: { readonly dataIndex: number }, api: DrawApi) => object {
  return ({ dataIndex }, api) => {
    const { median, ratio, kind } = bars[dataIndex]!
    const [from, y] = api.coord([api.value(0), api.value(1)])
    const [to] = api.coord([api.value(2), api.value(1)])
    const value = formatValue(median, unit)
    const label = isNarrow || ratio === undefined || kind === 'pannier' ? value : `${value}  (${formatRatio(ratio)})`
    const drawn = whisker(theme.ink, [
      [from, y - 4, from, y + 4],
      [from, y, to, y],
      [to, y - 4, to, y + 4],
    ])
    const weight = kind === 'pannier' ? 'bold ' : ''
    const style = {
      x: to + 8,
      y,
      text: label,
      fill: theme.ink,
      font: `${weight}12px ${theme.font}`,
      verticalAlign: 'middle',
    }
    return { ...drawn, children: [...drawn.children, { type: 'text', style }] }
  }
}

/** Start of a logarithmic axis, chosen so that all bars have some length. */
function floorOf(bars: Bars['bars']): number {
  const least = Math.min(...bars.map((bar) => bar.least).filter((value) => value > 0))
  return 10 ** Math.floor(Math.log10(least * 0.9))
}

/** The mark of a gap: a figure is missing, and the tooltip gives the reason. */
function gapMark(theme: Theme): (parameters: unknown, api: DrawApi) => object {
  return (_parameters, api) => {
    const [x, y] = api.coord([api.value(0), api.value(1)])
    const [width, height] = api.size([1, 1])
    const shape = { x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2, r: 4 }
    return {
      type: 'group',
      children: [
        { type: 'rect', shape, style: { fill: 'transparent', stroke: theme.line, lineWidth: 1 } },
        {
          type: 'text',
          silent: true,
          style: {
            x,
            y,
            text: '–',
            fill: theme.muted,
            font: `12px ${theme.font}`,
            align: 'center',
            verticalAlign: 'middle',
          },
        },
      ],
    }
  }
}

function spreadOfPoints(colour: string): (parameters: unknown, api: DrawApi) => object {
  return (_parameters, api) => {
    const [x, from] = api.coord([api.value(0), api.value(1)])
    const [, to] = api.coord([api.value(0), api.value(2)])
    return whisker(colour, [
      [x - 4, from, x + 4, from],
      [x, from, x, to],
      [x - 4, to, x + 4, to],
    ])
  }
}

function whisker(
  stroke: string,
  lines: readonly (readonly [number, number, number, number])[],
): { readonly type: 'group'; readonly children: readonly object[] } {
  return {
    type: 'group',
    children: lines.map(([x1, y1, x2, y2]) => ({
      type: 'line',
      shape: { x1, y1, x2, y2 },
      style: { stroke, lineWidth: 1.5, opacity: 0.75 },
    })),
  }
}
