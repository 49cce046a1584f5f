/** Gives a text to the clipboard, and says so. */
import { TEXTS } from '../texts.ts'
import { showDone, showError } from './toasts.tsx'

export async function copyText(text: string): Promise<void> {
  // Browsers have no clipboard for pages of plain HTTP from another machine.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard === undefined) return showError(TEXTS.copy.forbidden)
  await clipboard.writeText(text)
  showDone(TEXTS.copy.done)
}
