/** Goal: the panel of documents shows what is stored, page by page, and writes nothing that its user has not seen. */
import { expect, test } from 'vitest'
import { ConflictsModel } from '../src/model/conflicts.ts'
import { DevtoolsModel } from '../src/model/devtools.ts'
import { DocumentsModel } from '../src/model/documents.ts'
import { EditorModel } from '../src/model/editor.ts'
import { Source } from '../src/model/source.ts'
import { clock, openShop } from './shop.ts'

async function opened(people?: number) {
  const db = await openShop(people)
  const source = new Source(db, undefined, () => {})
  const documents = new DocumentsModel(source, clock)
  await documents.refresh()
  return { db, source, documents, people: db.collection<Record<string, unknown>>('people') }
}

test('collections have counts, and the first one is shown by pages', async () => {
  const { db, documents } = await opened()
  expect(documents.collections).toMatchObject([{ name: 'people', documents: 120, deleted: 0 }])
  expect([documents.collection, documents.total, documents.pages]).toEqual(['people', 120, 3])
  expect(documents.rows).toHaveLength(50)
  await documents.turnTo(2)
  expect(documents.rows.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => `p00${at + 100}`))
  await documents.turnTo(99)
  expect(documents.page).toBe(2)
  await db.close()
})

test('questions: ids that begin with a text, a selector, a sort', async () => {
  const { db, documents } = await opened()
  await documents.ask({ text: 'p0001' })
  expect(documents.total).toBe(10)
  await documents.ask({ kind: 'selector', text: '{"city":"Oslo"}', sort: '-age' })
  expect([documents.total, documents.rows[0]!.preview]).toEqual([40, expect.stringContaining('"age":87')])
  await documents.ask({ text: '{"city"' })
  expect(documents.error).toMatch(/JSON/)
  await documents.ask({ text: '{"city":{"$near":1}}' })
  expect(documents.error).toMatch(/\$near/)
  await documents.ask({ text: '' })
  expect([documents.error, documents.total]).toEqual([undefined, 120])
  await db.close()
})

test('a commit is shown after a moment, and a thousand commits make few reads', async () => {
  const { db, documents, people } = await opened()
  let reads = 0
  documents.subscribe(() => reads++)
  for (let at = 0; at < 50; at++) await people.insert({ _id: `a${at}`, name: 'New' })
  await clock.until(() => documents.total === 170)
  expect(documents.rows[0]!.id).toBe('a0')
  expect(reads).toBeLessThan(20)
  documents.stop()
  await db.close()
})

test('after the database is closed the last rows stay, and nothing throws', async () => {
  const { db, source, documents } = await opened()
  await db.close()
  await clock.until(() => source.ended !== undefined)
  expect(source.ended).toBe('The app has closed it.')
  await documents.refresh()
  await documents.turnTo(1)
  expect([documents.rows.length, documents.error]).toEqual([50, undefined])
  const again = new DevtoolsModel({ databases: [db] }, clock, {})
  again.show('queries')
  await clock.until(() => again.shown?.source.ended !== undefined)
  again.stop()
})

test('ten thousand documents: a page reads a page', async () => {
  const { db, documents } = await opened(10_000)
  await documents.turnTo(150)
  expect([documents.total, documents.rows.length, documents.rows[0]!.id]).toEqual([10_000, 50, 'p07500'])
  await db.close()
})

test('the editor: a text that is no document is refused, another is stored', async () => {
  const { db, source, people } = await opened()
  const editor = new EditorModel(source, 'people', 'p00001')
  await editor.load()
  const { text } = editor
  expect(editor.isDirty).toBe(false)
  editor.edit(text.replace('{', ''))
  expect(editor.problem).toMatch(/no JSON/)
  editor.edit('[1]')
  expect(editor.problem).toMatch(/must be an object/)
  editor.edit(text.replace('p00001', 'other'))
  expect(editor.problem).toMatch(/_id of a document stays/)
  expect(await editor.save()).toBe(false)
  editor.edit(text.replace('Person 1', 'Ann'))
  expect([editor.problem, editor.isDirty, await editor.save()]).toEqual([undefined, true, true])
  expect([await people.get('p00001'), editor.isDirty]).toEqual([expect.objectContaining({ name: 'Ann' }), false])
  editor.stop()
  await db.close()
})

test('the editor follows others while its text is as stored, and says so when it is not', async () => {
  const { db, source, people } = await opened()
  const editor = new EditorModel(source, 'people', 'p00001')
  await editor.load()
  await people.update('p00001', { name: 'Bob' })
  await clock.until(() => editor.text.includes('Bob'))
  editor.edit(editor.text.replace('Bob', 'Mine'))
  await people.update('p00001', { name: 'Theirs' })
  await clock.until(() => editor.isStale)
  expect([editor.text.includes('Mine'), await editor.save()]).toEqual([true, false])
  expect(editor.error).toMatch(/PANNIER_CONFLICT/)
  expect(await editor.overwrite()).toBe(true)
  expect(await people.get('p00001')).toMatchObject({ name: 'Mine' })
  await people.delete('p00001')
  await clock.until(() => editor.isGone)
  editor.stop()
  await db.close()
})

test('a new document gets an id, and a deletion is of the revision that was seen', async () => {
  const { db, source, people } = await opened()
  const made = new EditorModel(source, 'people', undefined)
  made.edit('{"name":"New"}')
  expect(await made.save()).toBe(true)
  expect(await people.get(made.id!)).toMatchObject({ name: 'New' })
  expect(await made.remove()).toBe(true)
  expect([made.isGone, await people.get(made.id!)]).toEqual([true, undefined])
  const editor = new EditorModel(source, 'people', 'p00002')
  await editor.load()
  editor.stop()
  await people.update('p00002', { name: 'Changed' })
  expect([await editor.remove(), editor.isStale]).toEqual([false, true])
  await db.close()
})

test('conflicts are side by side, and fields of several versions can be chosen', async () => {
  const { db, source, people } = await opened(1)
  const first = (await people.get('p00000'))!
  const [, suffix] = String(first['_rev']).split('-') as [string, string]
  for (const [rev, name, city] of [
    ['b'.repeat(32), 'Ann', 'Oslo'],
    ['c'.repeat(32), 'Bob', 'Rome'],
  ] as const)
    await people.put(
      { _id: 'p00000', _rev: `2-${rev}`, _revisions: { start: 2, ids: [rev, suffix] }, name, city },
      { newEdits: false },
    )
  const conflicts = new ConflictsModel(source, 'people')
  await conflicts.refresh()
  expect([conflicts.ids, conflicts.total]).toEqual([['p00000'], 1])
  await conflicts.select('p00000')
  expect(conflicts.choice!.rows).toEqual([
    { field: 'name', differs: true, cells: ['"Bob"', '"Ann"'], chosen: 0 },
    { field: 'city', differs: true, cells: ['"Rome"', '"Oslo"'], chosen: 0 },
  ])
  conflicts.choose('city', 1)
  await people.update('p00000', { seen: true })
  expect([await conflicts.settle(), conflicts.error]).toEqual([false, expect.stringMatching(/changed meanwhile/)])
  conflicts.choose('city', 1)
  expect(await conflicts.settle()).toBe(true)
  expect(await people.get('p00000', { conflicts: true })).toMatchObject({ name: 'Bob', city: 'Oslo', seen: true })
  expect([conflicts.ids, (await people.get('p00000', { conflicts: true }))!._conflicts]).toEqual([[], undefined])
  await db.close()
})
