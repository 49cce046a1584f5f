/** The colours of the style sheet, for drawings by script. */
import type { Kind } from '../model/chart-data.ts'

export interface Theme {
  readonly ink: string
  readonly muted: string
  readonly line: string
  readonly surface: string
  readonly accent: string
  readonly kinds: Readonly<Record<Kind, string>>
  /** Colours of lines, distinguishable with colour blindness. */
  readonly series: readonly string[]
  /** The colours of the ramp, from low to high. */
  readonly ramp: readonly string[]
  readonly font: string
  readonly moves: boolean
}

const SERIES = 8
const RAMP = 5

export function readTheme(): Theme {
  const probe = document.createElement('span')
  document.body.append(probe)
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const theme = {
    ink: colour('ink'),
    muted: colour('muted'),
    line: colour('line'),
    surface: colour('surface'),
    accent: colour('accent'),
    kinds: {
      pannier: colour('accent'),
      persistent: colour('bar'),
      memory: colour('bar-memory'),
      floor: colour('bar-floor'),
    },
    series: Array.from({ length: SERIES }, (_, at) => colour(`series-${at + 1}`)),
    ramp: Array.from({ length: RAMP }, (_, at) => colour(`ramp-${at + 1}`)),
    font: getComputedStyle(document.body).fontFamily,
    moves: !matchMedia('(prefers-reduced-motion: reduce)').matches,
  }
  probe.remove()
  return theme
}

export function onThemeChange(redraw: () => void): void {
  for (const query of ['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)']) {
    matchMedia(query).addEventListener('change', redraw)
  }
}
