/** Goal: what the SDK gets of a stream that breaks a hundred times is what docs/internals/realtime.md says. */
import { EventSource } from 'eventsource'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../test-server.ts'
import { ITSELF, sdkClient, startRest } from './rest-server.ts'

const ROUNDS = 100

test(
  'over a hundred lost connections the SDK subscribes again each time, and misses only what comes in between',
  { timeout: 300_000 },
  async () => {
    let mayConnect = Promise.resolve()
    class HeldEventSource extends EventSource {
      constructor(url: string | URL) {
        super(url, { fetch: (input, init) => mayConnect.then(() => fetch(input, init)) })
      }
    }
    vi.stubGlobal('EventSource', HeldEventSource)
    onTestFinished(() => void vi.unstubAllGlobals())
    const server = await startRest()
    const { records, realtime } = server.server.backend
    const fields = [{ name: 'title', type: 'text' }]
    await server.call('POST /collections', { name: 'posts', type: 'base', listRule: '', fields })
    const client = sdkClient(server.url)
    const got: string[] = []
    await client.collection('posts').subscribe('*', ({ record }) => void got.push(String(record['title'])))
    const ids = new Set<string>()
    const isSubscribed = (): boolean => (realtime.subscriber(client.realtime.clientId)?.topics.size ?? 0) > 0
    const create = (title: string): Promise<unknown> => records.create(ITSELF, 'posts', { title })
    for (let round = 0; round < ROUNDS; round++) {
      ids.add(client.realtime.clientId)
      await create(`${round} heard`)
      await until(() => got.length > round)
      // A slow write must not come after the next connection.
      const { promise, resolve } = Promise.withResolvers<void>()
      mayConnect = promise
      server.loseConnections()
      await until(() => realtime.size === 0)
      await create(`${round} missed`)
      resolve()
      await until(() => !ids.has(client.realtime.clientId) && isSubscribed())
    }
    expect(got).toEqual(Array.from({ length: ROUNDS }, (_, round) => `${round} heard`))
    expect(ids.size).toBe(ROUNDS)
    await client.realtime.unsubscribe()
    await server.close()
  },
)
