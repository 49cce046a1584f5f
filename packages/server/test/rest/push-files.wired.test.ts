/** Goal: files that come beside the transactions of a push are written with them, once, and judged as uploads by REST are. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEVICE, PushServer, type Outcome } from './push-server.ts'

let world: PushServer

beforeAll(async () => {
  world = await PushServer.start()
  await world.server.call('POST /collections', {
    name: 'albums',
    type: 'base',
    listRule: '',
    createRule: '@request.auth.id != ""',
    updateRule: '@request.auth.id != ""',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'cover', type: 'file', maxSize: 10, mimeTypes: ['text/plain'] },
      { name: 'pages', type: 'file', maxSelect: 3 },
    ],
  })
})
afterAll(() => world.server.close())

type Files = Readonly<Record<string, readonly { readonly part: string; readonly name: string }[]>>

const one = (part: string, name = `${part}.txt`): Files[string] => [{ part, name }]

/** `parts`: their content. */
async function push(
  transactions: readonly object[],
  parts: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly json: { readonly message?: string; readonly outcomes: Outcome[] } }> {
  const form = new FormData()
  form.append('@jsonPayload', JSON.stringify({ device: DEVICE, transactions }))
  for (const [part, text] of Object.entries(parts)) form.append(part, new Blob([text]), 'x')
  const headers = { authorization: world.ann.token }
  const answer = await fetch(`${world.server.url}/api/sync/push`, { method: 'POST', headers, body: form })
  return { status: answer.status, json: (await answer.json()) as Awaited<ReturnType<typeof push>>['json'] }
}

function creating(id: string, files: Files, values: object = {}): object {
  return { collection: 'albums', action: 'create', id, values, files }
}

const album = async (id: string): Promise<Readonly<Record<string, unknown>>> =>
  (await world.server.call(`GET /collections/albums/records/${id}`)).json

async function content(id: string, name: unknown): Promise<string> {
  return (await fetch(`${world.server.url}/api/files/albums/${id}/${String(name)}`)).text()
}

test('a file is written once, under a name that the server makes, whatever the push is sent with again', async () => {
  const id = world.newId()
  const transactions = [{ n: world.next(), writes: [creating(id, { cover: one('c', 'My Sea.txt') })] }]
  const first = await push(transactions, { c: 'sea' })
  expect(first.json.outcomes).toMatchObject([{ status: 'ok' }])
  const { cover } = await album(id)
  expect([cover, await content(id, cover)]).toEqual([expect.stringMatching(/^my_sea_\w{10}\.txt$/), 'sea'])
  for (const parts of [{ c: 'sea' }, {}] as const) expect(await push(transactions, parts)).toEqual(first)
  expect(await album(id)).toMatchObject({ cover })
})

test('files come after the names that stay, and are added by the keys of modifiers', async () => {
  const id = world.newId()
  await push([{ n: world.next(), writes: [creating(id, { pages: [...one('a'), ...one('b')] })] }], { a: 'A', b: 'B' })
  const [, kept] = (await album(id))['pages'] as string[]
  const update = (values: object, files: Files): object => ({
    collection: 'albums',
    action: 'update',
    id,
    base: null,
    values,
    files,
  })
  const writes = [update({ pages: [kept] }, { pages: one('c') }), update({}, { '+pages': one('d') })]
  expect((await push([{ n: world.next(), writes }], { c: 'C', d: 'D' })).json.outcomes).toMatchObject([
    { status: 'ok' },
  ])
  const pages = (await album(id))['pages'] as string[]
  expect(await Promise.all(pages.map((name) => content(id, name)))).toEqual(['D', 'B', 'C'])
})

test('the limits of the field and the rules judge a file, and what is refused leaves nothing', async () => {
  const ids = [1, 2, 3, 4].map(() => world.newId())
  const parts = { long: 'x'.repeat(11), page: '%PDF-1.4', ok: 'ok' }
  const files: Files[] = [{ cover: one('long') }, { cover: one('page') }, { pages: Array(4).fill(one('ok')[0]) }]
  const transactions = files.map((each, at) => ({ n: world.next(), writes: [creating(ids[at]!, each)] }))
  const { json } = await push(transactions, parts)
  expect(json.outcomes.map(({ data }) => data)).toMatchObject([
    { cover: { code: 'validation_file_size_limit' } },
    { cover: { code: 'validation_invalid_mime_type' } },
    { pages: { code: 'validation_too_many_files' } },
  ])
  for (const { n } of transactions) expect(json.outcomes.find((outcome) => outcome.n === n)!.code).toBe('INVALID')
  for (const id of ids) expect((await album(id))['id']).toBeUndefined()
})

test('a file for what is no file field is refused, so that no content is lost in silence', async () => {
  for (const key of ['title', 'nothing', 'pages-']) {
    const writes = [creating(world.newId(), { [key]: one('a') })]
    const { json } = await push([{ n: world.next(), writes }], { a: 'A' })
    expect(json.outcomes).toMatchObject([{ code: 'INVALID', data: { [key]: { code: 'validation_unknown_field' } } }])
  }
})

test('a file that did not come refuses the request, and the transaction is judged when it comes', async () => {
  const [before, id] = [world.newId(), world.newId()]
  const missing = { n: world.next(), writes: [creating(id, { cover: one('c') })] }
  const refused = await push([missing], {})
  expect([refused.status, refused.json.message]).toEqual([
    400,
    'The file "c" must come with the transaction that names it.',
  ])
  const next = { n: world.next(), writes: [creating(before, {}), creating(id, { cover: one('c') })] }
  expect((await push([next], { c: 'sea' })).json.outcomes).toMatchObject([{ status: 'ok' }])
  expect(await album(id)).toMatchObject({ cover: expect.any(String) })
})

test('files that are malformed are refused', async () => {
  for (const files of [[], { cover: 'c' }, { cover: [{ part: 'c' }] }, { cover: [{ part: 1, name: 'c' }] }])
    expect(
      (await push([{ n: world.next(), writes: [creating(world.newId(), files as unknown as Files)] }], {})).json
        .message,
    ).toContain('"files" of write 0 of transaction')
})
