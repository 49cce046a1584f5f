/** Goal: the text of a list that is kept says what the list says: no old record, and nothing that a rule, a hook or a definition hides. */
import { afterEach, expect, test } from 'vitest'
import { SYSTEM } from '../../../src/index.ts'
import { JsonText, safeJson } from '../../../src/gateway/json-text.ts'
import { recordsName } from '../../../src/definitions/definition.ts'
import { HookedReads } from '../../../src/records/hooked-reads.ts'
import { RecordReads } from '../../../src/records/record-reads.ts'
import { RecordTexts, type ShownRecord } from '../../../src/records/read/shown-record.ts'
import type { Actor } from '../../../src/access/actor.ts'
import type { ListOptions } from '../../../src/records/record-types.ts'
import { accessOf, account, ADMIN, NOBODY, openWorld, type World } from '../world.ts'

const FIELDS = [
  { type: 'text', name: 'title' },
  { type: 'text', name: 'secret', hidden: true },
]
const OPEN = { listRule: '', viewRule: '' }

let world: World
afterEach(() => world.close())

/** What is sent, which must be what `list` gives. Undefined: it comes from no kept text. */
async function text(name: string, options: ListOptions = {}, actor: Actor = NOBODY): Promise<string | undefined> {
  const sent = await world.reads.listText(actor, name, options)
  expect(safeJson(sent)).toBe(safeJson(await world.reads.list(actor, name, options)))
  return sent instanceof JsonText ? sent.text : undefined
}

test('a text follows writes, deletes and definitions, and superusers have texts of their own', async () => {
  world = await openWorld([{ name: 'posts', ...OPEN, fields: FIELDS }])
  const ids: string[] = []
  for (const title of ['one', '<b>two</b>', 'é \u{1f600} 漢'])
    ids.push(String((await world.writes.create(ADMIN, 'posts', { title, secret: 'key' })).id))
  for (let round = 0; round < 2; round++) {
    expect(await text('posts')).toContain('\\u003cb\\u003etwo')
    expect(await text('posts')).not.toContain('key')
    expect(await text('posts', {}, ADMIN)).toContain('key')
  }
  await world.writes.update(ADMIN, 'posts', ids[0]!, { title: 'changed' })
  expect(await text('posts')).toContain('changed')
  await world.writes.delete(ADMIN, 'posts', ids[0]!)
  expect(await text('posts')).not.toContain('changed')
  await world.definitions.update(SYSTEM, 'posts', { name: 'notes' })
  expect(await text('notes')).toContain('"collectionName":"notes"')
  const { fields } = world.definitions.get('notes')
  const hide = fields.map((field) => (field.name === 'title' ? { ...field, hidden: true } : field))
  await world.definitions.update(SYSTEM, 'notes', { fields: hide as never })
  expect(await text('notes')).not.toContain('two')
  await world.definitions.update(SYSTEM, 'notes', { fields: fields as never })
  expect(await text('notes', { perPage: 1, page: 2 })).toContain('漢')
  expect(await text('notes', { filter: "title ~ 'two'", skipTotal: true })).toContain('"totalItems":-1')
  expect(await text('notes', { after: '', perPage: 1 })).toContain('"nextCursor"')
})

