/** Node itself gives up headers that do not end, by the time that passes. */
import { expect, test } from 'vitest'
import { sendRaw, startServer } from './test-server.ts'

test('row 52: headers that do not end are given up', async () => {
  const hasty = await startServer({ limits: { headersMsMax: 400 } })
  expect((await sendRaw(hasty.url, 'GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ')).slice(0, 12)).toBe('HTTP/1.1 408')
  await hasty.close()
})
