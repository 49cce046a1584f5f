/** Goal: people of CouchDB find what Fauxton has, from databases to the configuration, and everybody has a console for queries. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { send } from '../../../server/test/test-server.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { fillNotes } from '../example-operations.ts'
import { fillTasks } from '../server.ts'
import {
  fill,
  giveFile,
  goTo,
  holdAnswers,
  isSound,
  press,
  sees,
  seesNo,
  typeCode,
  waitFor,
  withServerPage,
} from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  test('a database is made, gets a document, and is deleted', async () => {
    await withServerPage(browser, '/couchdb', async (page, { url }) => {
      await sees(page, '_replicator', '.data')
      await isSound(page)
      await press(page, 'New database')
      await fill(page, 'Name', 'Not Allowed')
      await press(page, 'Make the database')
      await sees(page, 'lowercase', 'dialog .refusal')
      await fill(page, 'Name', 'letters')
      await press(page, 'Make the database')
      await sees(page, 'No documents here')
      await press(page, 'New document')
      await typeCode(page, 'The document as JSON', '{ "_id": "one", "text": ')
      await press(page, 'Save')
      await sees(page, 'This can’t be read', 'dialog .refusal')
      await isSound(page)
      await typeCode(page, 'The document as JSON', '{ "_id": "one", "text": "Dear Ann" }')
      await press(page, 'Save')
      await sees(page, 'Dear Ann', '.data')
      await isSound(page)
      assertEqual((await send(url, 'GET /letters/one')).json['text'], 'Dear Ann')
      await press(page, 'one')
      await sees(page, 'Dear Ann', '.data')
      await press(page, 'Delete')
      await sees(page, 'Replications delete it elsewhere, too.')
      await press(page, 'Delete it')
      await sees(page, 'No documents here')
      await press(page, 'All databases')
      await press(page, 'Delete letters')
      await press(page, 'Delete it')
      await seesNo(page, 'letters', '.data')
      assertEqual((await send(url, 'GET /letters')).status, 404)
    })
  })

  test('documents are gone through page by page, and a write that met another is refused', async () => {
    await withNotes('/couchdb/databases/notes', async (page, { url }) => {
      await sees(page, 'note-0', '.data')
      await press(page, 'Next page')
      await sees(page, 'note-50', '.data')
      await fill(page, 'From the id on', 'note-99')
      await press(page, 'Go')
      await seesNo(page, 'note-50', '.data')
      await press(page, 'note-99')
      await sees(page, 'note-99', 'dialog')
      const { json } = await send(url, 'GET /notes/note-99')
      await send(url, 'PUT /notes/note-99', { ...json, text: 'theirs' })
      await typeCode(page, 'The document as JSON', JSON.stringify({ ...json, text: 'mine' }))
      await press(page, 'Save')
      await sees(page, 'conflict', 'dialog .refusal')
      assertEqual((await send(url, 'GET /notes/note-99')).json['text'], 'theirs')
    })
  })

  test('a save whose answer comes late closes no other document', async () => {
    await withNotes('/couchdb/databases/notes/documents?doc=note-1', async (page) => {
      await typeCode(page, 'The document as JSON', '{ "_id": "late", "text": "saved late" }')
      const answers = await holdAnswers(page, 'PUT')
      await press(page, 'Save')
      await goTo(page, '/couchdb/databases/notes/documents?doc=note-2')
      await press(page, 'Discard')
      await sees(page, 'note-2', 'dialog')
      await answers.release()
      await sees(page, 'saved late', '.data')
      await sees(page, 'note-2', 'dialog')
    })
  })

  test('documents are duplicated, and deleted several at once unless they have changed', async () => {
    await withNotes('/couchdb/databases/notes/documents?doc=note-1', async (page, { url }) => {
      await sees(page, 'note-1', 'dialog')
      await press(page, 'Duplicate')
      await sees(page, 'New document', 'dialog')
      await press(page, 'Save')
      await sees(page, 'note-1-copy', '.data')
      await press(page, 'Choose note-1-copy')
      await press(page, 'Choose note-0')
      const { json } = await send(url, 'GET /notes/note-0')
      await send(url, 'PUT /notes/note-0', { ...json, text: 'theirs' })
      await press(page, 'Delete 2 documents')
      await press(page, 'Delete it')
      await sees(page, '1 document was changed meanwhile, and not deleted: note-0')
      await seesNo(page, 'note-1-copy', '.data')
      assertEqual((await send(url, 'GET /notes/note-0')).json['text'], 'theirs')
      await isSound(page)
    })
  })

  test('attachments of a document are added, fetched and deleted', async () => {
    await withNotes('/couchdb/databases/notes/documents?doc=note-1', async (page, { url }) => {
      await typeCode(page, 'The document as JSON', '{ "_id": "note-1", "text": "other" }')
      await sees(page, 'Save the document first', 'dialog')
      await press(page, 'Cancel')
      await press(page, 'Discard')
      await goTo(page, '/couchdb/databases/notes/documents?doc=note-1')
      await sees(page, 'The document has no attachments.', 'dialog')
      await giveFile(page, 'A file to attach', 'letter.txt', 'Dear Ann')
      await sees(page, 'application/octet-stream, 8 B', 'dialog')
      await isSound(page)
      assertEqual((await send(url, 'GET /notes/note-1/letter.txt')).text, 'Dear Ann')
      await page.evaluate(() => {
        const given = globalThis as unknown as { given: string }
        // What the page gives to the browser as a download.
        const { createObjectURL } = URL
        URL.createObjectURL = (blob: Blob) => {
          void blob.text().then((text) => (given.given = text))
          return createObjectURL(blob)
        }
      })
      await press(page, 'letter.txt')
      await waitFor(page, 'the file', '', () => (globalThis as { given?: string }).given === 'Dear Ann')
      await press(page, 'Delete letter.txt')
      await press(page, 'Delete the attachment')
      await sees(page, 'The document has no attachments.', 'dialog')
      assertEqual((await send(url, 'GET /notes/note-1/letter.txt')).status, 404)
    })
  })

  test('changes are followed, from now and from the beginning, and lead to the conflicts of one document', async () => {
    await withNotes('/couchdb/databases/notes/changes', async (page, { url }) => {
      await sees(page, 'note-119', '.data')
      await isSound(page)
      await send(url, 'PUT /notes/fresh', { text: 'new' })
      await waitFor(page, 'the newest change first', '', () =>
        document.querySelector<HTMLElement>('.data tbody tr')!.innerText.includes('fresh'),
      )
      await fill(page, 'Order', 'start')
      await sees(page, 'Show more of', 'main')
      await press(page, 'Live')
      await fill(page, 'Only the document with the id', 'fresh')
      await press(page, 'Go')
      await waitFor(page, 'this document alone', '', () => {
        const rows = [...document.querySelectorAll<HTMLElement>('.data tbody tr')]
        return rows.length === 1 && rows[0]!.innerText.includes('fresh')
      })
      const docs = ['1-aa', '1-bb'].map((rev) => ({ _id: 'fresh', _rev: rev, text: rev }))
      await send(url, 'POST /notes/_bulk_docs', { docs, new_edits: false })
      // It is not followed any more.
      await seesNo(page, 'Compare 3 branches')
      await press(page, 'Live')
      await press(page, 'Compare 3 branches')
      await sees(page, '1-bb', '.compared')
      await isSound(page)
    })
  })

  test('who may read and write a database is shown in words, and changed; a collection has rules', async () => {
    await withNotes('/couchdb/databases/notes/permissions', async (page, server) => {
      const { url } = server
      await sees(page, 'Admins of the server alone may read')
      await fill(page, 'Members by role', '')
      await sees(page, 'Everybody who reaches the server')
      await isSound(page)
      await fill(page, 'Members by name', 'ann\n\nbob ')
      await fill(page, 'Admins by role', 'chief')
      await sees(page, 'The members below may read')
      await press(page, 'Save the permissions')
      await sees(page, 'The permissions are saved.')
      const { json } = await send(url, 'GET /notes/_security')
      assertEqual(json['members'], { names: ['ann', 'bob'], roles: [] })
      assertEqual((json['admins'] as { roles: string[] }).roles, ['chief'])
      await goTo(page, '/couchdb/databases/_users/permissions')
      await fill(page, 'Members by name', 'ann')
      await press(page, 'Save the permissions')
      await sees(page, 'members', 'main .refusal')
      await fillTasks(server, 1)
      await page.reload()
      await goTo(page, '/couchdb/databases/tasks/permissions')
      await press(page, 'Rules of the collection')
      await sees(page, 'List rule', 'main')
    })
  })

  test('the configuration is read, and admins of the door are made and removed', async () => {
    await withServerPage(browser, '/couchdb/configuration', async (page, { url }) => {
      await sees(page, 'couchdb/max_document_size', '.data')
      await isSound(page)
      await press(page, 'New admin')
      await fill(page, 'Name', 'robot')
      await fill(page, 'Password', 'the password of robot')
      await isSound(page)
      await press(page, 'Make the admin')
      await sees(page, 'robot', '.couch-admins')
      const asRobot = { authorization: `Basic ${btoa('robot:the password of robot')}` }
      assertEqual((await send(url, 'GET /_all_dbs', undefined, asRobot)).status, 200)
      await press(page, 'Remove robot')
      await press(page, 'Remove the admin')
      await seesNo(page, 'robot', '.couch-admins')
      assertEqual((await send(url, 'GET /_all_dbs', undefined, asRobot)).status, 401)
    })
  })

  test('a conflict stands beside the current revision, and takes its place; a record leads there', async () => {
    await withNotes('/couchdb/databases/notes', async (page, server) => {
      const { url } = server
      const docs = ['1-aa', '1-bb'].map((rev) => ({ _id: 'both', _rev: rev, text: `text of ${rev}`, same: true }))
      await send(url, 'POST /notes/_bulk_docs', { docs, new_edits: false })
      await goTo(page, '/couchdb/databases/notes/documents?doc=both')
      await press(page, 'Revisions')
      await sees(page, 'text of 1-bb', '.compared .removed')
      await sees(page, 'text of 1-aa', '.compared .added')
      await isSound(page)
      await press(page, 'Make the other the current one')
      await sees(page, 'no other revision to compare with')
      const { json } = await send(url, 'GET /notes/both?conflicts=true')
      assertEqual([json['text'], json['_conflicts']], ['text of 1-aa', undefined])
      await fillTasks(server, 3)
      await page.reload()
      await goTo(page, '/records/tasks?record=task00000000002')
      await sees(page, 'Record of tasks')
      await press(page, 'More')
      await press(page, 'History and conflicts')
      await sees(page, 'no other revision to compare with')
      await isSound(page)
    })
  })

  test('a view is run by key and reduced, and a design document is edited', async () => {
    await withNotes('/couchdb/databases/notes/views', async (page) => {
      await sees(page, 'emit(doc.type, doc.stars)')
      await press(page, 'stars')
      await sees(page, 'emit(doc.stars, doc.text)')
      await isSound(page)
      await press(page, 'type')
      await sees(page, '"idea"', '.data')
      await fill(page, 'Key', 'task')
      await press(page, 'Run')
      await seesNo(page, '"idea"', '.data')
      await sees(page, '40 rows')
      await fill(page, 'Rows', 'one')
      await press(page, 'Run')
      await sees(page, '1 row.')
      await press(page, 'New design document')
      await typeCode(
        page,
        'The document as JSON',
        JSON.stringify({ _id: '_design/more', views: { wrong: { map: 'function (doc) {' } } }),
      )
      await press(page, 'Save')
      await sees(page, 'wrong', 'dialog .refusal')
      await typeCode(
        page,
        'The document as JSON',
        JSON.stringify({ _id: '_design/more', views: { ids: { map: 'function (doc) { emit(doc._id) }' } } }),
      )
      await press(page, 'Save')
      await press(page, 'ids')
      await sees(page, '120 rows in the view')
    })
  })

  test('a query of Mango is explained, gets the index that is suggested, and is run', async () => {
    await withNotes('/console/mango?database=notes', async (page) => {
      await typeCode(page, 'A query of Mango', '{ "selector": { "stars": 5 }, "limit": 3 ')
      await press(page, 'Explain')
      await sees(page, 'This is no JSON', '.refusal')
      await typeCode(page, 'A query of Mango', '{ "selector": { "stars": 5 }, "limit": 3 }')
      await press(page, 'Explain')
      await sees(page, 'id scan', '.plan')
      await isSound(page)
      await press(page, 'Make this index')
      await seesNo(page, 'id scan', '.plan')
      await sees(page, 'index', '.plan')
      await press(page, 'Run')
      await sees(page, '3 documents of ')
      await isSound(page)
      await goTo(page, '/couchdb/databases/notes/indexes')
      await sees(page, 'stars', '.data')
      await fill(page, 'Fields', 'type, stars')
      await press(page, 'Make the index')
      await sees(page, 'type, stars', '.data')
      await isSound(page)
    })
  })

  test('SQL is run and refused in words, and the plan of a list is drawn', async () => {
    await withServerPage(browser, '/console', async (page, server) => {
      await fillTasks(server, 500)
      await typeCode(page, 'Statements of SQL', 'select title from nowhere')
      await press(page, 'Run')
      await sees(page, 'nowhere', '.refusal')
      await typeCode(page, 'Statements of SQL', "select title, points from tasks where title = 'Task 000007'")
      await press(page, 'Run')
      await sees(page, 'Task 000007', '.data')
      await sees(page, '1 row, in')
      await isSound(page)
      await page.reload()
      await goTo(page, '/console/filter?collection=tasks')
      await typeCode(page, 'Filter', 'points > 50')
      await fill(page, 'Sort', '-points')
      await press(page, 'Explain')
      await sees(page, 'full scan', '.plan')
      await sees(page, 'sort', '.plan')
      await isSound(page)
      await press(page, 'Show the records')
      await sees(page, 'records', '.view-count')
      await waitFor(page, 'the filter', '', () => location.hash.includes('points'))
    })
  })

  test('a result is drawn, its plan is shown, and the statement is kept as a report', async () => {
    await withServerPage(browser, '/console', async (page, server) => {
      await fillTasks(server, 50)
      await typeCode(page, 'Statements of SQL', 'select done, count(*) as n from tasks group by done')
      await press(page, 'Explain')
      await sees(page, 'SCAN', '.plan')
      await isSound(page)
      const byTitle = 'select title, points from tasks where points > :least limit 5'
      await typeCode(page, 'Statements of SQL', byTitle.replace(':least', '1'))
      await press(page, 'Run')
      await sees(page, '5 rows')
      await press(page, 'Chart')
      await sees(page, 'points by title', '.figure')
      await isSound(page)
      await typeCode(page, 'Statements of SQL', byTitle)
      await fill(page, 'least (text)', '1')
      await press(page, 'Run')
      await sees(page, '5 rows.')
      await isSound(page)
      await press(page, 'Save as a report')
      await fill(page, 'Name', 'Best Tasks')
      await press(page, 'Save')
      await sees(page, 'valid format', 'dialog')
      await fill(page, 'Name', 'best-tasks')
      await press(page, 'Save')
      await sees(page, 'best-tasks', '.report')
      await isSound(page)
      await press(page, 'Run')
      await sees(page, 'least: Cannot be blank', '.refusal')
      await fill(page, 'least (text)', '1')
      await press(page, 'Run')
      await sees(page, '5 rows', '.report')
      await isSound(page)
    })
  })

  test('a replication is started, seen, and cancelled', async () => {
    await withNotes('/couchdb/replications', async (page, { url }) => {
      await sees(page, 'notes-copy', '.data')
      await press(page, 'New replication')
      await fill(page, 'From', 'notes')
      await fill(page, 'To', 'elsewhere')
      await press(page, 'Make the target if it is missing')
      await isSound(page)
      await press(page, 'Start the replication')
      await waitFor(page, 'a replication that is completed', '', () =>
        [...document.querySelectorAll<HTMLElement>('.data tbody tr')].some(
          ({ innerText }) => innerText.includes('elsewhere') && innerText.includes('completed'),
        ),
      )
      await isSound(page)
      assertEqual((await send(url, 'GET /elsewhere')).json['doc_count'], 121)
      await waitFor(page, 'a button', '', () => {
        const button = [...document.querySelectorAll<HTMLElement>('[aria-label^=Cancel]')].find((one) =>
          one.getAttribute('aria-label')!.includes('elsewhere'),
        )
        button?.click()
        return button !== undefined
      })
      await press(page, 'Cancel the replication')
      await seesNo(page, 'elsewhere', '.data')
    })
  })

  async function withNotes(hash: string, use: (page: Page, server: TestServer) => Promise<void>): Promise<void> {
    await withServerPage(browser, '/start', async (page, server) => {
      await fillNotes(server.url)
      await goTo(page, hash)
      await use(page, server)
    })
  }
}
