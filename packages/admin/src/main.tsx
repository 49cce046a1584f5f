/** The admin page. */
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { startDevice } from './state/device/device.ts'
import { startSession } from './state/session.ts'

startSession()
startDevice(async () => (await import('./state/device/holding.ts')).begin())
createRoot(document.getElementById('app')!).render(<App />)
