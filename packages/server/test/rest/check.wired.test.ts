/** Goal: a superuser has the whole database checked while the server runs, and sees its figures. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../test-server.ts'
import { ITSELF, startRest, type RestServer } from './rest-server.ts'

let server: RestServer

beforeAll(async () => {
  server = await startRest()
})
afterAll(() => server.close())

async function state(): Promise<Record<string, unknown>> {
  return (await server.call('GET /check')).json
}

test('a sound database has no problems, and the answer says when that was', async () => {
  expect(await state()).toMatchObject({ running: false, ended: '' })
  expect((await server.call('POST /check')).status).toBe(204)
  await until(async () => (await state())['running'] === false)
  const { ended, ...rest } = await state()
  expect(ended).toMatch(/^\d{4}-\d\d-\d\d /)
  expect(rest).toEqual({ running: false, progress: 1, problems: [], problemCount: 0, error: '' })
})

test('a second one is refused while the first runs, and one that is cancelled says so', async () => {
  const { check } = server.server.backend
  check.start(ITSELF.principal)
  expect(() => check.start(ITSELF.principal)).toThrow('A check runs already.')
  expect((await server.call('DELETE /check')).status).toBe(204)
  const { running, error, progress } = await state()
  expect(running).toBe(false)
  // It may have been ready before.
  expect(progress === 1 || String(error).includes('cancelled')).toBe(true)
})

test('commits, replications and clients of realtime are among the figures', async () => {
  const figure = async (name: string): Promise<number> => {
    const headers = { authorization: `Bearer ${server.token}` }
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)![1])
  }
  const before = await figure('pannier_commits_total')
  await server.call('POST /collections', { name: 'notes', type: 'base', fields: [] })
  await until(async () => (await figure('pannier_commits_total')) > before)
  expect(await figure('pannier_realtime_clients')).toBe(0)
  const stream = new AbortController()
  await fetch(`${server.url}/api/realtime`, { signal: stream.signal })
  expect(await figure('pannier_realtime_clients')).toBe(1)
  stream.abort()
  await until(async () => (await figure('pannier_realtime_clients')) === 0)
  expect(await figure('pannier_replications')).toBe(0)
})
