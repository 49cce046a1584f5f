/** What a hostile server does with HTTP itself. The rest is in testing/conformance/replication-hostile.ts. */
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([301, 302, 303, 307, 308])('a redirect with %d: no document and no header goes elsewhere', async (status) => {
  const stolen: IncomingMessage[] = []
  const elsewhere = await serve((request, response) => {
    stolen.push(request)
    response.end('{}')
  })
  const url = await serve((request, response) => {
    if (request.url === '/docs/_revs_diff') response.writeHead(status, { location: elsewhere }).end()
    else if (request.url!.startsWith('/docs/_local') && request.method === 'GET') response.writeHead(404).end('{}')
    else response.end('{"update_seq":1,"rev":"0-1"}')
  })
  const db = await open('x', { storage: memory() })
  onTestFinished(() => db.close())
  const docs = db.collection('docs')
  await docs.insert({ _id: 'a' })
  const push = docs.replicate({ to: `${url}/docs`, headers: { 'x-token': 'secret' }, retry: false })
  await expect(push).rejects.toMatchObject({
    code: 'PANNIER_PEER_UNREACHABLE',
    message: expect.stringContaining('redirects') as unknown,
  })
  expect(stolen).toEqual([])
})

test('an answer in pieces of one byte: each counts as what it costs', async () => {
  const fetch = async (): Promise<Response> => {
    let pieces = 0
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      pieces += 1000
      if (pieces > 150_000) controller.error(new Error('more than 150,000 pieces were read'))
      else for (let count = 0; count < 1000; count++) controller.enqueue(new Uint8Array([32]))
    }
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
  }
  const db = await open('x', { storage: memory() })
  onTestFinished(() => db.close())
  await expect(
    db.collection('docs').replicate({ from: 'https://couch.test/docs', fetch, retry: false }),
  ).rejects.toThrow('the answer has more than 128 MiB')
})

test('a replication ends if the server forgets each replication checkpoint', async () => {
  const url = await serve((request, response) => {
    if (request.url!.startsWith('/docs/_local') && request.method === 'GET') response.writeHead(404).end('{}')
    else if (request.url === '/docs/_bulk_docs') response.end('[]')
    else if (request.url === '/docs/_revs_diff') response.end('{"a":{"missing":[]}}')
    else response.end('{"update_seq":1,"rev":"0-1"}')
  })
  const db = await open('x', { storage: memory() })
  onTestFinished(() => db.close())
  await db.collection('docs').insert({ _id: 'a' })
  const push = db.collection('docs').replicate({ to: `${url}/docs`, retry: false, backOff: () => 1 })
  await expect(push).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
})

/** Answers of a server, and the requests that it got. */
function answering(answer: (path: string, requests: number) => Response): {
  readonly fetch: typeof globalThis.fetch
  readonly paths: string[]
} {
  const paths: string[] = []
  const fetch = async (url: URL | RequestInfo): Promise<Response> => {
    paths.push(new URL(url as string).pathname)
    return answer(paths.at(-1)!, paths.length)
  }
  return { fetch, paths }
}

const COUCH: Readonly<Record<string, object>> = {
  '/docs': { update_seq: 0 },
  '/docs/_changes': { results: [], last_seq: 0 },
}
const ofCouch = (path: string): Response => Response.json(COUCH[path] ?? {}, { status: path in COUCH ? 200 : 404 })

test('a website that answers JSON is no database', async () => {
  await using db = await open('x', { storage: memory() })
  const { fetch, paths } = answering(() => Response.json({ hello: 'world' }))
  await expect(db.collection('docs').replicate({ from: 'https://web.test/docs', fetch, retry: false })).rejects.toThrow(
    'what is there is not a CouchDB database',
  )
  expect(paths).toEqual(['/docs'])
})

test('a request is sent once more if the connection was closed, and not after another failure', async () => {
  await using db = await open('x', { storage: memory() })
  const run = (failure: Error): readonly [string[], PromiseLike<unknown>] => {
    const { fetch, paths } = answering((path, requests) => {
      if (requests === 1) throw failure
      return ofCouch(path)
    })
    const from = 'https://couch.test/docs'
    return [paths, db.collection('docs').replicate({ from, fetch, retry: false, checkpoint: 'none' })]
  }
  const [again, done] = run(new TypeError('fetch failed'))
  await expect(done).resolves.toMatchObject({ ok: true })
  expect(again.slice(0, 2)).toEqual(['/docs', '/docs'])
  const [once, failed] = run(new RangeError('not of the network'))
  await expect(failed).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
  expect(once).toEqual(['/docs'])
})

test('a replication without replication checkpoints reads and writes none of them', async () => {
  await using db = await open('x', { storage: memory() })
  const locals = async (checkpoint: 'none' | 'both'): Promise<number> => {
    const { fetch, paths } = answering(ofCouch)
    const options = { from: 'https://couch.test/docs', fetch, retry: false, checkpoint } as const
    await db
      .collection('docs')
      .replicate(options)
      .catch(() => {})
    return paths.filter((path) => path.includes('_local')).length
  }
  expect(await locals('none')).toBe(0)
  expect(await locals('both')).toBeGreaterThan(0)
})
