/** What leaves the page: a text for the clipboard, or a file. */
import { TEXTS } from '../texts.ts'
import { showDone, showError } from './toasts.tsx'

/** Says that it was copied. */
export async function copyText(text: string): Promise<void> {
  // Browsers have no clipboard for pages of plain HTTP from another machine.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard === undefined) return showError(TEXTS.copy.forbidden)
  await clipboard.writeText(text)
  showDone(TEXTS.copy.done)
}

/** Gives a file to the browser, as if it had been downloaded. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser has to begin with it first.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
