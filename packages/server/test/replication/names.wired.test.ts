/**
 * Goal: any name of an attachment, and any id, crosses between the library and the server, in both directions.
 * Method: all characters up to U+00FF, a sample up to U+FFFF, and names that URLs and headers swallow. Each comes with content of three
 * sizes: inside a document, in parts of a request, and with a request of its own. The content tells one name from another.
 */
import { expect, onTestFinished, test } from 'vitest'
import { open, type Collection, type Database, type JsonObject } from 'pannier'
import { memory } from 'pannier/memory'
import { ADMIN_NAME, ADMIN_PASSWORD, send, startServer } from '../test-server.ts'

const SAMPLED_EVERY = 1009
const CODES = Array.from({ length: 0x1_00_00 }, (_, code) => code).filter(
  (code) => code < 0x1_00 || code % SAMPLED_EVERY === 0 || [0x20_28, 0x20_29, 0xfe_ff, 0xff_fe, 0xff_ff].includes(code),
)
const isLoneSurrogate = (code: number): boolean => code >= 0xd8_00 && code < 0xe0_00
const CHARACTERS = CODES.filter((code) => !isLoneSurrogate(code)).map((code) => String.fromCharCode(code))
const ODD: readonly string[] = [
  '.',
  '..',
  '...',
  '.a',
  'a.',
  'a/..',
  'a/.',
  'a/./b',
  '../other',
  '../../other',
  'a/',
  '/a',
  '/',
  '//',
  'a//b',
  '%2e',
  '%2e%2e',
  '"',
  '"q"',
  'a"b',
  'a_b',
  'a\\b',
  'a\\"b',
  '\\',
  '\n',
  'a\nb',
  'a\r\nb',
  '\r\n\r\n',
  'a; filename="b"',
  "UTF-8''x",
  '%',
  '%zz',
  ' a',
  'a ',
  'a b',
  'a?b',
  'a#b',
  'a+b',
  'a&b',
  'a:b',
  'http://x/y',
  '😀',
  'a\u0301',
  '\u00e1',
  '__proto__',
  'constructor',
  'n'.repeat(300),
]
const NAMES = [...new Set([...ODD, ...CHARACTERS.map((char) => `x${char}y`), ...CHARACTERS.slice(0, 0x80)])].filter(
  (name) => !name.startsWith('_'),
)
const IDS = [...new Set([...ODD, ...CHARACTERS.map((char) => `x${char}y`)])].filter((id) => !id.startsWith('_'))
const BATCH = 200

interface Input {
  readonly data: Uint8Array<ArrayBuffer>
  readonly contentType?: string
}

async function fresh(name: string): Promise<Database> {
  const db = await open(name, { storage: memory() })
  onTestFinished(() => db.close())
  return db
}

const contentOf = (name: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify([name, 'content']))

function attachments(names: readonly string[], more: Record<string, number> = {}): Record<string, Input> {
  const entries: [string, Input][] = names.map((name) => [name, { data: contentOf(name), contentType: 'text/x' }])
  const filled: [string, Input][] = Object.entries(more).map(([name, length]) => [
    name,
    { data: new Uint8Array(length).fill(7) },
  ])
  return Object.fromEntries([...entries, ...filled])
}

async function crossed(source: Collection<JsonObject>, target: Collection<JsonObject>): Promise<string[]> {
  const wrong: string[] = []
  for await (const { id } of source.list()) {
    const names = Object.keys(((await source.get(id))!['_attachments'] ?? {}) as object)
    const found = Object.keys(((await target.get(id))?.['_attachments'] ?? {}) as object)
    if (names.join('\n') !== found.join('\n'))
      wrong.push(`${JSON.stringify(id)}: ${found.length} of ${names.length} attachments`)
    else
      for (const name of names) {
        const [mine, theirs] = await Promise.all(
          [source, target].map(async (one) => (await one.getAttachment(id, name))!.bytes()),
        )
        if (Buffer.compare(mine!, theirs!) !== 0) wrong.push(`${JSON.stringify([id, name])}: other content`)
      }
  }
  return wrong
}

async function there(name: string): Promise<{ url: string; auth: { username: string; password: string } }> {
  const { url, close } = await startServer()
  onTestFinished(close)
  return { url: `${url}/${name}`, auth: { username: ADMIN_NAME, password: ADMIN_PASSWORD } }
}

const WAYS: Readonly<
  Record<string, (docs: Collection<JsonObject>, id: string, names: readonly string[]) => Promise<unknown>>
