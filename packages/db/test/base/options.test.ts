/** Goal: a misspelt option of the public API is named, with the one that is meant. */
import { expect, test } from 'vitest'
import { checkOptions, nearest } from '../../src/base/options.ts'
import { open } from '../../src/index.ts'
import { memory } from '../../src/memory.ts'

test('what is no object, and what there is not', () => {
  const names = { collections: true, storage: true } as const
  for (const wrong of [null, 5, 'x', []]) expect(() => checkOptions('f()', wrong, names)).toThrow(TypeError)
  checkOptions('f()', { storage: undefined }, names)
  const check = (options: object) => () => checkOptions('f()', options, names)
  expect(check({ colections: 1 })).toThrow("f(): there is no option 'colections'; did you mean 'collections'?")
  expect(check({ nothing: 1 })).toThrow("f(): there is no option 'nothing'; it takes collections, storage")
  expect(check({ toString: 1 })).toThrow("there is no option 'toString'")
  expect(nearest('index', ['schema', 'indexes'])).toBe('indexes')
  expect(nearest('x', ['on', 'at'])).toBeUndefined()
})

test('the functions of the public API say which option they do not have', async () => {
  expect(() => open('x', { colections: {} } as never)).toThrow("did you mean 'collections'?")
  await using db = await open('x', { storage: memory() })
  const people = db.collection<{ name: string }>('people')
  const wrong: [string, () => unknown][] = [
    ['indexes', () => db.collection('people', { index: ['name'] } as never)],
    ['multi', () => db.collection('people', { indexes: [{ on: 'tags', mult: true } as never] })],
    ['revisionsLimit', () => db.createCollection('x', { revisionLimit: 5 } as never)],
    ['atomic', () => people.insert({ name: 'a' }, { atomc: false } as never)],
    ['newEdits', () => people.put({ name: 'a' }, { new_edits: false } as never)],
    ['atomic', () => people.delete('a', { atomik: false } as never)],
    ['contentType', () => people.putAttachment('a', 'x', 'y', { content_type: 'text/html' } as never)],
    ['since', () => people.changes({ sinc: 5 } as never)],
    ['limit', () => people.list({ limt: 5 } as never)],
    ['format', () => people.export({ frmat: 'json' } as never)],
    ['mode', () => people.import('[]', { mod: 'upsert' } as never)],
    ['match', () => people.search('x', { mach: 'any' } as never)],
    ['limit', () => people.view('v', { map: () => {} }).query({ limt: 5 } as never)],
    ['retry', () => people.sync(db.collection('other'), { retri: true } as never)],
    ['selector', () => people.sync(db.collection('other'), { push: { selectr: {} } } as never)],
    ['collections', () => db.sync('https://example.org', { colections: ['people'] } as never)],
  ]
  for (const [meant, call] of wrong)
    await expect((async () => await call())(), meant).rejects.toThrow(`did you mean '${meant}'?`)
  await expect((async () => await db.sync('https://example.org', undefined as never))()).rejects.toThrow(
    'db.sync(): collections must be given',
  )
  expect(() => people.find().sort({ name: -1 } as never)).toThrow("write '-name'")
  expect(() => people.find().fields(['name', 'age'] as never)).toThrow("one by one, 'name', 'age'")
  expect(() =>
    people
      .find()
      .live()
      .subscribe(undefined as never),
  ).toThrow('the listener must be a function')
  expect(() => people.find({ name: /^a/ } as never)).toThrow('$regex')
  expect(() => people.find({ name: new Date(0) } as never)).toThrow('toISOString')
  await expect(people.search('x').count()).rejects.toThrow('text: true')
})
