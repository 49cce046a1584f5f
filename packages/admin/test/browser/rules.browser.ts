/** Goal: rules are written with their cost and their mistakes in sight, and it is seen what they let through before they are saved. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { ITSELF, PASSWORD } from '../server.ts'
import { choose, fill, goTo, isSound, press, sees, seesNo, typeCode, waitFor, withServerPage } from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return
  const withNotes = async (use: (page: Page, server: TestServer) => Promise<void>): Promise<void> => {
    await withServerPage(browser, '/start', use, fillNotes)
  }

  test('a rule is chosen, typed, corrected at the character, and saved with its cost in sight', async () => {
    await withNotes(async (page, { server: { backend } }) => {
      await goTo(page, '/rules/notes')
      await choose(page, 'List rule: who may', 'Those who meet a rule')
      await typeCode(page, 'List rule', 'public = true && ownr = 1')
      await sees(page, 'At character 18: ', '.rule .field-error')
      await isSound(page)
      await typeCode(page, 'List rule', 'owner = @request.auth.id')
      await seesNo(page, 'At character')
      await sees(page, 'Class A', '.cost')
      await typeCode(page, 'List rule', 'public = true || owner != @request.auth.id')
      await sees(page, 'Class D', '.cost')
      await page.evaluate(() => document.querySelector<HTMLElement>('.cost summary')!.click())
      await sees(page, 'Devices can sync this collection.')
      await choose(page, 'View rule: who may', 'Everybody')
      await isSound(page)
      await press(page, 'Review and save')
      await sees(page, 'superusers only', 'dialog')
      await press(page, 'Save the changes')
      await sees(page, 'The collection notes is saved.')
      const { listRule, viewRule } = backend.definitions.get('notes')
      assertEqual([listRule, viewRule], ['public = true || owner != @request.auth.id', ''])
    })
  })

  test('a preview says what a guest and an account see, why not, and what is hidden from them', async () => {
    await withNotes(async (page, { server: { backend } }) => {
      await goTo(page, '/rules/notes?preview=list')
      await sees(page, 'Lets through 0 records of 3.', 'dialog')
      await choose(page, 'List rule: who may', 'Everybody')
      await sees(page, 'Lets through 3 records of 3.', 'dialog')
      await choose(page, 'List rule: who may', 'Those who meet a rule')
      // A guest has no id, and a record without an owner has none either.
      await typeCode(page, 'List rule', 'public = true || owner = @request.auth.id')
      await sees(page, 'Lets through 2 records of 3.', 'dialog')
      await typeCode(page, 'List rule', 'public = true || (owner != "" && owner = @request.auth.id)')
      await sees(page, 'Lets through 1 record of 3.', 'dialog')
      await openRecord(page, 'Of Ann')
      await sees(page, 'The rule refuses it.', '.reason')
      await sees(page, 'public is false', '.reason')
      await sees(page, '@request.auth.id is ""', '.reason')
      await isSound(page)
      await fill(page, 'Seen by', 'users')
      await fill(page, 'Search an account', 'ann')
      await press(page, 'Ann')
      await sees(page, 'Lets through 2 records of 3.', 'dialog')
      await sees(page, 'The rule lets it through.', '.reason')
      await sees(page, 'Not shown to the account: price.', '.reason')
      await isSound(page)
      // The rule was not saved.
      assertEqual(backend.definitions.get('notes').listRule, null)
    })
  })

  test('a preview of a write asks the rule with what would be sent, and writes nothing', async () => {
    await withNotes(async (page, { server: { backend } }) => {
      await goTo(page, '/rules/notes?preview=create')
      await choose(page, 'Create rule: who may', 'Those who meet a rule')
      await typeCode(page, 'Create rule', '@request.body.title = "right" && public = true')
      await sees(page, 'The rule refuses it.', '.reason')
      await typeCode(page, 'What is sent, as JSON', '{"title":"right","public":true}')
      await sees(page, 'The rule lets it through.', '.reason')
      await isSound(page)
      assertEqual((await backend.records.list(ITSELF, 'notes', {})).totalItems, 3)
    })
  })

  test('a preview says which accounts may log in, and whom an account manages', async () => {
    await withNotes(async (page, { server: { backend } }) => {
      const bob = { email: 'bob@example.com', name: 'Bob', password: PASSWORD, passwordConfirm: PASSWORD }
      await backend.records.create(ITSELF, 'users', { ...bob, verified: true })
      await goTo(page, '/rules/users')
      await press(page, 'Who can log in')
      await sees(page, 'Lets through 2 of these 2.', 'dialog')
      await choose(page, 'Login rule: who may', 'Those who meet a rule')
      await typeCode(page, 'Login rule', 'verified = true')
      await sees(page, 'Lets through 1 of these 2.', 'dialog')
      await openRecord(page, 'Ann')
      await sees(page, 'verified is false', '.reason')
      await isSound(page)
      await goTo(page, '/rules/users?preview=manage')
      await choose(page, 'Manage rule: who may', 'Those who meet a rule')
      await typeCode(page, 'Manage rule', '@request.auth.name = "Ann" && name = "Bob"')
      await sees(page, 'Lets through 0 of these 2.', 'dialog')
      await fill(page, 'Seen by', 'users')
      await press(page, 'Ann')
      await sees(page, 'Lets through 1 of these 2.', 'dialog')
      await isSound(page)
      const users = backend.definitions.get('users')
      assertEqual(users.type === 'auth' && [users.authRule, users.manageRule], ['', null])
    })
  })

  test('a preview says who sees a field in which records, and who may set it', async () => {
    await withNotes(async (page) => {
      await goTo(page, '/fields/notes')
      await press(page, 'Options of title')
      await press(page, 'Rules of the field')
      await press(page, 'Who sees it where')
      await sees(page, 'Lets through 3 of these 3.', 'dialog')
      await choose(page, 'View rule of title: who may', 'Those who meet a rule')
      await typeCode(page, 'View rule of title', 'owner != "" && owner = @request.auth.id')
      await sees(page, 'Lets through 0 of these 3.', 'dialog')
      await fill(page, 'Seen by', 'users')
      await press(page, 'Ann')
      await sees(page, 'Lets through 1 of these 3.', 'dialog')
      await isSound(page)
      await press(page, 'Close')
      // The rule of the draft is asked: who may set it follows from who sees it.
      await press(page, 'Who may set it where')
      await sees(page, 'Lets through 0 of these 3.', 'dialog')
      await typeCode(page, 'What is sent, as JSON', '{ "title": "mine" }')
      await fill(page, 'Seen by', 'users')
      await press(page, 'Ann')
      await sees(page, 'Lets through 1 of these 3.', 'dialog')
    })
  })

  test('a field gets a rule of its own', async () => {
    await withNotes(async (page, { server: { backend } }) => {
      await goTo(page, '/fields/notes')
      await press(page, 'Options of title')
      await press(page, 'Rules of the field')
      await choose(page, 'View rule of title: who may', 'Those who meet a rule')
      await typeCode(page, 'View rule of title', 'owner = @request.auth.id')
      await isSound(page)
      await press(page, 'Review and save')
      await press(page, 'Save the changes')
      await sees(page, 'The collection notes is saved.')
      const title = backend.definitions.get('notes').fields.find(({ name }) => name === 'title')
      assertEqual(title?.viewRule, 'owner = @request.auth.id')
    })
  })
}

async function fillNotes({ server: { backend } }: TestServer): Promise<void> {
  const { definitions, records } = backend
  await definitions.create(ITSELF.principal, {
    name: 'notes',
    type: 'base',
    fields: [
      { name: 'title', type: 'text' },
      { name: 'public', type: 'bool' },
      { name: 'owner', type: 'relation', collectionId: '_pb_users_auth_', maxSelect: 1 },
      { name: 'price', type: 'number', hidden: true },
    ],
  })
  const account = { email: 'ann@example.com', name: 'Ann', password: PASSWORD, passwordConfirm: PASSWORD }
  const { id: owner } = await records.create(ITSELF, 'users', account)
  await records.create(ITSELF, 'notes', { title: 'For all', public: true })
  await records.create(ITSELF, 'notes', { title: 'Of Ann', owner, price: 5 })
  await records.create(ITSELF, 'notes', { title: 'Of nobody' })
}

async function openRecord(page: Page, title: string): Promise<void> {
  await waitFor(page, `the record '${title}'`, title, (wanted) => {
    const all = [...document.querySelectorAll<HTMLElement>('.who-list button')]
    const found = all.find(({ innerText }) => innerText.includes(wanted))
    found?.click()
    return found !== undefined
  })
}
