/** The worker of contenders that need one. */
import { serveInWorker } from '../../contenders/in-browser.ts'

serveInWorker()
