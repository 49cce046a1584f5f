/** Fauxton from npm, unmodified: log in, create a database and a document, edit it, ask a Mango query, replicate. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { freePort } from '../../../../tools/processes.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { fauxtonPages } from '../../testing/fauxton.ts'
import { ADMIN_NAME, ADMIN_PASSWORD, send, startServer, until } from '../test-server.ts'

const SETTLE_MS = 500

interface Editor {
  getValue(): string
  setValue(text: string): void
}

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // What is driven is the server; one engine is enough.
  if (browser.engine !== 'chromium') return
  test('Fauxton', async () => {
    const server = await startServer({
      port: await freePort(),
      couch: { fauxton: await fauxtonPages(), replicator: { hosts: ['127.0.0.1'] } },
    })
    const page = await browser.open(`${server.url}/_utils/`)
    try {
      await logIn(page)
      await createDatabase(page)
      assertEqual((await send(server.url, 'GET /people')).json['doc_count'], 0)
      await goTo(page, 'database/people/_new')
      await edit(page, '{"_id":"ann","age":31}', '.save-doc')
      await until(async () => (await send(server.url, 'GET /people/ann')).json['age'] === 31)
      await listIsBack(page)
      await editAnn(page)
      await until(async () => (await send(server.url, 'GET /people/ann')).json['age'] === 32)
      await send(server.url, 'PUT /people/bob', { age: 20 })
      await listIsBack(page)
      await goTo(page, 'database/people/_find')
      await edit(page, '{"selector":{"age":{"$gt":30}}}', '#create-index-btn')
      await shows(page, '#dashboard-lower-content', 'ann')
      assertEqual(await page.evaluate(() => document.body.innerText.includes('bob')), false)
      await replicate(page)
      await until(async () => (await send(server.url, 'GET /copy/ann')).json['age'] === 32)
      await until(async () => (await send(server.url, 'GET /copy')).json['doc_count'] === 2)
    } finally {
      await page.close()
      await server.close()
    }
  })
}

async function logIn(page: Page): Promise<void> {
  await fill(page, '#username', ADMIN_NAME)
  await fill(page, '#password', ADMIN_PASSWORD)
  await click(page, '#submit, button[type=submit]')
  await shows(page, '.add-new-database-btn', 'Create Database')
}

async function createDatabase(page: Page): Promise<void> {
  await click(page, '.add-new-database-btn')
  await fill(page, '#js-new-database-name', 'people')
  await click(page, '#js-create-database')
  await until(() => page.evaluate(() => location.hash.includes('database/people')))
}

/** It goes there by itself some time after it has saved a document. */
async function listIsBack(page: Page): Promise<void> {
  await until(() => page.evaluate(() => location.hash.includes('database/people/_all_docs')))
}

async function editAnn(page: Page): Promise<void> {
  await goTo(page, 'database/people/ann')
  await shows(page, '.ace_content', '31')
  const text = await page.evaluate(() => {
    const { editor } = (document.querySelector('.ace_editor') as unknown as { env: { editor: Editor } }).env
    return editor.getValue().replace('"age": 31', '"age": 32')
  })
  await edit(page, text, '.save-doc')
}

async function replicate(page: Page): Promise<void> {
  await goTo(page, 'replication/_create/people')
  await choose(page, '#select-replication-source-auth', 'BASIC_AUTH')
  await choose(page, 'select#replication-target', 'REPLICATION_TARGET_NEW_LOCAL_DATABASE')
  await choose(page, '#select-replication-target-auth', 'BASIC_AUTH')
  await fill(page, 'input[placeholder="Database name"]', 'copy')
  for (const side of ['source', 'target']) {
    await fill(page, `#replication-${side}-auth-username`, ADMIN_NAME)
    await fill(page, `#replication-${side}-auth-password`, ADMIN_PASSWORD)
  }
  await click(page, '#replicate')
}

async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate((hash) => void (location.hash = hash), `/${path}`)
}

/** What the editor shows becomes `text`, and is sent. */
async function edit(page: Page, text: string, button: string): Promise<void> {
  await shows(page, button, '')
  await shows(page, '.ace_editor .ace_content', '{')
  // It sets its first content a moment after it is there, which may be after this.
  do {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    await page.evaluate((value) => {
      const { editor } = (document.querySelector('.ace_editor') as unknown as { env: { editor: Editor } }).env
      editor.setValue(value)
    }, text)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  } while ((await valueOf(page)) !== text)
  await click(page, button)
}

function valueOf(page: Page): Promise<string> {
  return page.evaluate(() =>
    (document.querySelector('.ace_editor') as unknown as { env: { editor: Editor } }).env.editor.getValue(),
  )
}

async function click(page: Page, selector: string): Promise<void> {
  await shows(page, selector, '')
  await page.evaluate((wanted) => (document.querySelector(wanted) as HTMLElement).click(), selector)
}

/** React hears of a value only if the element's own setter has set it. */
async function fill(page: Page, selector: string, text: string): Promise<void> {
  await shows(page, selector, '')
  await page.evaluate(
    ([wanted, value]) => {
      const element = document.querySelector(wanted!)!
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(element, value)
      element.dispatchEvent(new Event('input', { bubbles: true }))
    },
    [selector, text],
  )
}

async function choose(page: Page, selector: string, option: string): Promise<void> {
  await shows(page, selector, '')
  await page.evaluate(
    ([wanted, value]) => {
      const element = document.querySelector(wanted!)!
      Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value')!.set!.call(element, value)
      element.dispatchEvent(new Event('change', { bubbles: true }))
    },
    [selector, option],
  )
}

/** Waits for an element that has this text. */
async function shows(page: Page, selector: string, text: string): Promise<void> {
  await until(() =>
    page.evaluate(
      ([wanted, part]) => document.querySelector(wanted!)?.textContent?.includes(part!) === true,
      [selector, text],
    ),
  ).catch(() => {
    throw new Error(`there is no ${selector} with '${text}'`)
  })
}
