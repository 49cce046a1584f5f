/** Goal: a bucket takes, gives, lists and forgets content under keys of any form, and failures of the service have a reason. */
import type { ServerResponse } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { systemEnvironment } from 'pannier/internal'
import { virtualEnvironment } from 'pannier/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FilePlace } from '../../src/files/file-place.ts'
import { S3Place } from '../../src/files/s3-place.ts'
import { S3Server } from './s3-server.ts'

let server: S3Server
let place: FilePlace

beforeAll(async () => {
  server = await S3Server.start()
  place = new S3Place(server.options, systemEnvironment())
})
beforeEach(() => {
  server.fault = undefined
  server.requests.length = 0
})
afterAll(() => server[Symbol.asyncDispose]())

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

async function textOf(content: AsyncIterable<Uint8Array> | undefined): Promise<string | undefined> {
  if (content === undefined) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

async function keysOf(prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of place.list(prefix)) keys.push(key)
  return keys
}

test('content that was put is there with its type and size, whole and in ranges', async () => {
  await place.put('pbc_1/rec1/a.txt', bytesOf('0123456789'), 'text/plain; charset=utf-8')
  const head = await place.head('pbc_1/rec1/a.txt')
  expect(head).toMatchObject({ key: 'pbc_1/rec1/a.txt', size: 10, type: 'text/plain; charset=utf-8' })
  expect(Math.abs(head!.modifiedMs - Date.now())).toBeLessThan(60_000)
  expect(await textOf(await place.get('pbc_1/rec1/a.txt'))).toBe('0123456789')
  expect(await textOf(await place.get('pbc_1/rec1/a.txt', { start: 2, end: 5 }))).toBe('234')
  expect(await textOf(await place.get('pbc_1/rec1/a.txt', { start: 5, end: 5 }))).toBe('')
})

test('empty content is content', async () => {
  await place.put('empty', new Uint8Array(0), 'text/plain')
  expect(await place.head('empty')).toMatchObject({ size: 0 })
  expect(await textOf(await place.get('empty'))).toBe('')
})

test('what is missing is undefined, and can be deleted', async () => {
  expect(await place.head('nothing')).toBe(undefined)
  expect(await place.get('nothing')).toBe(undefined)
  await place.delete('nothing')
})

test.each(['a b+c&d=e', "quote's (1) *!.txt", 'ünïcode_名.png', 'per%20cent%', 'tags<x>"&amp;', 'semi;colon,at@#?'])(
  'the key %j is put, listed, read and deleted',
  async (name) => {
    const key = `nasty/${name}`
    await place.put(key, bytesOf(name), 'text/plain')
    expect(await keysOf('nasty/')).toEqual([key])
    expect(await textOf(await place.get(key))).toBe(name)
    await place.delete(key)
    expect(await keysOf('nasty/')).toEqual([])
  },
)

test('a list continues after its first page', async () => {
  // The pages of s3rver need a cipher that OpenSSL no longer has.
  server.fault = ({ url }, response) => {
    const asked = new URL(url!, 'http://host').searchParams
    const next = asked.get('continuation-token')
    const item = (key: string): string =>
      `<Contents><Key>${key}</Key><LastModified>2026-11-23T10:00:00.000Z</LastModified><Size>7</Size></Contents>`
    const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>1/a+b=</NextContinuationToken>'
    const page = next === '1/a+b=' ? item('x/2') : item('x/1') + more
    response.end(`<ListBucketResult>${asked.get('prefix') === 'x/' ? page : ''}</ListBucketResult>`)
    return true
  }
  const found = []
  for await (const info of place.list('x/')) found.push(info)
  const modifiedMs = Date.UTC(2026, 10, 23, 10)
  expect(found).toEqual([
    { key: 'x/1', size: 7, modifiedMs },
    { key: 'x/2', size: 7, modifiedMs },
  ])
})

const MEBIBYTE = 1024 * 1024

async function* pieces(bytes: number, failAt = Infinity): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += MEBIBYTE) {
    if (at >= failAt) throw new Error('the source has failed')
    yield new Uint8Array(Math.min(MEBIBYTE, bytes - at)).fill(at / MEBIBYTE)
  }
}

test('long content goes in parts, and is one object', async () => {
  const bytes = 20 * MEBIBYTE + 5
  await place.put('long', pieces(bytes), 'application/zip')
  expect(server.requests.filter((request) => request.includes('partNumber')).length).toBe(3)
  expect(await place.head('long')).toMatchObject({ size: bytes, type: 'application/zip' })
  const around = await place.get('long', { start: 8 * MEBIBYTE - 1, end: 8 * MEBIBYTE + 1 })
  expect(await textOf(around)).toBe('\x07\x08')
})

