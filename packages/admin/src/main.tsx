/** The admin page. */
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { EnvironmentContext } from './environment.ts'
import type { Environment } from './environment.ts'
import { startDevice } from './state/device/device.ts'
import { startSession } from './state/session.ts'

/** Nothing else of the page calls the clock, timers or chance of the browser. */
const environment: Environment = {
  wallClock: Date.now,
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

startSession(environment)
startDevice(async () => (await import('./state/device/device-replica.ts')).begin(environment))
createRoot(document.getElementById('app')!).render(
  <EnvironmentContext value={environment}>
    <App />
  </EnvironmentContext>,
)
