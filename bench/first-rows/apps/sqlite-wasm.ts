/** SQLite WASM needs a worker for OPFS: it is started by the first line. */
import { remote } from '../../contenders/remote.ts'
import type { App } from './app.ts'

const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { type: 'module' })

export const app: App = remote<App>(worker, ['open', 'firstRows', 'fill', 'close'])
