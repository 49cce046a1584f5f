/** How many logs each hour has. Dragging over it, or the list of periods, chooses a period. */
import type { ReactNode } from 'react'
import { countLogs } from '../../api/logs.ts'
import { Button } from '../../parts/button.tsx'
import { Chart } from '../../parts/chart/chart.tsx'
import { numberText } from '../../parts/figures.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useEnvironment } from '../../environment.ts'
import { changeQuery } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { both, filterOf } from './log-filter.ts'
import type { LogQuery } from './log-filter.ts'

const { logs: texts } = OPERATIONS
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** Up to now, in hours. */
const PERIODS = { hour: 1, day: 24, week: 168 } as const

interface LogChartProps {
  readonly query: LogQuery
  readonly everyMs: number | undefined
}

export function LogChart({ query, everyMs }: LogChartProps): ReactNode {
  const environment = useEnvironment()
  const filter = filterOf(query)
  const load = async (signal: AbortSignal): Promise<Counts> => {
    const [all, errors] = await Promise.all([countLogs(filter, signal), countLogs(both(filter, 'level >= 8'), signal)])
    const wrong = new Map(errors.map(({ date, total }) => [date, total]))
    return all.map(({ date, total }) => ({
      time: Date.parse(date.replace(' ', 'T')),
      total,
      errors: wrong.get(date) ?? 0,
    }))
  }
  const { value: counts = [] } = useLoaded(filter, load, everyMs)
  const { from, to } = query
  const shown = counts.filter(({ time }) => time + HOUR_MS > (from ?? -Infinity) && time < (to ?? Infinity))
  const nextMinute = minuteAfter(environment.wallClock())
  const first = Math.min(...shown.map(({ time }) => time))
  return (
    <section className="log-chart" aria-label={texts.chart}>
      <div className="log-periods">
        {Object.entries(PERIODS).map(([name, hours]) => (
          <Button
            key={name}
            kind="quiet"
            onPress={() => choosePeriod(environment.wallClock() - hours * HOUR_MS, undefined)}
          >
            {texts.periods[name as keyof typeof PERIODS]}
          </Button>
        ))}
        {(from !== undefined || to !== undefined) && (
          <Button kind="quiet" icon="close" onPress={() => choosePeriod(undefined, undefined)}>
            {texts.allTimes}
          </Button>
        )}
        <p className="log-drag">{texts.drag}</p>
      </div>
      <Chart
        kind="bars"
        isCount
        label={texts.chartLabel(sum(shown, 'total'), sum(shown, 'errors'), shown.length)}
        format={numberText}
        from={from ?? (shown.length === 0 ? nextMinute - HOUR_MS : first)}
        // The bar of an hour stands at its middle.
        to={to ?? Math.max(nextMinute, first + 6 * HOUR_MS)}
        series={[
          { name: texts.errors, color: 'danger', points: shown.map(({ time, errors }) => [middle(time), errors]) },
          {
            name: texts.others,
            color: 'second',
            points: shown.map(({ time, total, errors }) => [middle(time), total - errors]),
          },
        ]}
        onPeriod={(begin, end) => choosePeriod(begin, end)}
      />
    </section>
  )
}

interface HourCounts {
  readonly time: number
  readonly total: number
  readonly errors: number
}

type Counts = readonly HourCounts[]

/** A chart is drawn again when its end changes, so it does not end at each moment. */
function minuteAfter(ms: number): number {
  return Math.ceil(ms / MINUTE_MS) * MINUTE_MS
}

function middle(hour: number): number {
  return hour + HOUR_MS / 2
}

function sum(counts: Counts, name: 'total' | 'errors'): number {
  return counts.reduce((all, count) => all + count[name], 0)
}

function choosePeriod(from: number | undefined, to: number | undefined): void {
  const text = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString()
  changeQuery({ from: text(from), to: text(to) })
}
