/** Draws the charts of the report where a reader has opened them. */
import { BarController, BarElement, CategoryScale, Chart, LinearScale, LogarithmicScale, Tooltip } from 'chart.js'
import type { Bar, Chart as ChartData } from './charts.ts'

Chart.register(BarController, BarElement, CategoryScale, LinearScale, LogarithmicScale, Tooltip)
Chart.defaults.animation = false

const BAR_PIXELS = 26
const AXIS_PIXELS = 60
/** The longest bar by the shortest, from which on a linear scale hides the short ones. */
const LOGARITHMIC_FROM = 20

const charts = JSON.parse(document.getElementById('charts')!.textContent) as ChartData[]
const byId = new Map(charts.map((chart) => [chart.id, chart]))
const isDark = matchMedia('(prefers-color-scheme: dark)').matches
const COLOURS: Readonly<Record<Bar['kind'], string>> = {
  pannier: isDark ? '#ff9f5a' : '#c2410c',
  persistent: isDark ? '#8ab4f8' : '#3b6fb6',
  memory: isDark ? '#9aa8a0' : '#7c8a83',
  floor: isDark ? '#6f7780' : '#b3bac1',
}
Chart.defaults.color = isDark ? '#d7dbe0' : '#333a42'

for (const details of document.querySelectorAll('details')) {
  details.addEventListener('toggle', () => drawIn(details))
  drawIn(details)
}

function drawIn(details: HTMLDetailsElement): void {
  if (!details.open) return
  for (const canvas of details.querySelectorAll('canvas')) {
    const chart = byId.get(canvas.id)
    if (chart !== undefined && canvas.parentElement?.closest('details') === details) draw(canvas, chart)
  }
}

function draw(canvas: HTMLCanvasElement, { id, bars, unit }: ChartData): void {
  byId.delete(id)
  canvas.parentElement!.style.height = `${bars.length * BAR_PIXELS + AXIS_PIXELS}px`
  const values = bars.map((bar) => bar.median)
  const logarithmic = Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > LOGARITHMIC_FROM
  const title = `${unit === 'ms' ? 'milliseconds' : 'bytes'}${logarithmic ? ', logarithmic' : ''}; less is better`
  const chart = new Chart(canvas, {
    type: 'bar',
    data: {
      labels: bars.map((bar) => bar.label),
      datasets: [{ data: values, backgroundColor: bars.map((bar) => COLOURS[bar.kind]), maxBarThickness: 18 }],
    },
    options: {
      indexAxis: 'y',
      maintainAspectRatio: false,
      plugins: { tooltip: { callbacks: { label: ({ dataIndex }) => describe(bars[dataIndex]!, unit) } } },
      scales: {
        x: { type: logarithmic ? 'logarithmic' : 'linear', title: { display: true, text: title } },
        y: { grid: { display: false } },
      },
    },
    plugins: [{ id: 'spread', afterDatasetsDraw: (drawn) => drawSpread(drawn, bars) }],
  })
  chart.canvas.setAttribute('role', 'img')
}

/** A line from the least to the most of the samples. */
function drawSpread(chart: Chart, bars: readonly Bar[]): void {
  const { ctx, scales } = chart
  ctx.save()
  ctx.strokeStyle = isDark ? '#ffffff' : '#000000'
  for (const [at, bar] of bars.entries()) {
    const y = scales['y']!.getPixelForValue(at)
    const [from, to] = [bar.least, bar.most].map((value) => scales['x']!.getPixelForValue(value))
    ctx.beginPath()
    ctx.moveTo(from!, y)
    ctx.lineTo(to!, y)
    ctx.stroke()
  }
  ctx.restore()
}

function describe(bar: Bar, unit: ChartData['unit']): string {
  const format = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
  return `${format(bar.median)} ${unit} (${format(bar.least)} to ${format(bar.most)})`
}
