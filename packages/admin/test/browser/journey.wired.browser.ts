/** Goal: what everybody does with the page works: the first superuser, a collection, a record, a rule, and the same in another tab. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Browser, Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { SETUP_PATH } from '../../../server/src/http/admin-page.ts'
import { send } from '../../../server/test/test-server.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { EMAIL, PASSWORD, startAdmin } from '../server.ts'
import { choose, fill, goTo, isSound, press, sees, seesNo, signIn, typeCode } from './steps.ts'

const GRID = '[role=grid]'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('from the link of a new server to a collection, its records and a rule, in two tabs', async () => {
    await withNewServer(async (server) => {
      const secret = await server.server.backend.accounts.firstSuperuser.offer()
      await inTabs(browser, server, `${SETUP_PATH.split('#')[1]}${secret}`, async (first, openSecond) => {
        await makeSuperuser(first)
        await fill(first, 'Name', 'notes')
        await press(first, 'Make the collection')
        await sees(first, 'No records yet')
        await makeRecord(first, 'Buy milk')
        await isSound(first)
        await makeRule(first, 'titel ~ "milk"', 'title ~ "milk"')

        const second = await openSecond('/rules/notes')
        await sees(second, 'Class', '.cost')
        await goTo(first, '/records/notes')
        await makeRecord(second, 'Buy bread')
        await sees(first, 'Buy bread', GRID)
        const { json } = await send(server.url, 'GET /api/collections/notes/records')
        assertEqual(
          (json['items'] as { title: string }[]).map(({ title }) => title),
          ['Buy milk'],
        )

        // A sign-out in one tab is one in all.
        await press(second, EMAIL)
        await press(second, 'Sign out')
        for (const page of [first, second]) await sees(page, 'With the account of a superuser')
        await signIn(second)
        await sees(first, 'Collections', '.sidebar')
      })
    })
  })
}

async function withNewServer(use: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await startAdmin({ hasSuperuser: false })
  try {
    await use(server)
  } finally {
    await server.close()
  }
}

/** A tab at an address, and what opens the second one. */
async function inTabs(
  browser: Browser,
  { url }: TestServer,
  hash: string,
  use: (first: Page, openSecond: (hash: string) => Promise<Page>) => Promise<void>,
): Promise<void> {
  const tabs: Page[] = []
  const open = async (at: string): Promise<Page> => {
    const page = await browser.open(`${url}/_/#${at}`)
    tabs.push(page)
    return page
  }
  try {
    await use(await open(hash), open)
    assertEqual(
      tabs.flatMap((page) => page.errors()),
      [],
    )
  } finally {
    for (const page of tabs) await page.close()
  }
}

async function makeSuperuser(page: Page): Promise<void> {
  await sees(page, 'Make the first superuser')
  await fill(page, 'E-mail address', EMAIL)
  await fill(page, 'Password', PASSWORD)
  await fill(page, 'The password again', PASSWORD)
  await press(page, 'Make the superuser')
  await sees(page, 'Welcome to Pannier')
}

async function makeRecord(page: Page, title: string): Promise<void> {
  await goTo(page, '/records/notes')
  await press(page, 'New record')
  await sees(page, 'New record of notes')
  await fill(page, 'title', title)
  await press(page, 'Make the record')
  await sees(page, title, GRID)
}

/** Types the rule with a mistake first. */
async function makeRule(page: Page, mistaken: string, rule: string): Promise<void> {
  await press(page, 'Rules')
  await choose(page, 'List rule: who may', 'Those who meet a rule')
  await typeCode(page, 'List rule', mistaken)
  await sees(page, 'At character', '.rule .field-error')
  await typeCode(page, 'List rule', rule)
  await seesNo(page, 'At character')
  await press(page, 'Review and save')
  await press(page, 'Save the changes')
  await sees(page, 'The collection notes is saved.')
}
