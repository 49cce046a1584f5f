/** The child's side of processes.ts. */

import type { Peak } from './processes.ts'

const SAMPLE_MS = 50
const NO_PEAK: Peak = { heapUsed: 0, rss: 0 }

/** Starts, and reports where it listens. Reports memory and processor time when asked, and ends with the parent. */
export function serve(start: () => Promise<{ readonly url: string; close(): Promise<void> }>): void {
  void start().then(({ url, close }) => {
    let peak = NO_PEAK
    const sample = (): void => {
      const { heapUsed, rss } = process.memoryUsage()
      peak = { heapUsed: Math.max(peak.heapUsed, heapUsed), rss: Math.max(peak.rss, rss) }
    }
    setInterval(sample, SAMPLE_MS).unref()
    process.on('message', (message) => {
      if (message === 'close') void close().then(() => process.exit(0))
      else if (message === 'cpu') {
        const { user, system } = process.cpuUsage()
        process.send!({ cpuMs: (user + system) / 1000 })
      } else if (message === 'peak') {
        sample()
        process.send!({ peak })
        peak = NO_PEAK
      } else {
        globalThis.gc?.()
        process.send!({ memory: process.memoryUsage() })
      }
    })
    process.on('disconnect', () => process.exit(1))
    process.send!({ url })
  })
}
