/** Goal: requests that bring documents take as much memory as one document, whatever they bring, and limits hold for each of it. */
import { createCipheriv, createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { systemEnvironment } from 'pannier/internal'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BodyStore } from '../../src/http/body-store.ts'
import { DocumentFinder } from '../../src/http/document-finder.ts'
import { ADMIN, send, startServer } from '../test-server.ts'
import type { TestServer } from '../test-server.ts'

const MEBIBYTE = 1024 * 1024

/** What does not pack well: the same bytes in each run. */
const randomContent = (length: number): Buffer =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(length))
const JSON_TYPE = { 'content-type': 'application/json' }

let running: TestServer
let url: string
/** Takes less. */
let strict: TestServer

beforeAll(async () => {
  running = await startServer({ limits: { attachmentBytesMax: 60 * MEBIBYTE, uploadBytesMax: 200 * MEBIBYTE } })
  strict = await startServer({ limits: { attachmentBytesMax: 8 * MEBIBYTE, uploadBytesMax: 22 * MEBIBYTE } })
  url = running.url
  for (const each of [running, strict]) await send(each.url, 'PUT /db')
})
afterAll(async () => {
  for (const each of [running, strict]) await each.close()
})

interface Upload {
  readonly status: number
  readonly text: string
  /** The most that the process has taken more than before. */
  readonly grown: number
  readonly connection: string | undefined
}

/** Sends the pieces as fast as they are taken. */
function upload(target: string, pieces: Iterable<string | Uint8Array>, method = 'POST'): Promise<Upload> {
  const before = process.memoryUsage.rss()
  let highest = before
  const iterator = pieces[Symbol.iterator]()
  return new Promise((resolve, reject) => {
    const headers = { authorization: ADMIN, ...JSON_TYPE }
    let answer: Omit<Upload, 'grown'> | undefined
    let isSent = false
    const finish = (): void => {
      if (answer !== undefined && isSent) resolve({ ...answer, grown: highest - before })
    }
    const sending = httpRequest(target, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => (text += more))
      response.on('end', () => {
        answer = { status: response.statusCode!, text, connection: response.headers.connection }
        finish()
      })
    })
    sending.on('error', reject)
    const go = (): void => {
      for (;;) {
        const { done, value } = iterator.next()
        if (done === true) break
        highest = Math.max(highest, process.memoryUsage.rss())
        if (!sending.write(value)) {
          sending.once('drain', go)
          return
        }
      }
      sending.end(() => {
        isSent = true
        finish()
      })
    }
    go()
  })
}

/** So small that memory is looked at meanwhile. */
function* inPieces(data: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < data.length; at += MEBIBYTE) yield data.subarray(at, at + MEBIBYTE)
}

function* photos(count: number, content: Buffer): Generator<string | Uint8Array> {
  const data = Buffer.from(content.toString('base64'))
  yield '{"docs":['
  for (let at = 0; at < count; at++) {
    yield `${at === 0 ? '' : ','}{"_id":"photo${at}","_rev":"1-${'a'.repeat(32)}","_attachments":{"p":{"content_type":"image/jpeg","data":"`
    yield data
    yield `","revpos":1}},"n":${at}}`
  }
  yield '],"new_edits":false}'
}

