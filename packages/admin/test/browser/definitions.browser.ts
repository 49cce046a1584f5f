/** Goal: collections are made, changed and deleted by their definitions, and nothing is saved before it was shown what happens. */
import { generateKeyPairSync } from 'node:crypto'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { until } from '../../../server/test/test-server.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { ITSELF } from '../server.ts'
import { fill, focused, goTo, isSound, press, sees, seesNo, tick, waitFor, withServerPage } from './steps.ts'

const BOOKS = {
  name: 'books',
  type: 'base',
  fields: [
    { name: 'title', type: 'text', required: true },
    { name: 'pages', type: 'number' },
    { name: 'tags', type: 'select', values: ['old', 'new'], maxSelect: 2 },
  ],
  indexes: ['CREATE INDEX `idx_books_pages` ON `books` (`pages`)'],
}

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return
  const withBooks = async (use: (page: Page, server: TestServer) => Promise<void>): Promise<void> => {
    await withServerPage(browser, '/start', use, async ({ server }) => {
      const { definitions, records } = server.backend
      await definitions.create(ITSELF.principal, BOOKS)
      for (const [title, pages, tags] of [
        ['One', 10, ['old', 'new']],
        ['Two', 20, ['new']],
      ])
        await records.create(ITSELF, 'books', { title, pages, tags })
    })
  }

  test('a collection is made with options of its fields, and what is wrong stands beside the field', async () => {
    await withBooks(async (page, { server }) => {
      await press(page, 'New collection')
      await sees(page, 'New collection', 'h1')
      await isSound(page)
      await fill(page, 'Name', 'books')
      await press(page, 'Add a field')
      await press(page, 'Selection')
      await fill(page, 'Name of the field', 'genre')
      await press(page, 'Make the collection')
      await sees(page, 'unique', '.field-wrong')
      await sees(page, 'blank', '.def-field-wrong .field-wrong')
      await fill(page, 'Values to choose from', 'crime\nlove')
      await fill(page, 'How many at most', '2')
      await fill(page, 'Name', 'novels')
      await press(page, 'Make the collection')
      await sees(page, 'List rule')
      const { fields } = server.backend.definitions.get('novels')
      const genre = fields.find(({ name }) => name === 'genre')
      assertEqual(genre?.type === 'select' && [genre.values, genre.maxSelect], [['crime', 'love'], 2])
      assertEqual(
        fields.map(({ name }) => name),
        ['id', 'genre', 'created', 'updated'],
      )
    })
  })

  test('a view is tried before it is made, and shows its fields', async () => {
    await withBooks(async (page, { server }) => {
      await goTo(page, '/new')
      await fill(page, 'Name', 'thick')
      await fill(page, 'Type', 'view')
      await fill(page, 'Query', 'SELECT id, titel FROM books')
      await press(page, 'Try the query')
      await sees(page, 'titel', '.field-wrong')
      await fill(page, 'Query', 'SELECT id, title FROM books WHERE pages > 15')
      await press(page, 'Try the query')
      await sees(page, 'Two', '.sample')
      await isSound(page)
      await press(page, 'Make the collection')
      await sees(page, 'View rule')
      assertEqual((await server.backend.records.list(ITSELF, 'thick', {})).totalItems, 1)
      await press(page, 'Fields')
      await sees(page, 'They follow from the query.')
    })
  })

  test('fields are renamed, moved by keys, changed and removed; the review says what is lost', async () => {
    await withBooks(async (page, { server }) => {
      await goTo(page, '/fields/books')
      await fill(page, 'Name of the field title', 'headline')
      await press(page, 'Options of headline')
      await fill(page, 'Largest', '80')
      await press(page, 'Options of tags')
      await fill(page, 'How many at most', '1')
      await press(page, 'Remove the field pages')
      await sees(page, 'These fields are removed when you save')
      await focusNamed(page, 'Name of the field headline')
      await page.evaluate(() =>
        document.activeElement!.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'ArrowDown', altKey: true, bubbles: true }),
        ),
      )
      assertEqual(await focused(page), 'Name of the field headline')
      await isSound(page)
      await press(page, 'Review and save')
      await sees(page, 'The field pages goes, with all its values', 'dialog')
      await sees(page, 'The index idx_books_pages goes', 'dialog')
      await sees(page, 'The order of the fields', 'dialog')
      await sees(page, 'pages: 2 records lose their values.', 'dialog')
      await sees(page, 'tags: 1 record loses its value.', 'dialog')
      await press(page, 'As a migration file')
      await sees(page, 'app.updateCollection', 'dialog')
      await isSound(page)
      await press(page, 'Save, and lose these values')
      await sees(page, 'The collection books is saved.')
      await seesNo(page, 'There are unsaved changes.')
      const { fields } = server.backend.definitions.get('books')
      assertEqual(
        fields.map(({ name }) => name),
        ['id', 'tags', 'headline'],
      )
      const { items } = await server.backend.records.list(ITSELF, 'books', { sort: 'headline' })
      assertEqual(
        items.map(({ headline, tags }) => [headline, tags]),
        [
          ['One', 'new'],
          ['Two', 'new'],
        ],
      )
    })
  })

  test('an error of the server stands beside its option, also after another tab was shown', async () => {
    await withBooks(async (page) => {
      await goTo(page, '/fields/books')
      await press(page, 'Options of title')
      await fill(page, 'Smallest', '9')
      await fill(page, 'Largest', '5')
      await press(page, 'Rules')
      await sees(page, 'There are unsaved changes.')
      await press(page, 'Review and save')
      await sees(page, 'title.max', '.save-bar')
      await press(page, 'Fields')
      await sees(page, 'no less than 9', '.def-field .field-wrong')
      await isSound(page)
      await press(page, 'Discard')
      await sees(page, 'Discard the changes?', 'dialog')
      await page.evaluate(() => [...document.querySelectorAll<HTMLElement>('dialog button')].at(-1)!.click())
      await seesNo(page, 'There are unsaved changes.')
    })
  })

  test('what others make, change and delete appears without a reload, and a draft says that it is stale', async () => {
    await withBooks(async (page, { server: { backend } }) => {
      const { principal } = ITSELF
      await goTo(page, '/fields/books')
      await sees(page, 'Name of the collection')
      await backend.definitions.create(principal, { name: 'fresh', type: 'base', fields: BOOKS.fields })
      await sees(page, 'fresh', '.sidebar')
      await backend.definitions.delete(principal, 'fresh')
      await seesNo(page, 'fresh', '.sidebar')
      await press(page, 'Remove the field tags')
      await backend.definitions.update(principal, 'books', { listRule: '' })
      await sees(page, 'Somebody else has changed this collection since.')
      await press(page, 'Keep tags')
      await seesNo(page, 'Somebody else')
    })
  })

  test('a collection is duplicated, emptied and deleted, when its name is typed', async () => {
    await withBooks(async (page, { server: { backend } }) => {
      await goTo(page, '/fields/books')
      await press(page, 'More of the collection')
      await press(page, 'Duplicate')
      await fill(page, 'Name of the copy', 'users')
      await pressInDialog(page, 'Duplicate')
      await sees(page, 'unique', 'dialog .field-wrong')
      await fill(page, 'Name of the copy', 'papers')
      await pressInDialog(page, 'Duplicate')
      await sees(page, 'papers', 'h1')
      assertEqual(backend.definitions.get('papers').indexes.length, 1)
      await goTo(page, '/fields/books')
      await press(page, 'More of the collection')
      await press(page, 'Delete all records')
      await isSound(page)
      await fill(page, 'Type books to confirm', 'books')
      await pressInDialog(page, 'Delete all records')
      await sees(page, 'All records of books are deleted.')
      assertEqual((await backend.records.list(ITSELF, 'books', {})).totalItems, 0)
      await press(page, 'More of the collection')
      await press(page, 'Delete the collection')
      await fill(page, 'Type books to confirm', 'book')
      assertEqual(
        await page.evaluate(() => document.querySelector<HTMLButtonElement>('dialog .button-danger')!.disabled),
        true,
      )
      await fill(page, 'Type books to confirm', 'books')
      await pressInDialog(page, 'Delete the collection')
      await sees(page, 'The collection books is deleted.')
      await seesNo(page, 'books', '.sidebar')
      assertEqual(backend.definitions.find('books'), undefined)
    })
  })

  test('logins are set: codes, a provider, a second factor, lifetimes and mails', async () => {
    await withBooks(async (page, { server: { backend } }) => {
      await goTo(page, '/accounts/users')
      await press(page, 'One-time password')
      await fill(page, 'Digits', '2')
      await press(page, 'Other services')
      await press(page, 'Add a provider')
      await press(page, 'GitHub')
      await press(page, 'Mail with the code')
      await fill(page, 'Subject: Mail with the code', 'Your code of {APP_NAME}')
      await isSound(page)
      await press(page, 'Review and save')
      await sees(page, 'otp.length', '.save-bar')
      await fill(page, 'Digits', '6')
      await fill(page, 'Client id of GitHub', 'an id')
      await fill(page, 'Client secret of GitHub', 'a secret')
      await fill(page, 'Login', '86400')
      await sees(page, 'That is 1 day.')
      await press(page, 'Second factor')
      await press(page, 'Review and save')
      await sees(page, 'otp.length', 'dialog')
      await press(page, 'Save the changes')
      await sees(page, 'The collection users is saved.')
      const users = backend.definitions.get('users')
      if (users.type !== 'auth') throw new Error('users has no accounts.')
      const { otp, oauth2, authToken, mfa } = users
      assertEqual([otp.enabled, otp.length, otp.emailTemplate.subject], [true, 6, 'Your code of {APP_NAME}'])
      assertEqual(
        [oauth2.providers.map(({ clientSecret }) => clientSecret), authToken.duration, mfa.enabled],
        [['a secret'], 86_400, true],
      )
    })
  })

  test('the client secret of Apple is made of its key', async () => {
    await withBooks(async (page) => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      await goTo(page, '/accounts/users')
      await press(page, 'Other services')
      await press(page, 'Add a provider')
      await press(page, 'Apple')
      await press(page, 'Make the secret …')
      await press(page, 'Make the secret')
      await sees(page, 'blank', 'dialog .field-wrong')
      await isSound(page)
      await fill(page, 'Client id', 'org.example.app')
      await fill(page, 'Team id', 'TEAM000001')
      await fill(page, 'Key id', 'KEY0000001')
      await fill(page, 'Private key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
      await press(page, 'Make the secret')
      await seesNo(page, 'Client secret of Apple', 'dialog')
      await waitFor(page, 'the secret', '', () =>
        [...document.querySelectorAll<HTMLInputElement>('[type=password]')].some(({ value }) =>
          value.startsWith('eyJ'),
        ),
      )
      await isSound(page)
    })
  })

  test('indexes are made, edited and removed, and the logs suggest one', async () => {
    await withBooks(async (page, { server, url }) => {
      const { backend } = server
      const { id } = backend.definitions.get('books')
      const rows = Array.from({ length: 3000 }, (_, at) => ({
        _id: `book${String(at).padStart(11, '0')}`,
        title: `T${at}`,
        pages: at,
        tags: [],
      }))
      await server.database.collection(`$records_${id}`).insert(rows)
      await backend.definitions.update(ITSELF.principal, 'books', { listRule: '', indexes: [] })
      const asked = `${url}/api/collections/books/records?filter=${encodeURIComponent('title = "T7"')}`
      assertEqual((await fetch(asked)).status, 200)
      // It is written after the answer.
      await until(async () => {
        await backend.logs.flush()
        return (await backend.logReads.list(ITSELF, { filter: 'message ~ "books/records"' })).items.length > 0
      })
      await goTo(page, '/indexes/books')
      await press(page, 'Look into the logs')
      await press(page, 'Add an index on title')
      await sees(page, 'idx_books_title', '.def-field')
      await isSound(page)
      await tick(page, 'pages')
      await tick(page, 'Unique: no two records have the same values')
      await press(page, 'Add the index')
      await press(page, 'Edit the index idx_books_pages')
      await fill(page, 'Statement', 'CREATE UNIQUE INDEX `idx_books_pages` ON `books` (`nothing`)')
      await press(page, 'Review and save')
      await sees(page, 'no such column', '.def-field-wrong .field-error')
      await press(page, 'Remove the index idx_books_pages')
      await press(page, 'Review and save')
      await press(page, 'Save the changes')
      await sees(page, 'The collection books is saved.')
      assertEqual(backend.definitions.get('books').indexes, ['CREATE INDEX `idx_books_title` ON `books` (`title`)'])
    })
  })

  test('definitions are exported, and imported after what they change was shown', async () => {
    await withBooks(async (page, { server: { backend } }) => {
      await goTo(page, '/schema')
      await sees(page, 'Export definitions')
      await isSound(page)
      await fill(page, 'Definitions as JSON', '{')
      await sees(page, 'This can’t be read', '.field-wrong')
      const given = [
        { name: 'books', type: 'base', fields: [{ name: 'isbn', type: 'text' }] },
        { name: 'shops', type: 'base', fields: [{ name: 'city', type: 'text' }] },
      ]
      await fill(page, 'Definitions as JSON', JSON.stringify(given))
      await sees(page, 'New field isbn (Text)', '.review')
      await sees(page, 'The collection shops is made.', '.review')
      await isSound(page)
      await press(page, 'Import')
      await sees(page, '2 definitions are imported.')
      await sees(page, 'shops', '.sidebar')
      assertEqual(
        backend.definitions
          .get('books')
          .fields.map(({ name }) => name)
          .toSorted(),
        ['id', 'isbn', 'pages', 'tags', 'title'],
      )
    })
  })

  test('relations are a diagram that keys go through, and a list', async () => {
    await withBooks(async (page, { server: { backend } }) => {
      const { id } = backend.definitions.get('books')
      await backend.definitions.create(ITSELF.principal, {
        name: 'reviews',
        type: 'base',
        fields: [{ name: 'book', type: 'relation', collectionId: id, maxSelect: 1, cascadeDelete: true }],
      })
      await goTo(page, '/relations')
      await sees(page, 'reviews', '.diagram')
      await sees(page, '3 collections, 1 relation')
      await isSound(page)
      await press(page, 'As a list')
      await sees(page, 'reviews.book → books (deleted with it)')
      await press(page, 'Larger')
      await page.evaluate(() => document.querySelector<SVGAElement>('.box[href$="/reviews"]')!.focus())
      await waitFor(page, 'a marked line', '', () => document.querySelector('.edge-marked') !== null)
      await page.press('Enter')
      await sees(page, 'Name of the collection')
      await sees(page, 'reviews', 'h1')
    })
  })

  test('the API is shown with the fields of the collection: SDK, curl and types', async () => {
    await withBooks(async (page) => {
      await goTo(page, '/api/books')
      await sees(page, 'Superusers only may do it.')
      await sees(page, 'pb.collection("books").getList(1, 30')
      await sees(page, 'pages: number', '[aria-label="Types in TypeScript"]')
      await isSound(page)
      await fill(page, 'Operation', 'create')
      await sees(page, 'title: "title"')
      await sees(page, `-d '{"title":"title","pages":1,"tags":["old","new"]}'`)
      await page.reload()
      await sees(page, 'title: "title"', '.example')
      await goTo(page, '/api/users?operation=password')
      await sees(page, 'authWithPassword')
    })
  })
}

async function focusNamed(page: Page, name: string): Promise<void> {
  await page.evaluate((wanted) => document.querySelector<HTMLElement>(`[aria-label="${wanted}"]`)!.focus(), name)
}

async function pressInDialog(page: Page, name: string): Promise<void> {
  await waitFor(page, `a button '${name}' in the dialog`, name, (wanted) => {
    const all = [...document.querySelectorAll<HTMLButtonElement>('dialog button:not(:disabled)')]
    const found = all.find(({ textContent }) => textContent === wanted)
    found?.click()
    return found !== undefined
  })
}
