/** Goal: superusers make, list, fetch, bring, delete and restore backups through PocketBase's API, also by the SDK. */
import { createServer as createHttpServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PocketBase from 'pocketbase'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { PannierServer } from '../../src/index.ts'
import { freePort } from '../../../../tools/processes.ts'
import { EMAIL, PASSWORD, startRest, tokenFor } from './rest-server.ts'
import type { RestServer } from './rest-server.ts'

const EMPTY_ZIP: Buffer = Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex')

let server: RestServer
/** The server after a restore. */
let again: PannierServer | undefined
let user: string

beforeAll(async () => {
  server = await startRest({
    port: await freePort(),
    onRestart: () => {
      const { port } = new URL(server.url)
      void (async () => {
        await server.server.close()
        again = await createServer({ dir: server.dir, logger: false })
        await again.listen({ port: Number(port) })
      })()
    },
  })
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  user = await tokenFor(server.url, 'users', account.email, PASSWORD)
})
afterAll(async () => {
  await again?.close()
  await server.close()
})

async function keys(): Promise<string[]> {
  const { json } = await server.call('GET /backups')
  return (json as unknown as { key: string }[]).map(({ key }) => key)
}

function upload(name: string, content: Uint8Array = EMPTY_ZIP): Promise<Response> {
  const body = new FormData()
  body.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name)
  return fetch(`${server.url}/api/backups/upload`, { method: 'POST', body, headers: { authorization: server.token } })
}

test.each([
  'GET /backups',
  'POST /backups',
  'POST /backups/upload',
  'DELETE /backups/a.zip',
  'POST /backups/a.zip/restore',
])('%s is for superusers', async (request) => {
  expect((await server.call(request, undefined, '')).status).toBe(401)
  expect((await server.call(request, undefined, user)).status).toBe(403)
})

test('names are checked as in PocketBase', async () => {
  expect((await server.call('POST /backups', { name: 'test.zip' })).status).toBe(204)
  const wrong = async (name: string): Promise<unknown> => (await server.call('POST /backups', { name })).json['data']
  expect(await wrong('!test.zip')).toEqual({
    name: { code: 'validation_match_invalid', message: 'Must be in a valid format.' },
  })
  expect(await wrong(`${'a'.repeat(160)}.zip`)).toMatchObject({ name: { code: 'validation_length_out_of_range' } })
  expect(await wrong('test.zip')).toEqual({
    name: { code: 'validation_backup_name_exists', message: 'The backup file name is invalid or already exists.' },
  })
  expect((await server.call('POST /backups')).status).toBe(204)
  expect(await keys()).toEqual([expect.stringMatching(/^pb_backup_acme_\d{14}\.zip$/), 'test.zip'])
  expect((await server.call('GET /backups?fields=key')).text).toContain('[{"key":"pb_backup_acme_')
})

test('what is brought has to be a zip file with a new name', async () => {
  expect((await upload('@test4.zip')).status).toBe(204)
  expect(await (await upload('@test4.zip')).json()).toMatchObject({
    data: { file: { code: 'validation_backup_name_exists' } },
  })
  expect(await (await upload('x.zip', Buffer.from('no zip'))).json()).toMatchObject({
    data: { file: { code: 'validation_invalid_mime_type' } },
  })
  const none = await server.call('POST /backups/upload', 'x'.repeat(40_000_000))
  expect([none.status, none.json['data']]).toEqual([
    400,
    { file: { code: 'validation_required', message: 'Cannot be blank.' } },
  ])
  expect((await server.call('DELETE /backups/%40test4.zip')).status).toBe(204)
  const missing = await server.call('DELETE /backups/%40test4.zip')
  expect([missing.status, missing.json['message']]).toEqual([
    400,
    'Invalid or already deleted backup file. Raw error: \nError: There is no backup "@test4.zip".',
  ])
})

test('a download is for a file token of a superuser, and for nothing else', async () => {
  const tokenOf = async (by: string): Promise<string> =>
    String((await server.call('POST /files/token', undefined, by)).json['token'])
  const get = async (token: string, by = ''): Promise<number> =>
    (await server.call(`GET /backups/test.zip?token=${token}`, undefined, by)).status
  const token = await tokenOf(server.token)
  expect(await Promise.all([get(''), get('', server.token), get(server.token), get(await tokenOf(user))])).toEqual([
    403, 403, 403, 403,
  ])
  expect((await server.call(`GET /backups/missing?token=${token}`, undefined, '')).status).toBe(404)
  const { status, headers, text } = await server.call(`GET /backups/test.zip?token=${token}`, undefined, '')
  expect([status, headers.get('content-type')]).toEqual([200, 'application/zip'])
  expect(headers.get('content-disposition')).toContain('attachment')
  for (const part of ['storage/', 'data.db', 'auxiliary.db']) expect(text).toContain(part)
  const range = { headers: { range: 'bytes=0-3' } }
  const part = await fetch(`${server.url}/api/backups/test.zip?token=${token}`, range)
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 0-3/${headers.get('content-length')}`])
  expect(Buffer.from(await part.arrayBuffer()).toString('hex')).toBe('504b0304')
  await server.call('PATCH /settings', { superuserIPs: ['10.0.0.1', '127.0.0.1'] })
  expect(await get(token)).toBe(200)
  await server.call('PATCH /settings', { superuserIPs: [] })
})

test('health says whether a backup can be made', async () => {
  expect((await server.call('GET /health')).json['data']).toEqual({
    canBackup: true,
    possibleProxyHeader: '',
    realIP: '127.0.0.1',
  })
})

test('the SDK makes, lists, restores and deletes backups', async () => {
  const client = new PocketBase(server.url)
  client.autoCancellation(false)
  await client.collection('_superusers').authWithPassword(EMAIL, PASSWORD)
  expect(await client.backups.create('sdk.zip')).toBe(true)
  expect((await client.backups.getFullList()).map(({ key }) => key)).toContain('sdk.zip')
  const later = { email: 'later@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await client.collection('users').create(later)
  await expect(client.backups.restore('missing.zip')).rejects.toMatchObject({
    response: { message: 'Missing or invalid backup file.' },
  })
  expect(await client.backups.restore('sdk.zip')).toBe(true)
  await expect.poll(() => again?.url).toBeDefined()
  // The token was made before, and its key came back.
  const { items } = await client.collection('users').getList()
  expect(items.map(({ email }) => email as string)).toEqual(['ann@example.com'])
  expect(await client.backups.delete('sdk.zip')).toBe(true)
})

test('a backup is answered when the server closes', async () => {
  const closing = await startRest()
  const bucket = createHttpServer((request) => {
    request.resume()
    if (request.method === 'PUT') void closing.close()
    else request.socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
  })
  bucket.listen(0, '127.0.0.1')
  await once(bucket, 'listening')
  const { port } = bucket.address() as AddressInfo
  const place = { bucket: 'b', region: 'r', accessKey: 'a', secret: 's', forcePathStyle: true }
  const s3 = { enabled: true, endpoint: `http://127.0.0.1:${port}`, ...place }
  expect((await closing.call('PATCH /settings', { backups: { s3 } })).status).toBe(200)
  const { status, json } = await closing.call('POST /backups', { name: 'late.zip' })
  expect([status, json['message']]).toEqual([503, expect.stringContaining('The server is closing')])
  await closing.close()
  bucket.closeAllConnections()
  bucket.close()
})