describe('large bodies', () => {
  test('100 photos of 1 MiB in one _bulk_docs, in bounded memory', async () => {
    const content = randomContent(MEBIBYTE)
    const { status, text, grown } = await upload(`${url}/db/_bulk_docs`, photos(100, content))
    expect([status, text.trim()]).toEqual([201, '[]'])
    // The cache of pages may have all photos, and garbage as much.
    expect(grown).toBeLessThan((2 * 100 + 150) * MEBIBYTE)
    const { json } = await send(url, 'GET /db/photo99')
    expect(json).toMatchObject({
      n: 99,
      _attachments: {
        p: { length: MEBIBYTE, digest: `md5-${createHash('md5').update(content).digest('base64')}`, revpos: 1 },
      },
    })
    expect((await send(url, 'GET /db/_all_docs?limit=0')).json['total_rows']).toBe(100)
    expect(await readdir(running.dir)).toEqual(expect.not.arrayContaining([expect.stringContaining('upload')]))
  })

  test.each([
    ['POST', '/db/_bulk_docs', 'big1', 50],
    ['PUT', '/db/big2', 'big2', 8],
    ['POST', '/db', 'big3', 8],
  ])('one attachment inline: %s %s, %s of %i MiB', async (method, path, id, mebibytes) => {
    const content = randomContent(mebibytes * MEBIBYTE)
    const digest = `md5-${createHash('md5').update(content).digest('base64')}`
    const data = Buffer.from(content.toString('base64').replaceAll('/', '\\/'))
    const document = [`{"_id":"${id}","n":1,"_attachments":{"a\\u0062":{"data":"`, ...inPieces(data), '"}}}']
    const { status, grown } = await upload(
      url + path,
      path.endsWith('_docs') ? ['{"docs":[', ...document, ']}'] : document,
      method,
    )
    expect(status).toBe(201)
    expect(grown).toBeLessThan(150 * MEBIBYTE)
    const { json } = await send(url, `GET /db/${id}`)
    expect(json).toMatchObject({ n: 1, _attachments: { ab: { length: content.length, digest } } })
  })

  test('limits are of a document and of an attachment; the others are written', async () => {
    const big = Buffer.alloc(9 * MEBIBYTE).toString('base64')
    const pieces = [
      '{"docs":[{"_id":"l1"},{"_id":"l2","_attachments":{"a":{"data":"',
      big,
      '"}}},{"_id":"l3","text":"',
      'x'.repeat(9 * MEBIBYTE),
      '"},{"_id":"l4","_attachments":{"a":{"data":"',
      `${'A'.repeat(200_000)}*AAA`,
      '"}}},{"_id":"l5"}]}',
    ]
    const { status, text } = await upload(`${strict.url}/db/_bulk_docs`, pieces)
    expect([status, JSON.parse(text)]).toMatchObject([
      201,
      [
        { ok: true, id: 'l1' },
        { id: 'l2', error: 'too_large' },
        { id: 'l3', error: 'document_too_large' },
        { id: 'l4', error: 'bad_request', reason: "Invalid attachment data for 'a'" },
        { ok: true, id: 'l5' },
      ],
    ])
    expect((await send(strict.url, 'GET /db/_all_docs?startkey="l"&endkey="m"')).json['rows']).toHaveLength(2)
  })

  test('nothing is written of a body that is malformed, or cut off', async () => {
    const half = [...photos(4, randomContent(MEBIBYTE))].slice(0, -2)
    const ends = ['', ']', ']}}', '"}}}],"docs":[]}', '"}}} 7]}', '"}},"_attachments":{}}]}']
    for (const end of ends) {
      const { status } = await upload(`${url}/db/_bulk_docs`, [
        ...half.map((one) => String(one).replaceAll('photo', 'none')),
        end,
      ])
      expect([end, status]).toEqual([end, 400])
    }
    expect((await send(url, 'GET /db/_all_docs?startkey="none"&endkey="nonf"')).json['rows']).toEqual([])
  })

  test.each(['keep-alive', 'close'])('a 413 reaches a client that has the connection %s', async (connection) => {
    // More than sockets buffer: the client is still sending when it is answered.
    const body = Buffer.alloc(26 * MEBIBYTE, 'a')
    for (const [path, expected] of [
      ['/db/_bulk_docs', 413],
      ['/db/x', 405],
      ['/none/_bulk_docs', 404],
    ] as const) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: ADMIN, ...JSON_TYPE, connection, 'content-length': body.length }
        const sending = httpRequest(strict.url + path, { method: 'POST', headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode))
        })
        sending.on('error', reject).end(body)
      })
      expect([path, status]).toEqual([path, expected])
    }
    expect((await send(strict.url, 'GET /db')).status).toBe(200)
  })
})

