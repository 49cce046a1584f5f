/** Gives a file to the browser, as if it had been downloaded. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser has to begin with it first.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