test('no text is kept of what depends on more than the revision of a record', async () => {
  world = await openWorld([
    { id: 'pbc_people', name: 'people', type: 'auth', ...OPEN, fields: [] },
    { id: 'pbc_ruled', name: 'ruled', ...OPEN, fields: [{ ...FIELDS[0], viewRule: "@request.auth.id != ''" }] },
    {
      name: 'posts',
      ...OPEN,
      fields: [...FIELDS, { type: 'relation', name: 'author', collectionId: 'pbc_people', maxSelect: 1 }],
    },
  ])
  const password = { password: '1234567890', passwordConfirm: '1234567890' }
  const ann = await world.writes.create(ADMIN, 'people', { email: 'ann@example.com', ...password })
  await world.writes.create(ADMIN, 'posts', { title: 'one', author: ann.id })
  await world.writes.create(ADMIN, 'ruled', { title: 'mine' })
  const record = (await world.database.collection(recordsName(world.definitions.get('people'))).get(String(ann.id)))!
  const itself = account('pbc_people', record as never)
  expect(await text('posts')).toBeDefined()
  expect(await text('posts', { fields: 'title' })).toBeUndefined()
  expect(await text('posts', { expand: 'author' })).toBeUndefined()
  expect(await text('people', {}, itself)).toBeUndefined()
  expect(await text('people')).toBeUndefined()
  // What nothing is hidden of for one actor is hidden for the next.
  for (const actor of [itself, NOBODY, ADMIN, NOBODY]) {
    const sent = safeJson(await world.reads.listText(actor, 'ruled', {}))
    expect(sent.includes('mine')).toBe(actor !== NOBODY)
    await text('ruled', {}, actor)
  }
})

test('hooks of lists and of records keep texts away', async () => {
  world = await openWorld([{ name: 'posts', ...OPEN, fields: FIELDS }])
  const { definitions, database, environment, hooks, app } = world
  await world.writes.create(ADMIN, 'posts', { title: 'one' })
  const enrich = { isFor: () => true, run: async (_: Actor, shown: readonly ShownRecord[]) => shown.forEach(enriched) }
  const access = accessOf(definitions, environment)
  const reads = new RecordReads({ database, environment, definitions, access, viewReader: undefined as never, enrich })
  expect(safeJson(await reads.listText(NOBODY, 'posts', {}))).toContain('"title":"by a hook"')
  const hooked = new HookedReads({ environment, reads: world.reads, definitions, hooks, app })
  expect(await hooked.listText(NOBODY, 'posts', {})).toBeInstanceOf(JsonText)
  const handler = async (e: { result: { items: object[] }; next(): Promise<void> }): Promise<void> => {
    e.result.items = [{ title: 'by a hook' }]
    await e.next()
  }
  hooks.replace([{ name: 'onRecordsListRequest', tags: ['posts'], source: 'hooks/test.ts:1', handler }] as never)
  expect(await hooked.listText(NOBODY, 'posts', {})).toMatchObject({ items: [{ title: 'by a hook' }] })
})

function enriched(record: ShownRecord): void {
  record.enrich = (json) => ({ ...json, title: 'by a hook' })
}

test('texts take no more memory than they may, and a page of long texts is sent in pieces', async () => {
  world = await openWorld([{ name: 'posts', ...OPEN, fields: FIELDS }])
  const definition = world.definitions.get('posts')
  const shown = (id: string, title: string, rev: string | undefined = '1-a'): ShownRecord => {
    const document = { _id: id, ...(rev && { _rev: rev }), title } as never
    return { definition, document, hasEmail: false, without: new Set(), expand: undefined }
  }
  const rest = { page: 1, perPage: 30, totalItems: 1, totalPages: 1 }
  const texts = new RecordTexts(5000)
  for (let at = 0; at < 100; at++) {
    expect(texts.page([shown(`p${at}`, 'x'.repeat(300))], false, rest)!.text).toContain(`"id":"p${at}"`)
    expect(texts.bytes).toBeLessThanOrEqual(5000)
  }
  const before = texts.bytes
  expect(texts.page([shown('p99', 'later', '2-b')], false, rest)!.text).toContain('later')
  expect(texts.bytes).toBe(before - 295)
  // Half of a surrogate pair that was written by hand, and a row without a revision.
  expect(texts.page([shown('half', 'a\ud800b')], false, rest)!.text).toContain('a\ufffdb')
  expect(texts.page([shown('row', 'first', '')], false, rest)!.text).toContain('first')
  expect(texts.page([shown('row', 'second', '')], false, rest)!.text).toContain('second')
  expect(texts.page([shown('long', 'x'.repeat(300_000))], false, rest)).toBeUndefined()
  expect(texts.bytes).toBeLessThanOrEqual(5000)
})
