/** Uploads the files of the cases to a server, asks for them, and gives the answers without what chance has made. */
import { createHash } from 'node:crypto'
import { request as send } from 'node:http'
import type { IncomingMessage } from 'node:http'
import sharp from 'sharp'
import { ask } from '../../../../../tools/test/pocketbase.ts'
import { THUMBS, type FileCase, type FileRequest } from './cases.ts'

export interface FileAnswer {
  /** What was asked. */
  readonly asked: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The text of a short one, the digest of a long one, what a thumb shows. */
  readonly body: string
  /** 16 points of a thumb: red, green, blue, alpha. */
  readonly points?: readonly number[]
}

const HEADERS = [
  'accept-ranges',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'last-modified',
  'x-content-type-options',
  'x-frame-options',
]
const SHOWN_BYTES = 600
const POINTS = 4
const SIDE_MIN = 20

export async function askAll(url: string, token: string, cases: readonly FileCase[]): Promise<FileAnswer[]> {
  const fields = [
    { name: 'file', type: 'file', maxSelect: 1, maxSize: 1_000_000, thumbs: THUMBS },
    { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
  ]
  await told(url, '/api/collections', { name: 'golden', type: 'base', fields }, token)
  const answers: FileAnswer[] = []
  for (const { name, content, requests } of cases) {
    const form = new FormData()
    form.append('file', new Blob([Buffer.from(content)]), name)
    const { id, file } = await told(url, '/api/collections/golden/records', form, token)
    for (const asked of requests) {
      const { query = '', method = 'GET', headers = {} } = asked
      const path = `/api/files/golden/${id}/${encodeURIComponent(file!)}${query === '' ? '' : `?${query}`}`
      const answer = await answerOf(url + path, asked)
      answers.push({ ...answer, asked: [method, name, query, JSON.stringify(headers)].join(' ') })
    }
  }
  await ask(url, 'DELETE', '/api/collections/golden', undefined, token)
  return answers
}

async function told(url: string, path: string, body: unknown, token: string): Promise<Record<string, string>> {
  const reply = await ask(url, 'POST', path, body, token)
  if (reply.status !== 200) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
  return reply.body as Record<string, string>
}

async function answerOf(
  url: string,
  { method = 'GET', headers = {} }: FileRequest,
): Promise<Omit<FileAnswer, 'asked'>> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, { method, headers }, resolve).on('error', reject).end()
  })
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  const body = Buffer.concat(pieces)
  // A file without a name gets ten random characters, and three of them may look like a size.
  const isThumb = method === 'GET' && /filename=\d+x\d+[tbf]?_/.test(response.headers['content-disposition'] ?? '')
  const shown = isThumb ? await shownThumb(body) : { body: shownBody(body, response.headers['content-type']) }
  const isSizeFree = /thumb=(?!$|x)/.test(url)
  const named = HEADERS.flatMap((name) => {
    const value = response.headers[name]
    // Encoders differ.
    return value === undefined || (name === 'content-length' && isSizeFree) ? [] : [[name, settled(String(value))]]
  })
  return { status: response.statusCode!, headers: Object.fromEntries(named) as Record<string, string>, ...shown }
}

function shownBody(body: Buffer, type = ''): string {
  const text = body.toString('latin1')
  const boundary = /boundary=(\S+)/.exec(type)?.[1]
  const plain = boundary === undefined ? text : text.replaceAll(boundary, 'BOUNDARY')
  return plain.length <= SHOWN_BYTES ? plain : createHash('sha256').update(plain).digest('hex')
}

async function shownThumb(body: Buffer): Promise<Pick<FileAnswer, 'body' | 'points'>> {
  const { format, width, height, pages = 1 } = await sharp(body).metadata()
  const pixels = await sharp(body)
    .ensureAlpha()
    .resize(POINTS, POINTS, { fit: 'fill', kernel: 'linear' })
    .raw()
    .toBuffer()
  // Filters alone decide how the smallest ones look.
  const points = Math.min(width, height) < SIDE_MIN ? {} : { points: [...pixels] }
  return { body: `${format} ${width}x${height}, ${pages} page`, ...points }
}

/** Without random names, times and boundaries. */
function settled(value: string): string {
  return value
    .replace(/[a-z0-9]{10}_[a-z0-9]{10}(?=\.|$)/, 'RANDOM_RANDOM')
    .replace(/_[a-z0-9]{10}(?=\.|$)/, '_RANDOM')
    .replace(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/, 'DATE')
    .replace(/boundary=\S+/, 'boundary=BOUNDARY')
}
