/** Goal: what nobody catches is logged and reported, and the server serves on. */
import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { catchUncaught } from '../../src/cli/last-net.ts'
import { startRest } from '../rest/rest-server.ts'

test('an uncaught error and an unhandled rejection are in the log, and one mail is sent; then the net is gone', async () => {
  const started = await startRest()
  onTestFinished(() => started.close())
  const { backend } = started.server
  const mails: string[] = []
  const entries: string[] = []
  const parts = {
    ...started.server,
    backend: {
      ...backend,
      alert: async (subject: string, details: string) => void mails.push(`${subject} ${details}`),
      logs: { write: (entry: object) => void entries.push(JSON.stringify(entry)) },
    },
  } as unknown as Parameters<typeof catchUncaught>[0]
  const process = new EventEmitter()
  const letGo = catchUncaught(parts, process as unknown as NodeJS.Process)
  process.emit('uncaughtException', new Error('of a callback'))
  process.emit('unhandledRejection', 'of a promise')
  expect(entries.length).toBe(2)
  expect(entries[0]).toContain('of a callback')
  expect(entries[1]).toContain('of a promise')
  expect(mails.length).toBe(1)
  expect((await started.call('GET /health')).status).toBe(200)
  letGo()
  expect(process.eventNames()).toEqual([])
})
