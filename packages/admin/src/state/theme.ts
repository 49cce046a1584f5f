/** Light or dark: as the system has it, or as the user has chosen. */
import { keep, readKept } from './kept.ts'
import { Store } from './store.ts'

export type Theme = 'system' | 'light' | 'dark'

const NAME = 'theme'

export const theme: Store<Theme> = new Store(readTheme())
apply()

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen)
  keep(NAME, chosen === 'system' ? undefined : chosen)
  apply()
}

/** The width of a text of `rems`, in pixels: the style sheet knows walls. */
export function pixelsOf(rems: number): number {
  return Math.round(rems * parseFloat(getComputedStyle(document.documentElement).fontSize))
}

/** Applies the theme: the style sheet looks at the attribute. */
function apply(): void {
  const chosen = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}

function readTheme(): Theme {
  const kept = readKept<unknown>(NAME)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}
