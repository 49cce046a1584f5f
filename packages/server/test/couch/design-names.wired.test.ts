/** Goal: a document has only an id that its own URL can name. */
import { expect, onTestFinished, test } from 'vitest'
import { send, startServer } from '../test-server.ts'

test('_design/ without a name is refused by each way in', async () => {
  const started = await startServer()
  onTestFinished(() => started.close())
  await send(started.url, 'PUT /dz')
  const indexed = await send(started.url, 'POST /dz/_index', { index: { fields: ['a'] }, ddoc: '_design/' })
  expect([indexed.status, indexed.json['error']]).toEqual([400, 'illegal_docid'])
  const put = await send(started.url, 'PUT /dz/_design%2F', {})
  expect([put.status, put.json['error']]).toEqual([400, 'illegal_docid'])
  const posted = await send(started.url, 'POST /dz', { _id: '_design/' })
  expect([posted.status, posted.json['error']]).toEqual([400, 'illegal_docid'])
  const bulk = await send(started.url, 'POST /dz/_bulk_docs', { docs: [{ _id: '_design/' }, { _id: 'good' }] })
  expect(JSON.stringify(bulk.json)).toContain('illegal_docid')
  expect((await send(started.url, 'GET /dz/_design/')).status).toBe(404)
})
