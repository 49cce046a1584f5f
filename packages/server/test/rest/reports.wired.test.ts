/** Goal: reports over HTTP: superusers keep them, their rules say who runs them, and answers are JSON or CSV. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRest, type RestServer } from './rest-server.ts'

let server: RestServer
const BY_MONTH = {
  name: 'by-month',
  description: 'What was sold.',
  query: `SELECT strftime('%Y-%m', day) AS month, sum(total) AS revenue, '"' || min(note) AS note
    FROM sales WHERE day >= :from GROUP BY month ORDER BY month`,
  parameters: [{ name: 'from', type: 'date', default: '2026-01-01' }],
  rule: '@request.headers.x_key = "open"',
}

beforeAll(async () => {
  server = await startRest()
  const fields = [
    { name: 'day', type: 'date' },
    { name: 'total', type: 'number' },
    { name: 'note', type: 'text' },
  ]
  await server.call('POST /collections', { name: 'sales', type: 'base', fields })
  for (const [day, total, note] of [
    ['2025-12-31', 100, ''],
    ['2026-01-02', 1, 'a, b'],
    ['2026-01-03', 2.5, 'c'],
    ['2026-02-01', 4, 'd'],
  ])
    await server.call('POST /collections/sales/records', { day, total, note })
})
afterAll(() => server.close())

function asked(path: string, headers: Record<string, string> = { 'x-key': 'open' }): Promise<Response> {
  return fetch(`${server.url}/api/reports/${path}`, { headers })
}

test('a report is made, changed, listed, run and deleted', async () => {
  expect(await server.call('POST /reports', BY_MONTH)).toMatchObject({ status: 200, json: { name: 'by-month' } })
  const answer = await asked('by-month')
  expect(await answer.json()).toMatchObject({
    columns: ['month', 'revenue', 'note'],
    rows: [
      ['2026-01', 3.5, '"a, b'],
      ['2026-02', 4, '"d'],
    ],
    commit: expect.any(Number),
  })
  expect(await (await asked('by-month?from=2026-02-01')).json()).toMatchObject({ rows: [['2026-02', 4, '"d']] })
  const csv = await asked('by-month', { 'x-key': 'open', accept: 'text/csv' })
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(await csv.text()).toBe('month,revenue,note\r\n2026-01,3.5,"""a, b"\r\n2026-02,4,"""d"\r\n')
  expect(await server.call('PATCH /reports/by-month', { description: 'Sold.' })).toMatchObject({
    json: { description: 'Sold.', parameters: BY_MONTH.parameters },
  })
  expect((await server.call('GET /reports')).json).toMatchObject([{ name: 'by-month', description: 'Sold.' }])
  expect((await server.call('DELETE /reports/by-month')).status).toBe(204)
  expect((await server.call('DELETE /reports/by-month')).status).toBe(404)
})

test('no text of a report is a formula of a spreadsheet, and numbers stay', async () => {
  const texts = [`'=1+1'`, `'@SUM(A1)'`, `'+A1'`, `'-A1'`, `char(9) || '=1'`, `'''=1'`, `'+41 79 1'`, '-1.5', `'-1e5'`]
  const query = `SELECT ${texts.map((text, at) => `${text} AS "${at}"`).join(', ')}`
  await server.call('POST /reports', { name: 'cells', query, rule: '' })
  const csv = await asked('cells', { accept: 'text/csv' })
  expect((await csv.text()).split('\r\n')[1]).toBe(`'=1+1,'@SUM(A1),'+A1,'-A1,'\t=1,''=1,+41 79 1,-1.5,-1e5`)
  await server.call('DELETE /reports/cells')
})

test('what is refused has its status, and its place', async () => {
  await server.call('POST /reports', BY_MONTH)
  expect((await asked('nope')).status).toBe(404)
  expect((await asked('by-month', {})).status).toBe(401)
  const wrong = await asked('by-month?from=soon')
  expect([wrong.status, await wrong.json()]).toMatchObject([
    400,
    { data: { from: { code: 'validation_invalid_parameter' } } },
  ])
  const { status, json } = await server.call('POST /reports', { name: 'x', query: 'SELECT nope FROM sales' })
  expect([status, json]).toMatchObject([
    400,
    { data: { query: { message: expect.stringContaining('no such column: nope') } } },
  ])
  await server.call('DELETE /reports/by-month')
})

test('an import of collections brings reports', async () => {
  const { json } = await server.call('GET /collections/sales')
  const reports = [BY_MONTH]
  expect((await server.call('PUT /collections/import', { collections: [json], reports })).status).toBe(204)
  expect((await server.call('GET /reports')).json).toMatchObject([{ name: 'by-month' }])
  const stock = { name: 'stock', fields: [{ name: 'item', type: 'text' }] }
  const import_ = (query: string): ReturnType<RestServer['call']> =>
    server.call('PUT /collections/import', { collections: [stock], reports: [{ name: 'items', query, rule: '' }] })
  expect(await import_('SELECT nope FROM stock')).toMatchObject({
    status: 400,
    json: { data: { reports: { 0: { query: { code: 'validation_invalid_query' } } } } },
  })
  expect((await server.call('GET /collections/stock')).status).toBe(404)
  expect((await import_('SELECT item FROM stock')).status).toBe(204)
  expect(await (await asked('items')).json()).toMatchObject({ columns: ['item'], rows: [] })
  expect((await server.call('DELETE /reports/items')).status).toBe(204)
  expect((await server.call('PUT /collections/import', { collections: [json] })).status).toBe(204)
  expect((await server.call('GET /reports')).json).toMatchObject([{ name: 'by-month' }])
})
