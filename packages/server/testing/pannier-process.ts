/** A Pannier server in a process of its own (processes.ts): `pannier-process.ts DIR PORT CLOCK_MS`. Its clock is wrong by CLOCK_MS. */
import { startServer } from '../test/test-server.ts'
import { serve } from './process-entry.ts'

const [dir = '', port = '0', clockMs = '0'] = process.argv.slice(2)

if (clockMs !== '0') globalThis.Date = wrongClock(Number(clockMs))

serve(async () => {
  const running = await startServer({ dir, port: Number(port) })
  return { url: running.url, close: () => running.close() }
})

function wrongClock(byMs: number): typeof Date {
  const now = Date.now.bind(Date)
  return class extends Date {
    static override now(): number {
      return now() + byMs
    }

    constructor(...parts: [] | ConstructorParameters<typeof Date>) {
      if (parts.length === 0) super(now() + byMs)
      else super(...parts)
    }
  } as typeof Date
}
