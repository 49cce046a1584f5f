/** Goal: handlers of events and middlewares read the body of a request, and its route reads the same one afterwards. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PASSWORD, startRest, type RestServer } from '../rest/rest-server.ts'

const HOOKS = `
export default ({ onRecordAuthWithPasswordRequest, onCollectionsListRequest, routerUse, ApiError }) => {
  onRecordAuthWithPasswordRequest(async (e) => {
    const { identity } = await e.bindBody()
    if (identity === 'eve@example.com') throw new ApiError(403, 'Not you.')
    await e.next()
  }, 'users')
  onCollectionsListRequest(async (e) => {
    const { body, method } = await e.requestInfo()
    e.response.headers.set('x-body', method + JSON.stringify(body))
    await e.next()
  })
  routerUse(async (e) => {
    if (e.request.headers.get('x-read')) {
      const [one, two] = await Promise.all([e.bindBody(), e.bindBody()]).catch((error) => [{ title: error.message }, {}])
      e.response.headers.set('x-title', String(one.title).slice(0, 80) + Object.keys(two))
      const [file] = await e.findUploadedFiles('photo').catch(() => [])
      if (file) {
        const text = await new Response(file.stream()).text()
        e.response.headers.set('x-file', file.name + ' ' + file.size + ': ' + text.slice(0, 20))
      }
    }
    await e.next()
  })
}
`

let dir: string
let server: RestServer

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pannier-bodies-'))
  await mkdir(join(dir, 'hooks'))
  await writeFile(join(dir, 'hooks/bodies.js'), HOOKS)
  server = await startRest({ dir: join(dir, 'data'), app: { hooks: { dir: join(dir, 'hooks') } } })
  const fields = [
    { name: 'title', type: 'text', max: 1_000_000 },
    { name: 'photo', type: 'file', maxSelect: 1, maxSize: 1_000_000 },
  ]
  await server.call('POST /collections', { name: 'posts', type: 'base', createRule: '', fields })
})
afterAll(async () => {
  await server.close()
  await rm(dir, { recursive: true, force: true })
})

function post(body: BodyInit, headers: Readonly<Record<string, string>>): Promise<Response> {
  return fetch(`${server.url}/api/collections/posts/records`, {
    method: 'POST',
    body,
    headers: { 'x-read': '1', ...headers },
  })
}

test('an event of a login sees who wants to log in, and the login reads its form afterwards', async () => {
  const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
  await server.call('POST /collections/users/records', account)
  const logIn = (identity: string): ReturnType<RestServer['call']> =>
    server.call('POST /collections/users/auth-with-password', { identity, password: PASSWORD }, '')
  expect((await logIn('ann@example.com')).status).toBe(200)
  expect((await logIn('eve@example.com')).json).toMatchObject({ status: 403, message: 'Not you.' })
})

test('a request without a body has an empty one', async () => {
  const answer = await fetch(`${server.url}/api/collections`, { headers: { authorization: server.token } })
  expect([answer.status, answer.headers.get('x-body')]).toEqual([200, 'GET{}'])
})

const LONG = 'long '.repeat(50_000)
const JSON_TYPE = { 'content-type': 'application/json' }

test.each<[string, string, BodyInit, Readonly<Record<string, string>>]>([
  ['JSON', 'one', JSON.stringify({ title: 'one' }), JSON_TYPE],
  ['a long one', LONG, JSON.stringify({ title: LONG }), JSON_TYPE],
  ['a packed one', LONG, gzipSync(JSON.stringify({ title: LONG })), { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ['a form', 'one', new URLSearchParams({ title: 'one' }), {}],
])('%s is read by a middleware, twice, and by the route', async (_, title, body, headers) => {
  const answer = await post(body, headers)
  expect(answer.headers.get('x-title')).toBe(`${title.slice(0, 80)}title`)
  expect(await answer.json()).toMatchObject({ title })
})

test('a form with files is read by a middleware, files too, and by the route', async () => {
  const form = new FormData()
  form.set('title', 'files')
  form.set('photo', new File(['a picture'], 'photo.txt'))
  const answer = await post(form, {})
  expect([answer.headers.get('x-title'), answer.headers.get('x-file')]).toEqual([
    'filestitle',
    'photo.txt 9: a picture',
  ])
  const record = (await answer.json()) as { readonly id: string; readonly title: string; readonly photo: string }
  expect(record).toMatchObject({ title: 'files', photo: expect.stringMatching(/^photo_\w+\.txt$/) as string })
  const stored = await fetch(`${server.url}/api/files/posts/${record.id}/${record.photo}`)
  expect(await stored.text()).toBe('a picture')
})

test('a form with files that is too large is refused to both, and one of another route is for the route alone', async () => {
  const form = new FormData()
  form.set('photo', new File([new Uint8Array(40_000_000)], 'photo.txt'))
  expect((await post(form, {})).status).toBe(413)
  const upload = new FormData()
  upload.set('file', new File(['no archive'], 'a.zip'))
  const answer = await fetch(`${server.url}/api/backups/upload`, {
    method: 'POST',
    body: upload,
    headers: { 'x-read': '1', authorization: server.token },
  })
  expect(answer.headers.get('x-title')).toContain('a form with files can be read around writes of records')
})

test('a body that is no JSON is refused to both', async () => {
  expect((await post('{', JSON_TYPE)).status).toBe(400)
})
