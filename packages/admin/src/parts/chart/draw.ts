/** Chart.js with what the page needs of it. Its tooltips are drawn, as the policy of the page allows no markup with styles. */
import {
  BarController,
  BarElement,
  Chart,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
} from 'chart.js'
import type { ChartDataset, ChartOptions, Scale } from 'chart.js'
import { timeTicks } from 'd3-time'
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

interface Point {
  readonly x: number
  readonly y: number | null
}

type Kind = 'bar' | 'line'

Chart.register(BarController, BarElement, LinearScale, LineController, LineElement, PointElement, Tooltip)

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const FONT_REM = 0.7
const BAR_PX_MAX = 28
/** The room of a label of the time axis. */
const LABEL_PX = 80

export function mount(host: HTMLElement): MountedChart {
  const canvas = host.appendChild(document.createElement('canvas'))
  let chart: Chart<Kind, Point[]> | undefined
  return {
    draw: (data) => {
      chart?.destroy()
      chart = new Chart<Kind, Point[]>(canvas, {
        type: data.kind === 'bars' ? 'bar' : 'line',
        data: { datasets: data.series.map((one) => datasetOf(one, data.kind, colorOf(host, one.color))) },
        options: optionsOf(host, data),
      })
    },
    timeAt: (x) => chart?.scales['x']?.getValueForPixel(x) ?? 0,
    point: (x) => {
      if (chart === undefined) return
      const place = { x, y: host.clientHeight / 2 }
      // Chart.js takes events of its own, too. Of these it reads the place alone.
      const event = { ...place, native: null } as unknown as Event
      const found = chart.getElementsAtEventForMode(event, 'index', { intersect: false }, false)
      chart.tooltip?.setActiveElements(found, place)
      chart.update('none')
    },
    destroy: () => {
      chart?.destroy()
      canvas.remove()
    },
  }
}

function optionsOf(host: HTMLElement, data: ChartData): ChartOptions<Kind> {
  const { kind, series, format, labels, isCount = false, from, to } = data
  const color = (name: string): string => colorOf(host, name)
  const font = { size: pixelsOf(FONT_REM), family: getComputedStyle(host).fontFamily }
  const ticks = { color: color('muted'), font, maxRotation: 0, autoSkipPadding: 12 }
  const nameOf = (x: number): string => labels?.[x] ?? TIME.format(x)
  const isNegative = series.some(({ points }) => points.some(([, value]) => value !== null && value < 0))
  return {
    animation: false,
    maintainAspectRatio: false,
    parsing: false,
    interaction: { mode: 'index', intersect: false },
    scales: {
      x: {
        type: 'linear',
        stacked: kind === 'bars',
        ...(labels === undefined ? timeAxis(from, to) : { min: -0.5, max: labels.length - 0.5 }),
        grid: { display: false },
        border: { color: color('line') },
        ticks: {
          ...ticks,
          precision: 0,
          callback: (value) => (labels === undefined ? tickText(Number(value)) : (labels[Number(value)] ?? '')),
        },
      },
      y: {
        stacked: kind === 'bars',
        beginAtZero: !isNegative,
        grid: { color: color('line') },
        border: { display: false },
        ticks: {
          ...ticks,
          maxTicksLimit: 5,
          ...(isCount && { precision: 0 }),
          callback: (value) => format(Number(value)),
        },
      },
    },
    plugins: {
      tooltip: {
        backgroundColor: color('raised'),
        borderColor: color('line'),
        borderWidth: 1,
        titleColor: color('ink'),
        bodyColor: color('ink'),
        titleFont: font,
        bodyFont: font,
        displayColors: false,
        callbacks: {
          title: ([first]) => (first === undefined ? '' : nameOf(first.parsed.x!)),
          label: ({ dataset, parsed: { y } }) => `${dataset.label}: ${y === null ? '–' : format(y)}`,
        },
      },
    },
  }
}

function datasetOf({ name, points }: Series, kind: ChartData['kind'], color: string): ChartDataset<Kind, Point[]> {
  const shared = { label: name, data: points.map(([x, y]) => ({ x, y })), backgroundColor: color }
  if (kind === 'bars') return { ...shared, type: 'bar', maxBarThickness: BAR_PX_MAX }
  const pointRadius = points.length < 2 ? 2.5 : 0
  return { ...shared, type: 'line', borderColor: color, borderWidth: 2, pointRadius, pointHitRadius: 0 }
}

/** An axis whose ticks are whole minutes, hours, days, months or years. */
function timeAxis(min: number | undefined, max: number | undefined): object {
  const afterBuildTicks = (axis: Scale): void => {
    const count = Math.max(2, Math.floor(axis.width / LABEL_PX))
    const times = timeTicks(new Date(axis.min), new Date(axis.max), count)
    axis.ticks = times.map((time) => ({ value: time.getTime() }))
  }
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }), afterBuildTicks }
}

const TICK_FORMATS = {
  second: new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }),
  minute: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' }),
}

/** The finest unit that a time has: a tick at midnight shows its day. */
function tickText(time: number): string {
  const date = new Date(time)
  if (date.getSeconds() > 0) return TICK_FORMATS.second.format(date)
  if (date.getHours() + date.getMinutes() > 0) return TICK_FORMATS.minute.format(date)
  return (date.getDate() > 1 ? TICK_FORMATS.day : TICK_FORMATS.month).format(date)
}

/** A variable has the text of both themes; what an element gets of it has one colour. */
function colorOf(host: HTMLElement, name: string): string {
  host.style.color = `var(--${name})`
  const { color } = getComputedStyle(host)
  host.style.color = ''
  return color
}
