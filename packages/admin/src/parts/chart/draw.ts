/** ECharts with what the page needs of it. Its tooltips are drawn, as the policy of the page allows no markup with styles. */
import { BarChart, LineChart } from 'echarts/charts'
import { GridComponent, TooltipComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import type { EChartsCoreOption } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { pixelsOf } from '../../state/theme.ts'

/** One line, or one part of each bar. */
export interface Series {
  readonly name: string
  /** A variable of the style sheet: `accent`. */
  readonly color: string
  /** Milliseconds since 1970, or the place in `labels`; and the value there. Null is a gap. */
  readonly points: readonly (readonly [number, number | null])[]
}

export interface ChartData {
  /** Bars stand on each other. */
  readonly kind: 'bars' | 'lines'
  readonly series: readonly Series[]
  /** Names of the points, in place of times. */
  readonly labels?: readonly string[]
  /** The values are counts: the axis has no fractions. */
  readonly isCount?: boolean
  /** The format of values, as `bytesText`. */
  readonly format: (value: number) => string
  /** The ends of the axis in milliseconds since 1970; those of the points when left out. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface MountedChart {
  draw(data: ChartData): void
  /** The time at a place, in pixels from the left of the chart. */
  timeAt(x: number): number
  /** Shows the values at a place. */
  point(x: number): void
  destroy(): void
}

use([BarChart, LineChart, GridComponent, TooltipComponent, CanvasRenderer])

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const FONT_REM = 0.7

export function mount(host: HTMLElement): MountedChart {
  const chart = init(host)
  const resizing = new ResizeObserver(() => chart.resize())
  resizing.observe(host)
  return {
    draw: (data) => chart.setOption(optionsOf(host, data), { notMerge: true }),
    timeAt: (x) => Number(chart.convertFromPixel({ xAxisIndex: 0 }, x)),
    point: (x) => chart.dispatchAction({ type: 'showTip', x, y: host.clientHeight / 2 }),
    destroy: () => {
      resizing.disconnect()
      chart.dispose()
    },
  }
}

function optionsOf(
  host: HTMLElement,
  { kind, series, format, labels, isCount = false, from, to }: ChartData,
): EChartsCoreOption {
  const color = (name: string): string => colorOf(host, name)
  const text = { color: color('muted'), fontSize: pixelsOf(FONT_REM), fontFamily: getComputedStyle(host).fontFamily }
  return {
    animation: false,
    textStyle: text,
    grid: { left: 8, right: 12, top: 10, bottom: 4, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    tooltip: {
      trigger: 'axis',
      renderMode: 'richText',
      confine: true,
      backgroundColor: color('raised'),
      borderColor: color('line'),
      textStyle: { ...text, color: color('ink') },
      formatter: (found: unknown) => tooltip(found as readonly TooltipPoint[], format, labels),
    },
    xAxis: {
      ...(labels === undefined ? { type: 'time', min: from, max: to } : { type: 'category', data: labels }),
      axisLine: { lineStyle: { color: color('line') } },
      axisTick: { show: false },
      axisLabel: { ...text, hideOverlap: true },
      splitLine: { show: false },
    },
    yAxis: {
      type: 'value',
      min: series.some(({ points }) => points.some(([, value]) => value !== null && value < 0)) ? undefined : 0,
      minInterval: isCount ? 1 : undefined,
      splitNumber: 3,
      axisLabel: { ...text, formatter: format },
      splitLine: { lineStyle: { color: color('line') } },
    },
    series: series.map((one) => seriesOf(one, kind, color(one.color))),
  }
}

function seriesOf({ name, points }: Series, kind: ChartData['kind'], color: string): object {
  const shared = { name, data: points, itemStyle: { color } }
  if (kind === 'bars') return { ...shared, type: 'bar', stack: 'all', barMaxWidth: 28, barMinWidth: 2 }
  return { ...shared, type: 'line', showSymbol: points.length < 2, lineStyle: { color, width: 2 }, symbolSize: 5 }
}

interface TooltipPoint {
  readonly seriesName: string
  readonly value: readonly [time: number, value: number | null]
}

function tooltip(found: readonly TooltipPoint[], format: ChartData['format'], labels: ChartData['labels']): string {
  const [first] = found
  if (first === undefined) return ''
  const lines = found.map(
    ({ seriesName, value: [, value] }) => `${seriesName}: ${value === null ? '–' : format(value)}`,
  )
  return [labels?.[first.value[0]] ?? TIME.format(first.value[0]), ...lines].join('\n')
}

/** A variable has the text of both themes; what an element gets of it has one colour. */
function colorOf(host: HTMLElement, name: string): string {
  host.style.color = `var(--${name})`
  const { color } = getComputedStyle(host)
  host.style.color = ''
  return color
}
