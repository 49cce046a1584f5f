/**
 * The program in Node in place of a page: a process that opens the database of an app and prints its first rows, or one document, as a
 * line.
 */
import { writeSync } from 'node:fs'
import type { App } from './apps/app.ts'
import { rowText } from './page/protocol.ts'
import type { NodeReport, NodeRequest } from './processes.ts'

const launched = performance.now()

const APPS: Readonly<Record<string, () => Promise<{ readonly app: App }>>> = {
  pannier: () => import('./apps/pannier.ts'),
  'pannier-encrypted': () => import('./apps/pannier-encrypted.ts'),
  'node-sqlite': () => import('./apps/node-sqlite.ts'),
}

const request = JSON.parse(process.argv[2]!) as NodeRequest
const { app } = await APPS[request.app]!()
const imported = performance.now()

if (request.task === 'fill') await (await import('./filling.ts')).fill(app, request.place, request.set)
else if (request.task === 'fillLog') {
  await (await import('./filling.ts')).fillLog(app, request.place, request.set)
  process.kill(process.pid, 'SIGKILL')
} else {
  await app.open(request.place)
  const opened = performance.now()
  const people = request.task === 'rows' ? await app.firstRows() : [(await app.get!(request.id))!]
  const read = performance.now()
  const report: NodeReport = {
    agent: navigator.userAgent,
    rows: people.map(rowText),
    marks: { launched, imported, opened, read },
  }
  writeSync(1, `${JSON.stringify(report)}\n`)
  await app.close()
}
