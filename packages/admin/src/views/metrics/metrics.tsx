/** How the server is doing: requests, commits, memory, feeds and replications, as charts that grow while the page is open. */
import type { ReactNode } from 'react'
import { readMetrics } from '../../api/inspection.ts'
import { Chart } from '../../parts/chart/chart.tsx'
import type { Series } from '../../parts/chart/draw.ts'
import { bytesText, numberText } from '../../parts/figures.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useEnvironment } from '../../environment.ts'
import { linkTo } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { ServerHead } from '../server-head.tsx'
import { addSample, level, meanOf, p95Of, rate, SAMPLE_MS } from './samples.ts'
import type { Sample } from './samples.ts'
import sheet from './metrics.css'

const { metrics: texts } = OPERATIONS
/** The least window that a chart shows. */
const WINDOW_MS = 60_000

interface Figure {
  readonly name: keyof typeof texts.charts
  readonly format: (value: number) => string
  readonly isCount?: boolean
  readonly series: (samples: readonly Sample[]) => readonly Series[]
}

const REQUESTS = 'pannier_http_requests_total'
const SECONDS = 'pannier_http_request_seconds'
const FIGURES: readonly Figure[] = [
  {
    name: 'requests',
    format: numberText,
    series: (all) => [
      { name: texts.answered, color: 'accent', points: rate(all, REQUESTS) },
      { name: texts.failed, color: 'danger', points: rate(all, `${REQUESTS} 5`) },
    ],
  },
  {
    name: 'times',
    format: texts.seconds,
    series: (all) => [
      { name: texts.mean, color: 'accent', points: meanOf(all, SECONDS) },
      { name: texts.p95, color: 'info', points: p95Of(all, SECONDS) },
    ],
  },
  {
    name: 'commits',
    format: numberText,
    series: (all) => [{ name: texts.commits, color: 'accent', points: rate(all, 'pannier_commits_total') }],
  },
  {
    name: 'memory',
    format: bytesText,
    series: (all) => [
      { name: texts.resident, color: 'accent', points: level(all, 'process_resident_memory_bytes') },
      { name: texts.heap, color: 'info', points: level(all, 'nodejs_heap_size_used_bytes') },
    ],
  },
  {
    name: 'processor',
    format: texts.percent,
    series: (all) => [
      {
        name: texts.busy,
        color: 'accent',
        points: rate(all, 'process_cpu_seconds_total').map(([time, share]) => [
          time,
          share === null ? null : share * 100,
        ]),
      },
    ],
  },
  {
    name: 'model',
    format: bytesText,
    series: (all) => [{ name: texts.modelBytes, color: 'accent', points: level(all, 'pannier_model_bytes') }],
  },
  {
    name: 'modelLag',
    format: numberText,
    series: (all) => [
      { name: texts.modelLag, color: 'accent', points: level(all, 'pannier_model_lag_seconds') },
      { name: texts.modelEnded, color: 'danger', points: level(all, 'pannier_model_ended') },
    ],
  },
  {
    name: 'clients',
    format: numberText,
    isCount: true,
    series: (all) => [
      { name: texts.realtime, color: 'accent', points: level(all, 'pannier_realtime_clients') },
      { name: texts.feeds, color: 'info', points: level(all, 'pannier_open_feeds') },
      { name: texts.replications, color: 'good', points: level(all, 'pannier_replications') },
    ],
  },
]

export function View(): ReactNode {
  const environment = useEnvironment()
  const { value, error, reload } = useLoaded(
    'metrics',
    async (signal) => addSample(await readMetrics(signal), environment.wallClock()),
    SAMPLE_MS,
  )
  const last = value?.at(-1)
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <ServerHead title={TEXTS.serverViews.metrics} count={last === undefined ? '' : texts.since(uptimeOf(last))} />
      <div className="view-body">
        <p className="muted">
          {texts.text} <a href={linkTo(['storage'])}>{texts.toStorage}</a>
        </p>
        {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
        {value !== undefined && last !== undefined && (
          <div className="charts">
            {FIGURES.map((figure) => (
              <FigureChart key={figure.name} figure={figure} samples={value} now={last.time} />
            ))}
          </div>
        )}
      </div>
    </>
  )
}

interface FigureChartProps {
  readonly figure: Figure
  readonly samples: readonly Sample[]
  readonly now: number
}

function FigureChart({ figure: { name, format, isCount = false, series }, samples, now }: FigureChartProps): ReactNode {
  const shown = series(samples)
  const newest = shown.map((one) => {
    const value = one.points.at(-1)?.[1] ?? null
    return { ...one, text: value === null ? '–' : format(value) }
  })
  return (
    <figure className="panel figure">
      <figcaption>
        <h2>{texts.charts[name]}</h2>
        <ul className="legend">
          {newest.map((one) => (
            <li key={one.name}>
              <span className={`legend-mark legend-${one.color}`} aria-hidden="true" />
              {one.name} <b>{one.text}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <Chart
        kind="lines"
        label={texts.label(texts.charts[name], newest.map((one) => `${one.name} ${one.text}`).join(', '))}
        format={format}
        isCount={isCount}
        series={shown}
        from={Math.min(samples[0]!.time, now - WINDOW_MS)}
        to={now}
      />
    </figure>
  )
}

/** Seconds. */
function uptimeOf({ time, values }: Sample): number {
  return Math.max(0, time / 1000 - (values.get('process_start_time_seconds') ?? time / 1000))
}
