/** The admin page. */
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { startSession } from './state/session.ts'

startSession()
createRoot(document.getElementById('app')!).render(<App />)
