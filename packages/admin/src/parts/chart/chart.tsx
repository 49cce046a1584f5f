/** A chart over time, or of texts. Chart.js is loaded with the first one. Dragging chooses a period; views offer the same to keyboards. */
import { useEffect, useRef, useState } from 'react'
import type { PointerEvent, ReactNode } from 'react'
import { onDemand } from '../../state/on-demand.ts'
import { useStore } from '../../state/store.ts'
import { theme } from '../../state/theme.ts'
import type { ChartData, MountedChart } from './draw.ts'

interface ChartProps extends ChartData {
  /** The text that a screen reader speaks in place of the picture: the subject, and its figures. */
  readonly label: string
  /** Reports the chosen period, in milliseconds since 1970. */
  readonly onPeriod?: (from: number, to: number) => void
}

const DRAG_PX_MIN = 8

export function Chart({ label, onPeriod, ...data }: ChartProps): ReactNode {
  const host = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<MountedChart>()
  useEffect(() => {
    let mounted: MountedChart | undefined
    let isGone = false
    void onDemand(() => import('./draw.ts')).then(({ mount }) => {
      if (isGone || host.current === null) return
      mounted = mount(host.current)
      setChart(mounted)
    })
    return () => {
      isGone = true
      mounted?.destroy()
    }
  }, [])
  const scheme = useScheme()
  // Drawing takes tens of milliseconds, and views render for other reasons too.
  const drawn = JSON.stringify([scheme, data])
  useEffect(() => chart?.draw(data), [chart, drawn])
  const drag = useDrag(chart, onPeriod)
  return (
    <div className="chart" data-scheme={scheme}>
      <div ref={host} className="chart-host" role="img" aria-label={label} />
      {onPeriod !== undefined && (
        <div className="chart-drag" {...drag.handlers}>
          {drag.span !== undefined && (
            <div className="chart-span" style={{ left: drag.span[0], width: drag.span[1] - drag.span[0] }} />
          )}
        </div>
      )}
    </div>
  )
}

/** Renders again when the colours change. */
function useScheme(): string {
  const chosen = useStore(theme)
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)')
    const change = (): void => setDark(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [])
  return chosen === 'system' ? (isDark ? 'dark' : 'light') : chosen
}

type Handler = (event: PointerEvent<HTMLElement>) => void

interface Drag {
  readonly span: readonly [left: number, right: number] | undefined
  readonly handlers: Readonly<Record<'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerCancel', Handler>>
}

function useDrag(chart: MountedChart | undefined, onPeriod: ChartProps['onPeriod']): Drag {
  // Events come faster than the page is drawn.
  const begin = useRef<number>(undefined)
  const [span, setSpan] = useState<readonly [left: number, right: number]>()
  const xOf = (event: PointerEvent<HTMLElement>): number =>
    event.clientX - event.currentTarget.getBoundingClientRect().left
  const spanTo = (x: number): readonly [number, number] | undefined =>
    begin.current === undefined ? undefined : [Math.min(begin.current, x), Math.max(begin.current, x)]
  const end = (): void => {
    begin.current = undefined
    setSpan(undefined)
  }
  return {
    span,
    handlers: {
      onPointerDown: (event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        begin.current = xOf(event)
      },
      onPointerMove: (event) => {
        chart?.point(xOf(event))
        setSpan(spanTo(xOf(event)))
      },
      onPointerUp: (event) => {
        const chosen = spanTo(xOf(event))
        end()
        if (chart === undefined || chosen === undefined || chosen[1] - chosen[0] < DRAG_PX_MIN) return
        onPeriod?.(chart.timeAt(chosen[0]), chart.timeAt(chosen[1]))
      },
      onPointerCancel: end,
    },
  }
}
