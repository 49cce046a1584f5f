/**
 * Reads bodies of requests in pieces, unpacks compressed ones, and enforces limits of size and of a client's silence.
 * Nothing parses a content type before a handler asks for it.
 */
import { isObject } from 'pannier/internal'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createGunzip, type Gunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { heldBodies } from './held-bodies.ts'
import { badRequest, HttpError, tooLarge } from './http-error.ts'
import { Silence } from './silence.ts'
import { parseJson } from './strict-json.ts'

export interface BodyLimits {
  readonly bytesMax: number
  /** A client that sends nothing for that long is given up. */
  readonly stallMsMax: number
}

/** Small bodies: shorter ones are read at once. */
export const SMALL_BYTES_MAX: number = 64 * 1024

type JsonObject = Record<string, unknown>

/** Bodies that were read before the handlers of their requests, which read them too. */
const kept = new WeakMap<FastifyRequest, Promise<Uint8Array>>()

/** The response of a request, on the request: a weak map costs the collector. */
const RESPONSE: unique symbol = Symbol('response')
type WithResponse = IncomingMessage & { [RESPONSE]?: ServerResponse }
/** Answers of requests whose clients wait for `100 Continue`. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * A client that asks first (`Expect: 100-continue`) sends its body when a handler reads it. A body that is refused
 * before is not sent. The connection closes then, because the client might send it all the same.
 */
export function askForBodiesWhenRead(server: Server): void {
  server.on('request', (request: WithResponse, response: ServerResponse) => (request[RESPONSE] = response))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response)
    response.shouldKeepAlive = false
    server.emit('request', request, response)
  })
}

function askForBody(request: IncomingMessage): void {
  const response = waiting.get(request)
  if (response === undefined) return
  waiting.delete(request)
  response.shouldKeepAlive = !/\bclose\b/i.test(request.headers.connection ?? '')
  response.writeContinue()
}

/** The body in pieces. @throws (the iteration) HttpError 408, 413, 415, 400 */
export async function* bodyPieces(
  request: FastifyRequest,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const known = await kept.get(request)
  if (known === undefined) yield* piecesOf(request, limits)
  else yield await checked(request, known, Math.min(limits.bytesMax, request.bodyBytesMax ?? Infinity))
}

async function* piecesOf(request: FastifyRequest, limits: BodyLimits): AsyncGenerator<Uint8Array, void, undefined> {
  const bytesMax = Math.min(limits.bytesMax, request.bodyBytesMax ?? Infinity)
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  const { raw } = request
  if (encoding !== 'identity' && encoding !== 'gzip')
    throw new HttpError(415, 'bad_content_encoding', `The encoding '${encoding}' is not known.`)
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
  // A stream that is closed already ends nothing that it is piped into.
  if (raw.destroyed && !raw.readableEnded) throw cutOff()
  askForBody(raw)
  const unpacked = encoding === 'gzip' ? createGunzip() : undefined
  const silence = silenceOf(request, limits)
  silence.begin()
  const source = unpacked === undefined ? raw : raw.pipe(unpacked)
  if (unpacked !== undefined) raw.once('error', (error) => unpacked.destroy(error))
  let length = 0
  try {
    // A request that is not read to its end still gets its answer.
    for await (const piece of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      silence.end()
      length += piece.length
      if (length > bytesMax) throw bodyTooLarge(bytesMax)
      if (unpacked !== undefined) checkRatio(unpacked, length)
      // The sender may have lost the right to send even the last piece.
      await request.checkAgain?.()
      yield piece
      silence.begin()
    }
    if (!raw.complete) throw cutOff()
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code === 'string' && code.startsWith('Z_')) throw badRequest('The body is not valid gzip.')
    if (code === 'ECONNRESET') throw cutOff()
    throw error
  } finally {
    silence.end()
    if (unpacked !== undefined) {
      raw.unpipe(unpacked)
      unpacked.destroy()
    }
    // Discards the rest, so that the client reads the answer.
    raw.resume()
  }
}

const DRAINED_BYTES_MAX: number = 256 * 1024 * 1024
const DRAINED_MS_MAX = 30_000

/**
 * The rest of a body whose connection the answer will close. A client that is still sending would find the connection
 * broken, and never see why. So the rest is skipped first, up to a bound.
 */
export function passOverRest({ raw, headers, server }: FastifyRequest): Promise<void> | undefined {
  if (raw.complete) return undefined
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  const isClosing = raw.httpVersion === '1.0' || /\bclose\b/i.test(headers.connection ?? '')
  if (!hasBody || !isClosing || raw.destroyed || waiting.has(raw)) return undefined
  return new Promise((resolve) => {
    let bytes = 0
    const cancel = server.environment.after(DRAINED_MS_MAX, resolve)
    const end = (): void => {
      cancel()
      resolve()
    }
    raw.on('data', (piece: Uint8Array) => {
      bytes += piece.length
      if (bytes > DRAINED_BYTES_MAX) end()
    })
    for (const event of ['end', 'close', 'error']) raw.once(event, end)
  })
}