test('exactly one part takes one request', async () => {
  await place.put('part', pieces(8 * MEBIBYTE), 'text/plain')
  expect(server.requests).toEqual(['PUT /pannier/part'])
})

test('content whose source fails is not there', async () => {
  await expect(place.put('broken', pieces(30 * MEBIBYTE, 19 * MEBIBYTE), 'x/y')).rejects.toThrow('the source')
  expect(await place.head('broken')).toBe(undefined)
})

test.each([
  ['begin', /uploads=/],
  ['take the first part', /partNumber=1/],
])('what makes the content ends when the service does not %s', async (_, refused) => {
  server.fault = ({ url }, response) => {
    if (!refused.test(url!)) return false
    response.writeHead(403).end()
    return true
  }
  let isEnded = false
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces(20 * MEBIBYTE)
    } finally {
      isEnded = true
    }
  }
  await expect(place.put('refused', content(), 'text/plain')).rejects.toThrow('S3 refuses')
  expect(isEnded).toBe(true)
})

test('a short outage is bridged, a refusal has its reason', async () => {
  let failures = 2
  server.fault = (_request, response) => {
    if (failures-- <= 0) return false
    response.writeHead(503).end()
    return true
  }
  await place.put('again', bytesOf('x'), 'text/plain')
  expect(await textOf(await place.get('again'))).toBe('x')
  const stranger = new S3Place({ ...server.options, secret: 'wrong' }, systemEnvironment())
  await expect(stranger.put('x', bytesOf('x'), 'text/plain')).rejects.toThrow(
    /^S3 refuses PUT of x: 403 SignatureDoesNotMatch/,
  )
  const nowhere = new S3Place({ ...server.options, bucket: 'missing' }, systemEnvironment())
  await expect(nowhere.put('x', bytesOf('x'), 'text/plain')).rejects.toThrow(/404 NoSuchBucket/)
})

test('an unreachable service is named by its address', async () => {
  const nobody = new S3Place({ ...server.options, endpoint: 'http://127.0.0.1:1' }, systemEnvironment())
  await expect(nobody.head('x')).rejects.toThrow(/^S3 can't be reached at http:\/\/127\.0\.0\.1:1\/pannier: /)
})

test('a bucket in the name of the host', async () => {
  const named = new S3Place({ ...server.options, endpoint: 's3.invalid/', forcePathStyle: false }, systemEnvironment())
  await expect(named.head('x')).rejects.toThrow("S3 can't be reached at https://pannier.s3.invalid: ")
})

setFlagsFromString('--expose-gc')
/** Node holds some signals weakly. */
const collectGarbage = runInNewContext('gc') as () => void

const REQUESTS: readonly [string, (slow: FilePlace) => Promise<unknown>][] = [
  ['a short upload', (slow) => slow.put('x', bytesOf('x'), 'text/plain')],
  ['a long upload', (slow) => slow.put('x', pieces(9 * MEBIBYTE), 'text/plain')],
  ['a look at an object', (slow) => slow.head('x')],
  ['a download', async (slow) => textOf(await slow.get('x'))],
  ['a removal', (slow) => slow.delete('x')],
  ['a list', (slow) => slow.list('')[Symbol.asyncIterator]().next()],
]
const SLOW: readonly [string, (response: ServerResponse) => void][] = [
  ['does not answer', () => {}],
  ['does not end its answer', (response) => void response.writeHead(200, { 'content-length': 1000 }).write('x')],
  ['does not end its refusal', (response) => void response.writeHead(403).write('<Error>')],
]

test.each(SLOW.flatMap(([how, answer]) => REQUESTS.map(([what, ask]) => ({ how, answer, what, ask }))))(
  '$what fails after half a minute if the service $how',
  async ({ how, answer, what, ask }) => {
    // Such an answer has no content.
    if (what === 'a look at an object' && how !== 'does not answer') return
    const clock = virtualEnvironment()
    const asked = Promise.withResolvers<void>()
    let isSettled = false
    server.fault = (_request, response) => {
      answer(response)
      asked.resolve()
      return true
    }
    const result = ask(new S3Place(server.options, clock))
      .then(
        () => 'succeeded',
        (error: Error) => error.message,
      )
      .finally(() => (isSettled = true))
    await asked.promise
    if (what === 'a short upload') collectGarbage()
    while (!isSettled) await clock.advance(1000)
    expect(await result).toMatch(
      /^S3 (can't be reached at .*: S3 has not answered|has sent nothing more of x) for 30 s\.$/,
    )
  },
)

test('a request to a silent service ends with its place', async () => {
  const ending = new AbortController()
  server.fault = () => {
    ending.abort(new Error('The server is closing.'))
    return true
  }
  const ended = new S3Place(server.options, systemEnvironment(), ending.signal)
  await expect(ended.head('x')).rejects.toThrow('The server is closing.')
})
