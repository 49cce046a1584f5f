/**
 * A process of the read model. It is a process and no thread, as nothing else ends a statement of SQLite that runs. It has no way to a
 * file but the model's.
 */
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Engine } from './engine.ts'
import { TOO_LARGE, type ModelRequest } from './protocol.ts'

/** How often the other thread looks, and how often it sees no server before it ends the process. */
const LOOK_MS = 20
const ALONE_LOOKS_MAX = 100

/** SQLite counts no memory here, and a statement that runs hears of no server's end. It blocks this thread, so another one looks. */
const WATCH: string = `const { bytesMax, server } = require('node:worker_threads').workerData
let alone = 0
setInterval(() => {
  if (process.memoryUsage.rss() > bytesMax) process.kill(process.pid, '${TOO_LARGE}')
  if (process.ppid !== server && ++alone > ${ALONE_LOOKS_MAX}) process.kill(process.pid, 'SIGKILL')
}, ${LOOK_MS})`

let kept: string | undefined
const engine = new Engine()
// When the server is gone, so is this, and the plain text of its records.
process.on('disconnect', () => {
  if (kept !== undefined) rmSync(dirname(kept), { recursive: true, force: true })
  process.exit()
})
// The server may be gone before the thread looks, so it has said who it is.
const [bytesMax, server] = process.argv.slice(2).map(Number)
new Worker(WATCH, { eval: true, execArgv: [], workerData: { bytesMax, server } }).unref()
process.on('message', ({ id, request }: { readonly id: number; readonly request: ModelRequest }) =>
  receive(id, request),
)

process.send!({ id: 0, reply: { answer: undefined } })

function receive(id: number, request: ModelRequest): void {
  if (request.kind === 'open' && request.role === 'keeper') kept = request.file
  engine.handle(request, (reply) => process.send!({ id, reply }))
}
