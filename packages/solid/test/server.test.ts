/** Goal: components of Solid render on a server, where nothing is live: what a server has read is shown until the page has its own. */
import { expect, test } from 'vitest'
import type * as Page from './on-server.ts'

test('on a server no query starts, and initial rows are rendered', async () => {
  // The build of Solid for servers.
  const path = './on-server.ts?server'
  const { html, started } = await ((await import(path)) as typeof Page).renderPage()
  expect([html, started]).toEqual(['Ann loading true undefined', 0])
})
