/** Ways for data out of the page: a text for the clipboard, or a file. */
import { useEnvironment } from '../environment.ts'
import { TEXTS } from '../texts.ts'
import { showDone, showError } from './toasts.tsx'

/** How long a browser may take to begin with a file. */
const BEGIN_MS_MAX = 60_000

/** Copies a text, and says so. */
export async function copyText(text: string): Promise<void> {
  // Browsers have no clipboard for pages of plain HTTP from another machine.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard === undefined) return showError(TEXTS.copy.forbidden)
  await clipboard.writeText(text)
  showDone(TEXTS.copy.done)
}

/** A function that gives a file to the browser, as if it had been downloaded. */
export function useDownload(): (blob: Blob, name: string) => void {
  const environment = useEnvironment()
  return (blob, name) => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    environment.after(BEGIN_MS_MAX, () => URL.revokeObjectURL(link.href))
  }
}
