/** Formats of numbers and durations for people. */

const INTEGER = new Intl.NumberFormat('en')

export function formatCount(count: number): string {
  return INTEGER.format(count)
}

/** Three significant digits at most, in the unit that suits: <0.01 ms, 0.04 ms, 3.2 ms, 412 ms, 1.31 s. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 0.005) return '<0.01 ms'
  if (durationMs < 0.995) return `${durationMs.toFixed(2)} ms`
  if (durationMs < 9.95) return `${durationMs.toFixed(1)} ms`
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`
  return `${(durationMs / 1000).toFixed(durationMs < 9_995 ? 2 : 1)} s`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`
  return `${(bytes / 1e6).toFixed(1)} MB`
}