/** The whole body. */
export async function readBody(request: FastifyRequest, limits: BodyLimits): Promise<Uint8Array> {
  const known = await kept.get(request)
  return known === undefined ? readWhole(request, limits) : checked(request, known, limits.bytesMax)
}

/** Reads the whole body, which can be read again. */
export async function keepBody(request: FastifyRequest, limits: BodyLimits): Promise<void> {
  const body = kept.get(request) ?? readWhole(request, limits)
  kept.set(request, body)
  await body
}

/** A body that is kept, for who may still send it. */
async function checked(request: FastifyRequest, body: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  if (body.length > bytesMax) throw bodyTooLarge(bytesMax)
  await request.checkAgain?.()
  return body
}

async function readWhole(request: FastifyRequest, limits: BodyLimits): Promise<Uint8Array> {
  const length = Number(request.headers['content-length'])
  if (length <= SMALL_BYTES_MAX && length <= limits.bytesMax && request.headers['content-encoding'] === undefined) {
    const bytes = await readSmall(request, limits)
    await request.checkAgain?.()
    return bytes
  }
  const pieces: Uint8Array[] = []
  await holding(request, async (hold) => {
    let bytes = 0
    for await (const piece of piecesOf(request, limits)) {
      hold((bytes += piece.length))
      pieces.push(piece)
    }
  })
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** Reads a body into memory. `hold` says how many bytes of it are there, and throws an HttpError 503 if that is too much. */
export async function holding<T>(
  request: FastifyRequest,
  read: (hold: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const { to, release } = heldBodies.hold(request)
  try {
    return await read(to)
  } finally {
    // What was parsed stays in memory until there is an answer.
    const response = (request.raw as WithResponse)[RESPONSE]
    if (response === undefined || response.closed) release()
    else response.once('close', release)
  }
}

/** Without an iterator, which would take most of the time. The header bounds the bytes that can come. */
function readSmall(request: FastifyRequest, limits: BodyLimits): Promise<Uint8Array> {
  const { raw } = request
  askForBody(raw)
  return new Promise((resolve, reject) => {
    if (raw.destroyed) {
      reject(cutOff())
      return
    }
    const pieces: Uint8Array[] = []
    const silence = silenceOf(request, limits)
    silence.begin()
    const fail = (error: Error): void => {
      silence.end()
      reject((error as { code?: unknown }).code === 'ECONNRESET' ? cutOff() : error)
    }
    raw.on('data', (piece: Uint8Array) => {
      pieces.push(piece)
      silence.broken()
    })
    // `close` comes after it, if it was not the end.
    raw.on('error', fail)
    raw.on('end', () => {
      silence.end()
      if (!raw.complete) fail(cutOff())
      else resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    })
    raw.on('close', () => raw.readableEnded || fail(cutOff()))
  })
}

/** Any JSON value; undefined for an empty body. */
export async function readJson(request: FastifyRequest, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBody(request, limits)
  return bytes.length === 0 ? undefined : parseJson(bytes)
}

export async function readJsonObject(request: FastifyRequest, limits: BodyLimits): Promise<JsonObject> {
  const value = await readJson(request, limits)
  if (!isObject(value)) throw badRequest('Request body must be a JSON object')
  return value
}

/** Gives up a client that has stopped sending. */
function silenceOf({ raw, server }: FastifyRequest, { stallMsMax }: BodyLimits): Silence {
  return new Silence(server.environment, stallMsMax, () => {
    raw.destroy(new HttpError(408, 'request_timeout', 'The client has stopped sending.'))
  })
}

function cutOff(): HttpError {
  return badRequest('The body was cut off.')
}

export function bodyTooLarge(bytesMax: number): HttpError {
  return tooLarge(`the request entity is too large: at most ${bytesMax} bytes are taken`)
}

/** A sender can make content in gzip expand a thousandfold at no cost. Bytes that it may become for each byte that has come. Text becomes 5 to 30. */
export const RATIO_MAX = 100
/** Less than this may become of anything. */
const FREE_BYTES: number = 1024 * 1024

/** `bytes`: that have come out so far. @throws HttpError 413 */
export function checkRatio({ bytesWritten }: Gunzip, bytes: number): void {
  if (bytes > FREE_BYTES && bytes > bytesWritten * RATIO_MAX)
    throw tooLarge(`Content in gzip may become ${RATIO_MAX} times as large: send it without compression.`)
}
