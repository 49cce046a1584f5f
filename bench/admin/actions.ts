/** Actions of a person on the admin page, each from a place where it can be done. */
import { choose, fill, goTo, press, sees, seesNo, typeCode, waitFor } from '../../packages/admin/test/browser/steps.ts'
import type { Page } from '../../tools/browser/browser.ts'

export interface Action {
  readonly name: string
  /** The view where it begins. */
  readonly hash: string
  readonly before?: (page: Page) => Promise<void>
  /** Ends when the page shows what was asked for. */
  readonly act: (page: Page) => Promise<void>
}

const GRID = '[role=grid]'
const LIST = '/records/tasks'
const opens = (name: string, hash: string, text: string, place = 'main'): Action => ({
  name: `open ${name}`,
  hash: '/schema',
  act: async (page) => {
    await goTo(page, hash)
    await sees(page, text, place)
  },
})
const key = async (page: Page, name: string, options: KeyboardEventInit = {}): Promise<void> =>
  page.evaluate(
    (given) =>
      void document.activeElement!.dispatchEvent(
        new KeyboardEvent('keydown', { key: given.name, bubbles: true, cancelable: true, ...given.options }),
      ),
    { name, options },
  )
const focusGrid = (page: Page): Promise<void> =>
  page.evaluate(() => document.querySelector<HTMLElement>('[role=grid] [tabindex="0"]')!.focus())

export const ACTIONS: readonly Action[] = [
  opens('the records', LIST, 'Task 100000', GRID),
  {
    name: 'go down by a page of rows',
    hash: LIST,
    before: async (page) => {
      await sees(page, 'Task', GRID)
      await focusGrid(page)
    },
    act: (page) => key(page, 'PageDown'),
  },
  {
    name: 'go to the last record',
    hash: LIST,
    before: async (page) => {
      await sees(page, 'Task', GRID)
      await focusGrid(page)
    },
    act: async (page) => {
      await key(page, 'End', { ctrlKey: true })
      await sees(page, 'Task 000001', GRID)
    },
  },
  {
    name: 'sort by a column',
    hash: LIST,
    before: (page) => sees(page, 'Task', GRID),
    act: async (page) => {
      await goTo(page, `${LIST}?sort=points`)
      await sees(page, 'Task 000001', GRID)
    },
  },
  {
    name: 'filter by a text',
    hash: LIST,
    before: (page) => sees(page, 'Task', GRID),
    act: async (page) => {
      await goTo(page, `${LIST}?filter=${encodeURIComponent('title ~ "99999"')}`)
      await sees(page, 'Task 099999', GRID)
    },
  },
  {
    name: 'type a filter of 20 characters',
    hash: LIST,
    before: (page) => sees(page, 'Task', GRID),
    act: (page) => typeCode(page, 'Filter', 'title ~ "9999" && do'),
  },
  {
    name: 'open a record',
    hash: LIST,
    before: (page) => sees(page, 'Task', GRID),
    act: async (page) => {
      await goTo(page, `${LIST}?record=task00000000002`)
      await sees(page, 'Record of tasks', 'dialog')
      await sees(page, 'title', 'dialog')
    },
  },
  {
    name: 'type into a field',
    hash: `${LIST}?record=task00000000002`,
    before: (page) => sees(page, 'title', 'dialog'),
    act: (page) => fill(page, 'title', `Task 000002 ${Date.now()}`),
  },
  {
    name: 'save a record',
    hash: `${LIST}?record=task00000000003`,
    before: async (page) => {
      await sees(page, 'title', 'dialog')
      await fill(page, 'title', `Task 000003 ${Date.now()}`)
    },
    act: async (page) => {
      await press(page, 'Save')
      await seesNo(page, 'Record of tasks')
    },
  },
  {
    name: 'select a record',
    hash: LIST,
    before: async (page) => {
      await sees(page, 'Task', GRID)
      await focusGrid(page)
      await key(page, 'ArrowDown')
    },
    act: (page) => key(page, ' '),
  },
  opens('the fields', '/fields/tasks', 'Name of the collection'),
  opens('the rules', '/rules/tasks', 'List rule'),
  {
    name: 'type a rule',
    hash: '/rules/tasks',
    before: (page) => choose(page, 'List rule: who may', 'Those who meet a rule'),
    act: async (page) => {
      await typeCode(page, 'List rule', 'points > 50 && title ~ @request.auth.name')
      await sees(page, 'Class', '.cost')
    },
  },
  {
    name: 'see who sees what',
    hash: '/rules/tasks',
    before: (page) => sees(page, 'List rule', 'main'),
    act: async (page) => {
      await goTo(page, '/rules/tasks?preview=list')
      await sees(page, 'Lets through', 'dialog')
    },
  },
  opens('the API', '/api/tasks', 'JavaScript SDK'),
  opens('the indexes', '/indexes/tasks', 'Suggestions'),
  opens('the relations', '/relations', 'users', '.diagram'),
  opens('the logs', '/logs', 'logs', '.view-count'),
  {
    name: 'find logs by a word',
    hash: '/logs',
    before: (page) => sees(page, 'GET', '.logs'),
    act: async (page) => {
      await goTo(page, '/logs?q=mail')
      await seesNo(page, 'GET', '.logs')
    },
  },
  opens('the metrics', '/metrics', 'Requests'),
  opens('the storage', '/storage', 'tasks', '.data'),
  opens('the backups', '/backups', 'before_update', '.data'),
  opens('the jobs', '/jobs', 'Run now'),
  opens('the accounts', '/access/accounts', 'this page', '.data'),
  opens('the settings', '/settings/mail', 'Mail'),
  opens('the databases', '/couchdb', 'notes', '.data'),
  opens('the documents of a collection', '/couchdb/databases/tasks', 'task00000000001', '.data'),
  opens('the changes of a collection', '/couchdb/databases/tasks/changes', 'task', '.data'),
  opens('a document', '/couchdb/databases/notes/documents?doc=note-1', 'note-1', 'dialog'),
  {
    name: 'run SQL with 1,000 rows',
    hash: '/console/sql',
    before: (page) => typeCode(page, 'Statements of SQL', 'select id, title, points from tasks limit 1000'),
    act: async (page) => {
      await press(page, 'Run')
      await sees(page, '1,000 rows', 'main')
    },
  },
  {
    name: 'export all records',
    hash: LIST,
    before: async (page) => {
      await sees(page, 'Task', GRID)
      await press(page, 'More of the list')
      await press(page, 'Export …')
      await sees(page, 'Export', 'dialog')
    },
    act: async (page) => {
      await page.evaluate(() => document.querySelector<HTMLElement>('dialog .button-primary')!.click())
      await waitFor(page, 'the end of the export', '', () => document.querySelector('dialog progress') === null)
    },
  },
]
