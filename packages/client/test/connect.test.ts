/** Goal: what a client is connected with is checked before anything is opened, and what comes back is bounded. */
import { memory } from 'pannier/memory'
import { virtualEnvironment } from 'pannier/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../src/index.ts'
import { Server } from '../src/server.ts'

const connected = async (count: number): Promise<void> => {
  const collections = Array.from({ length: count }, (_, n) => `tasks${n}`)
  const options = { collections, storage: memory(), environment: virtualEnvironment(), live: false }
  await (await connect('https://app.test', options)).close()
}

test.each([1, 50])('a client may have %d collections', async (count) => {
  await connected(count)
})

test.each([0, 51])('a client may not have %d collections', async (count) => {
  await expect(connected(count)).rejects.toThrow(`collections must be 1 to 50, got ${count}`)
})

/** The answer of a server, whose body comes in pieces of one byte. */
function answerTo(pieces: number): Response {
  let left = pieces
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    for (let count = 0; count < 1000 && left > 0; count++, left--) controller.enqueue(new Uint8Array([48]))
    if (left === 0) controller.close()
  }
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
}

test('an answer has at most 128 MiB, and each piece of it counts as what it costs', async () => {
  const sent = vi.spyOn(globalThis, 'fetch')
  onTestFinished(() => sent.mockRestore())
  const server = new Server('https://app.test', 60_000, virtualEnvironment())
  sent.mockResolvedValueOnce(answerTo(1))
  expect(await server.send('GET /')).toBe(0)
  sent.mockResolvedValueOnce(answerTo(150_000))
  const refused = server.send('GET /')
  const cause = { message: 'The answer has more than 128 MiB.' }
  await expect(refused).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE', cause })
})

test('an engine whose answers have no stream gives their text', async () => {
  const response = { ok: true, status: 200, headers: new Headers(), text: async () => '[1]' }
  const sent = vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(response as Response)
  onTestFinished(() => sent.mockRestore())
  expect(await new Server('https://app.test', 60_000, virtualEnvironment()).send('GET /')).toEqual([1])
})
