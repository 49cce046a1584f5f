/**
 * Ports for pages that are tested. What a browser has stored belongs to an origin, so to a port. The system hands out a port again after
 * some hundred others: a page would find the session of another test.
 */
import { createServer } from 'node:net'

/** Below those that the system hands out. */
const FIRST = 20_000
const LAST = 32_000

// Other processes of this machine take ports, too.
let next = FIRST + Math.floor(Math.random() * (LAST - FIRST))

/** One that nobody listens at, and that this process has not had before. */
export async function freshPort(): Promise<number> {
  for (;;) {
    const port = next
    next = port < LAST ? port + 1 : FIRST
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