> = {
  'inside the document': (docs, id, names) => docs.insert({ _id: id, _attachments: attachments(names) }),
  'in parts of a request': (docs, id, names) =>
    docs.insert({ _id: id, _attachments: attachments(names, { filler: 140_000 }) }),
  'with requests of their own': async (docs, id, names) => {
    await docs.insert({ _id: id, _attachments: attachments(names) })
    await docs.update(id, { edited: true })
  },
}

test.each(Object.keys(WAYS))('names of attachments, %s', async (way) => {
  const [here, other] = [
    (await fresh('here')).collection<JsonObject>('n'),
    (await fresh('other')).collection<JsonObject>('n'),
  ]
  for (let at = 0; at < NAMES.length; at += BATCH) await WAYS[way]!(here, `d${at}`, NAMES.slice(at, at + BATCH))
  const { url, auth } = await there('n')
  expect(await here.replicate({ to: url, auth })).toMatchObject({ ok: true, docsDenied: 0 })
  expect(await other.replicate({ from: url, auth, snapshot: false })).toMatchObject({ ok: true, docsDenied: 0 })
  expect(await crossed(here, other)).toEqual([])
})

test('ids, with attachments in parts of a request and with requests of their own', async () => {
  const [here, other] = [
    (await fresh('here')).collection<JsonObject>('n'),
    (await fresh('other')).collection<JsonObject>('n'),
  ]
  await here.insert(IDS.map((_id) => ({ _id, _attachments: attachments(['a']) })))
  await here.update(IDS, { edited: true })
  await here.insert(
    ODD.filter((id) => !id.startsWith('_')).map((id) => ({
      _id: `${id}\u{1f600}`,
      _attachments: attachments(['a'], { filler: 140_000 }),
    })),
  )
  for (const id of ['.', '..'])
    await here.update(id, (old) => ({
      ...old,
      _attachments: { ...(old['_attachments'] as object), more: { data: new Uint8Array(140_000) } },
    }))
  const { url, auth } = await there('n')
  expect(await here.replicate({ to: url, auth })).toMatchObject({ ok: true, docsDenied: 0 })
  expect(await other.replicate({ from: url, auth, snapshot: false })).toMatchObject({ ok: true, docsDenied: 0 })
  expect(await crossed(here, other)).toEqual([])
})

test('half of a surrogate pair is in no JSON that the server takes: it denies that document, and stops no other', async () => {
  const here = (await fresh('here')).collection<JsonObject>('n')
  await here.insert({ _id: 'a\ud800' })
  await here.insert({ _id: 'b', _attachments: { '\udc00': { data: contentOf('b') } } })
  await here.insert({ _id: 'c', _attachments: { '\udc00': { data: new Uint8Array(140_000) } } })
  await here.insert({ _id: 'good' })
  const { url, auth } = await there('n')
  expect(await here.replicate({ to: url, auth })).toMatchObject({ docsDenied: 3 })
  const other = (await fresh('other')).collection<JsonObject>('n')
  await other.replicate({ from: url, auth })
  expect((await other.list().toArray()).map(({ id }) => id)).toEqual(['good'])
})

test("parts with CouchDB's names, which escape nothing, are taken in their order", async () => {
  const { url, close } = await startServer()
  onTestFinished(close)
  await send(url, 'PUT /n')
  const names = ['a"b', 'a', 'c\\d', 'e\r\nf', '"', 'plain', 'ü']
  const json = {
    _attachments: Object.fromEntries(
      names.map((name) => [name, { follows: true, content_type: 'text/x', length: contentOf(name).length }]),
    ),
  }
  const parts = names.map(
    (name) =>
      `content-disposition: attachment; filename="${name}"\r\ncontent-type: text/x\r\n\r\n${new TextDecoder().decode(contentOf(name))}`,
  )
  const body = `--b\r\n${['content-type: application/json\r\n\r\n' + JSON.stringify(json), ...parts].join('\r\n--b\r\n')}\r\n--b--`
  const answer = await send(url, 'PUT /n/x', body, { 'content-type': 'multipart/related; boundary="b"' })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  for (const name of names) {
    const { text } = await send(url, `GET /n/x/${encodeURIComponent(name)}`)
    expect(text).toBe(JSON.stringify([name, 'content']))
  }
})

test('a collection whose name no URL can hold is refused by name, and synced by its URL', async () => {
  const { url, auth } = await there('')
  const db = await fresh('here')
  await db.collection('..').insert({ _id: 'a' })
  await expect(Promise.resolve(db.sync(url, { collections: ['..'], auth }))).rejects.toThrow(
    "sync(): a collection whose name no URL can hold must be given with its URL, as { name: url }, got '..'",
  )
  expect(await db.sync(url, { collections: { '..': `${url}dots` }, auth })).toMatchObject({ ok: true, docsWritten: 1 })
})
