/** Draws with ECharts. The 3-D half of it is fetched when somebody looks at a surface, and only where there is WebGL. */
import { BarChart, CustomChart, HeatmapChart, LineChart } from 'echarts/charts'
import {
  GridComponent,
  LegendScrollComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
  VisualMapPiecewiseComponent,
} from 'echarts/components'
import { init, use } from 'echarts/core'
import type { ECharts, EChartsCoreOption } from 'echarts/core'
import { LegacyGridContainLabel, UniversalTransition } from 'echarts/features'
import { CanvasRenderer } from 'echarts/renderers'

use([
  BarChart,
  CustomChart,
  HeatmapChart,
  LineChart,
  GridComponent,
  LegendScrollComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
  VisualMapPiecewiseComponent,
  LegacyGridContainLabel,
  UniversalTransition,
  CanvasRenderer,
])

export class Drawing {
  readonly #element: HTMLElement
  #chart: ECharts | undefined
  #isSurface = false

  constructor(element: HTMLElement) {
    this.#element = element
    new ResizeObserver(() => this.#chart?.resize()).observe(element)
  }

  get widthPx(): number {
    return this.#element.clientWidth
  }

  /** @param description Text for screen readers. */
  draw(
    options: EChartsCoreOption,
    { heightPx, description }: { readonly heightPx: number; readonly description: string },
  ): void {
    this.#element.style.height = `${heightPx}px`
    this.#element.setAttribute('aria-label', description)
    const isSurface = 'grid3D' in options
    // A canvas that was drawn on in two dimensions can't be used for three.
    if (this.#isSurface !== isSurface) this.clear()
    this.#isSurface = isSurface
    this.#chart ??= init(this.#element)
    this.#chart.resize()
    this.#chart.setOption(options, { notMerge: true })
  }

  /** Rotates a surface, by degrees. */
  rotate(alpha: number, beta: number): void {
    const option = this.#chart?.getOption() as
      | { grid3D?: { viewControl: { alpha: number; beta: number } }[] }
      | undefined
    const view = option?.grid3D?.[0]?.viewControl
    if (view === undefined) return
    const tilted = Math.min(90, Math.max(0, view.alpha + alpha))
    this.#chart?.setOption({ grid3D: { viewControl: { alpha: tilted, beta: view.beta + beta } } })
  }

  clear(): void {
    this.#chart?.dispose()
    this.#chart = undefined
  }
}

let loading: Promise<boolean> | undefined

/** Whether surfaces can be drawn here. */
export function loadSurfaces(): Promise<boolean> {
  loading ??= hasWebGl() ? import('./draw-surface.ts').then(() => true) : Promise.resolve(false)
  return loading
}

function hasWebGl(): boolean {
  const canvas = document.createElement('canvas')
  return (canvas.getContext('webgl2') ?? canvas.getContext('webgl')) !== null
}
