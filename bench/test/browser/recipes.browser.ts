/**
 * Goal: the recipes of the guide that move data from another product lose nothing, whatever the keys of that data are.
 * Method: the code of the pages as it stands, on data that is not the sample of the page. What did not come over is still there.
 */
import { stripTypeScriptTypes } from 'node:module'
import { assertEqual } from '../../../packages/db/testing/check.ts'
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { modulesOf, readPages } from '../../../tools/docs/code-blocks.ts'
import type {} from './recipes.page.ts'

/** The code of the last module of a page, with its imports as values. */
function recipe(name: string): string {
  const page = readPages().find(({ path }) => path === `docs/guide/${name}.md`)!
  return asBody(modulesOf(page).at(-1)!.code)
}

function asBody(code: string): string {
  return stripTypeScriptTypes(code).replaceAll(
    /import \{([^}]*)\} from '([^']+)'/g,
    (_, names: string, module: string) => `const {${names}} = modules['${module}']`,
  )
}

const COUNTS = `const counts = {}
const moved = await modules.pannier.open('app-2')
for (const name of await moved.collections()) counts[name] = (await moved.collection(name).find().sort('_id').toArray()).map(({ _rev, ...row }) => row)
await moved.destroy()`

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  const run = async (...parts: readonly string[]): Promise<unknown[]> => {
    const page = await browser.open(`${baseUrl}/recipes.page`)
    const results: unknown[] = []
    for (const part of parts) results.push(await page.evaluate((code) => recipes.run(code), part))
    await page.close()
    return results
  }

  test('Dexie: keys of any name, of several fields, of numbers and beside the rows come over', async () => {
    const [, moved, found] = await run(
      `const old = new modules.dexie.Dexie('app')
      old.version(1).stores({ auto: '++id', books: 'isbn, title', settings: '', pairs: '[a+b]' })
      await old.table('auto').bulkAdd([{ n: 1 }, { n: 2 }])
      await old.table('books').bulkAdd([{ isbn: 'x1' }, { isbn: 'x2' }, { isbn: 'x3' }])
      await old.table('settings').put({ v: 1 }, 'theme'); await old.table('settings').put({ v: 2 }, 'lang')
      await old.table('pairs').bulkAdd([{ a: 1, b: 'x' }, { a: 1, b: 'y' }])
      old.close()`,
      recipe('from-dexie'),
      `${COUNTS}; return [counts, await modules.dexie.Dexie.exists('app')]`,
    )
    assertEqual(moved, undefined)
    assertEqual(found, [
      {
        auto: [
          { _id: '1', id: 1, n: 1 },
          { _id: '2', id: 2, n: 2 },
        ],
        books: ['x1', 'x2', 'x3'].map((isbn) => ({ _id: isbn, isbn })),
        pairs: [
          { _id: '[1,"x"]', a: 1, b: 'x' },
          { _id: '[1,"y"]', a: 1, b: 'y' },
        ],
        settings: [
          { _id: 'lang', v: 2 },
          { _id: 'theme', v: 1 },
        ],
      },
      false,
    ])
  })

  test('Dexie: keys that become one text stop the move, and an empty database stays', async () => {
    const [, clash, kept] = await run(
      `const old = new modules.dexie.Dexie('app')
      old.version(1).stores({ mixed: '' })
      await old.table('mixed').put({ v: 1 }, 1); await old.table('mixed').put({ v: 2 }, '1')
      old.close()`,
      recipe('from-dexie'),
      `${COUNTS}; const old = await new modules.dexie.Dexie('app').open(); const left = await old.table('mixed').count(); await old.table('mixed').clear(); old.close(); return left`,
    )
    assertEqual([/The old database stays/.test(String(clash)), kept], [true, 2])
    const [, exists] = await run(recipe('from-dexie'), `${COUNTS}; return modules.dexie.Dexie.exists('app')`)
    assertEqual(exists, true)
  })

  const rx = (key: string, then: string): string =>
    `const old = await modules.rxdb.createRxDatabase({ name: 'app', storage: modules['rxdb/plugins/storage-dexie'].getRxStorageDexie() })
    const schema = (primaryKey) => ({ version: 0, primaryKey, type: 'object', properties: { [primaryKey]: { type: 'string', maxLength: 100 } } })
    await old.addCollections({ people: { schema: schema('${key}') }, others: { schema: schema('isbn') } })
    ${then}`
  const declared = (code: string, key: string): string =>
    code.replace("primaryKey: 'id'", `primaryKey: '${key}'`).replace('{ id: {', `{ ${key}: {`)

  test('RxDB: primary keys of any name come over, and collections that are not declared stay', async () => {
    const key = 'isbn'
    const [made, moved, found] = await run(
      rx(
        key,
        `for (const id of ['a', 'b', 'c']) { await old.people.insert({ ${key}: id }); await old.others.insert({ isbn: id }) } await old.close()`,
      ),
      declared(recipe('from-rxdb'), key),
      `${COUNTS}; ${rx(key, 'const left = [await old.people.count().exec(), await old.others.count().exec()]; await old.remove(); return [counts.people, left]')}`,
    )
    assertEqual([made, moved], [undefined, undefined])
    assertEqual(found, [['a', 'b', 'c'].map((id) => ({ [key]: id, _id: id })), [0, 3]])
  })

  test('PouchDB: indexes stay behind, and conflicts stop the move', async () => {
    const code = recipe('from-pouchdb').replaceAll("'app'", "'app-2'")
    const make = `const { PouchDB } = modules.pouchdb; const old = new PouchDB('people');`
    const [, moved, found, , stopped, kept] = await run(
      `${make} await old.bulkDocs([{ _id: 'a', n: 1 }, { _id: 'b' }, { _id: '_design/idx-1', views: {} }])`,
      make + code,
      `${COUNTS}; ${make} const { doc_count } = await old.info(); return [counts.people, doc_count]`,
      `${make} await old.bulkDocs([{ _id: 'a', _rev: '1-a', n: 1 }, { _id: 'a', _rev: '1-b', n: 2 }], { new_edits: false })`,
      make + code,
      `${make} const { doc_count } = await old.info(); await old.destroy(); return doc_count`,
    )
    assertEqual(moved, undefined)
    assertEqual(found, [[{ _id: 'a', n: 1 }, { _id: 'b' }], 0])
    assertEqual([String(stopped), kept], ['Error: There are conflicts: move with a server.', 1])
  })
}
