/** A progress bar on a terminal; prints nothing elsewhere (a pipe, a CI log). */
import { Presets, SingleBar } from 'cli-progress'
import type { Terminal } from './terminal.ts'

interface Progress {
  /** `total`: undefined when not known. */
  update(done: number, total?: number): void
  stop(): void
}

const SILENT: Progress = { update: () => {}, stop: () => {} }

/** `unit`: what is counted, as 'documents' or 'bytes'. */
export function startProgress({ stderr }: Terminal, label: string, unit: string): Progress {
  if (stderr.isTTY !== true) return SILENT
  const count = `${label}: {value} ${unit}`
  const options = { stream: stderr, hideCursor: true, clearOnComplete: true, stopOnComplete: false }
  const bar = new SingleBar({ ...options, format: count }, Presets.shades_classic)
  const whole = new SingleBar({ ...options, format: `${label} {bar} {percentage}% | ETA {eta_formatted}` })
  let running: SingleBar | undefined
  return {
    update(done, total) {
      if (running === undefined) {
        running = total === undefined ? bar : whole
        running.start(total ?? 0, 0)
      }
      running.update(done)
    },
    stop: () => running?.stop(),
  }
}
