/** Numbers, sizes and times for people. */

const KIB = 1024

export function bytesText(bytes: number | undefined): string {
  if (bytes === undefined || !Number.isFinite(bytes)) return '–'
  if (bytes < KIB) return `${Math.round(bytes)} B`
  if (bytes < KIB * KIB) return `${rounded(bytes / KIB)} KiB`
  return bytes < KIB ** 3 ? `${rounded(bytes / KIB ** 2)} MiB` : `${rounded(bytes / KIB ** 3)} GiB`
}

export function countText(count: number | undefined): string {
  return count === undefined ? '–' : count.toLocaleString('en-US')
}

export function msText(ms: number | undefined): string {
  if (ms === undefined) return '…'
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${rounded(ms / 1000)} s`
}

/** The time of day with milliseconds. */
export function timeText(at: number): string {
  const date = new Date(at)
  const two = (part: number): string => String(part).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  return `${time}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** `1 document`, `2 documents`. */
export function plural(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`
}

function rounded(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value))
}
