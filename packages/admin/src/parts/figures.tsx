/** Figures as people read them: sizes, times and numbers. */
import type { ReactNode } from 'react'

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** `text`: `2026-11-22 15:04:49.813Z`. In the zone of the browser; the title has what the server says. */
export function Moment({ text }: { readonly text: string }): ReactNode {
  const date = new Date(text.replace(' ', 'T'))
  if (Number.isNaN(date.getTime())) return text
  return (
    <time dateTime={date.toISOString()} title={text}>
      {DATE.format(date)}
    </time>
  )
}

export function bytesText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${NUMBER.format(bytes / 1024 ** unit)} ${UNITS[unit]}`
}

/** The size of documents. What was just written has none yet. */
export function storedText(bytes: number, count: number): string {
  return bytes === 0 && count > 0 ? '–' : bytesText(bytes)
}

export function numberText(value: number): string {
  return NUMBER.format(value)
}