describe('documents are found in JSON', () => {
  const DOCS = [
    { _id: 'a', _rev: '1-a', n: 1 },
    7,
    {
      _attachments: { 'x"y': { data: 'A'.repeat(70_000), z: [{}] }, small: { data: 'AAAA' } },
      data: 'B'.repeat(70_000),
    },
    [{ _id: 'not a document' }],
    { 'a\\': '\\', _attachments: [{ data: 'A'.repeat(70_000) }] },
    { nested: { _attachments: { n: { data: 'A'.repeat(70_000) } } }, text: '{"docs":[{}]}' },
    null,
    {},
  ]
  const TEXT = JSON.stringify({ options: { docs: [{}] }, x: [{}], docs: DOCS, 'd\\"ocs': [{}] })

  test.each([1, 2, 3, 7, 64, 65_536, 1e9])('in pieces of %i bytes', (size) => {
    const bytes = Buffer.from(TEXT)
    const finder = new DocumentFinder('docs')
    for (let at = 0; at < bytes.length; at += size) finder.push(bytes.subarray(at, at + size))
    const found = finder.documents.map(({ start, end }) => JSON.parse(bytes.subarray(start, end).toString()) as unknown)
    expect(found).toEqual([DOCS[0], DOCS[2], DOCS[4], DOCS[5], DOCS[7]])
    expect(finder.documents.map(({ index }) => index)).toEqual([0, 2, 4, 5, 7])
    expect(finder.documents[0]).toMatchObject({ id: 'a', rev: '1-a' })
    const contents = finder.documents.flatMap((place) => place.contents ?? [])
    expect(contents.map(({ name, start, end }) => [name, bytes.subarray(start, end).toString()])).toEqual([
      ['x"y', 'A'.repeat(70_000)],
    ])
    const around = JSON.parse(Buffer.from(finder.around()).toString()) as object
    expect(around).toEqual({
      options: { docs: [{}] },
      x: [{}],
      docs: DOCS.map((one) => (typeof one === 'object' && !Array.isArray(one) ? null : one)),
      'd\\"ocs': [{}],
    })
  })
})

describe('bodies that wait', () => {
  const storeOf = (limits: ConstructorParameters<typeof BodyStore>[2]) =>
    new BodyStore(running.dir, systemEnvironment(), limits)
  const pieces = async function* (...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
    for (const [at, size] of sizes.entries()) yield Buffer.alloc(size, at + 1)
  }

  test('are the same in memory and in a file, whatever part is read', async () => {
    const receive = (limits: { memoryBytesMax?: number } = {}) =>
      storeOf(limits).receive(pieces(10, 300_000, 7), () => {})
    const inMemory = await receive()
    const inFile = await receive({ memoryBytesMax: 100 })
    for (const [start, end] of [
      [0, 300_017],
      [0, 10],
      [5, 21],
      [16, 32],
      [31, 300_012],
      [299_999, 300_017],
      [3, 3],
    ] as const) {
      const expected = Buffer.from(await inMemory.read(start, end))
      expect(Buffer.from(await inFile.read(start, end)).equals(expected)).toBe(true)
    }
    for (const body of [inMemory, inFile]) await body.dispose()
  })

  test('are in a file when memory is full, and refused when the disk is full', async () => {
    const store = storeOf({ memoryBytesMax: 100, sharedBytesMax: 150, fileBytesMax: 200 })
    const first = await store.receive(pieces(100), () => {})
    const second = await store.receive(pieces(100), () => {})
    await expect(store.receive(pieces(100, 50), () => {})).rejects.toMatchObject({ status: 503 })
    await first.dispose()
    await second.dispose()
    const again = await store.receive(pieces(150), () => {})
    expect(again.length).toBe(150)
    await again.dispose()
  })

  test('give back their room when what sends them fails', async () => {
    const store = storeOf({ memoryBytesMax: 100, sharedBytesMax: 100, fileBytesMax: 200 })
    for (let round = 0; round < 5; round++) {
      const failing = async function* (): AsyncGenerator<Uint8Array> {
        yield* pieces(90, 90)
        throw new Error('cut off')
      }
      await expect(store.receive(failing(), () => {})).rejects.toThrow('cut off')
    }
  })
})
