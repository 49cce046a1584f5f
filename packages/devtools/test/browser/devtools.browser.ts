/** Goal: a developer opens devtools by a key, finds and edits documents, explains queries, settles conflicts, and the app goes undisturbed. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual, assertTrue } from '../../../db/testing/check.ts'
import type {} from './devtools.page.ts'

/** A frame takes 16 ms. The machine of tests is slow, and so is a build of a browser for tests. */
const WAIT_MS_MAX = 250

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  const start = async (name: string, people = 200): Promise<Awaited<ReturnType<typeof browser.open>>> => {
    const page = await browser.open(`${baseUrl}/devtools.page`)
    await page.evaluate(([database, count]) => devtoolsTab.start(database, count), [name, people] as const)
    await page.evaluate(() => devtoolsTab.open())
    // Devtools open with the panel that was shown last.
    await page.evaluate(() => devtoolsTab.press('Documents'))
    return page
  }
  type Page = Awaited<ReturnType<typeof start>>
  const shows = async (page: Page, expected: string): Promise<void> => {
    const text = await page.evaluate((part) => devtoolsTab.text(part), expected)
    assertTrue(text.includes(expected), `"${expected}" is shown in: ${text}`)
  }
  const press = (page: Page, ...texts: string[]): Promise<void> =>
    page.evaluate(async (all) => {
      for (const text of all) await devtoolsTab.press(text)
    }, texts)

  test('documents: pages, search, edit, and another tab', async () => {
    const [page, other] = [await start('devtools-documents'), await start('devtools-documents')]
    await press(page, 'people 200')
    await shows(page, '200 documents')
    await shows(page, '1 / 4')
    await press(page, 'Next page')
    await shows(page, 'person-00050')
    await page.evaluate(() => devtoolsTab.type('Search', 'person-0001'))
    await shows(page, '10 documents')
    await page.evaluate(() => devtoolsTab.type('Search', 'person-00012'))
    await shows(page, '1 document')
    await page.evaluate(() => {
      const { shadowRoot } = document.querySelector('pannier-devtools')!
      shadowRoot!.querySelector<HTMLElement>('.document')!.click()
    })
    await shows(page, '"name": "Person 12"')
    await other.evaluate(() => devtoolsTab.put('person-00012', { name: 'Changed elsewhere' }))
    await shows(page, '"name": "Changed elsewhere"')
    await page.evaluate(() => devtoolsTab.type('Document as JSON', '{ "oops"'))
    await shows(page, 'This is no JSON')
    await press(page, 'Reset')
    await shows(page, 'As stored')
    await press(page, 'Delete')
    await press(page, 'Really delete?')
    await shows(page, 'This document is deleted.')
    assertEqual(await other.evaluate(() => devtoolsTab.get('person-00012')), undefined)
    for (const one of [page, other]) await one.close()
  })

  test('queries are listed and explained, and conflicts settled', async () => {
    const page = await start('devtools-queries')
    await press(page, 'Queries')
    await shows(page, 'city = "Oslo" and age ≥ 30 · sort name · limit 20')
    await shows(page, 'age < 20')
    await page.evaluate(() => devtoolsTab.type('Selector', '{ "name": "Person 7" }'))
    await page.evaluate(() => {
      const { shadowRoot } = document.querySelector('pannier-devtools')!
      shadowRoot!.querySelector<HTMLSelectElement>('[name=collection]')!.value = 'people'
    })
    await press(page, 'Explain')
    await shows(page, 'full scan')
    await page.evaluate(() => devtoolsTab.conflict('person-00003'))
    await press(page, 'Documents', 'people 200', 'Conflicts')
    await shows(page, '1 conflict')
    await press(page, '"Oslo"', 'Store what is chosen')
    await shows(page, 'No conflicts in people')
    const settled = await page.evaluate(() => devtoolsTab.get('person-00003'))
    assertEqual((settled as { city: string; name: string }).city, 'Oslo')
    assertEqual((settled as { city: string; name: string }).name, 'Ann Dahl')
    await page.close()
  })

  test('refused writes of a client are compared and retried; its token is nowhere', async () => {
    const page = await start('devtools-sync')
    await page.evaluate(() => devtoolsTab.startClient('devtools-client'))
    await press(page, 'Sync 1')
    await shows(page, '1 write waiting')
    await shows(page, 'users / ann@example.org')
    await shows(page, '/api/sync/push')
    await press(page, 'Compare')
    await shows(page, '"Mend the gutter"')
    const text = await page.evaluate(() => devtoolsTab.text('Write what is chosen'))
    const token = await page.evaluate(() => devtoolsTab.token())
    assertTrue(!text.includes(token.split('.')[1]!), 'no part of the token is shown')
    await press(page, 'Close')
    await press(page, 'Discard', 'Really discard?')
    await shows(page, '0 writes refused')
    await page.close()
  })

  test('the app keeps its thread and its keys while commits come', async () => {
    const page = await start('devtools-calm', 10_000)
    await press(page, 'Time line')
    // Devtools would delay each try, and other work of the machine delays some.
    const waitsMs: number[] = []
    for (let at = 0; at < 3; at++) waitsMs.push(await page.evaluate(() => devtoolsTab.longestWaitMs(200)))
    assertTrue(Math.min(...waitsMs) < WAIT_MS_MAX, `the app waited for ${waitsMs.join(', ')} ms`)
    await press(page, 'Pause')
    await page.evaluate(() => devtoolsTab.put('paused', {}))
    await shows(page, '1 since the pause')
    await press(page, 'Resume')
    await shows(page, 'paused')
    if (browser.supports.keys) {
      const before = (await page.evaluate(() => devtoolsTab.heard())).length
      await press(page, 'Documents')
      await page.press('ArrowRight')
      await shows(page, 'Query')
      assertEqual(await page.evaluate(() => devtoolsTab.focused()), 'Queries')
      assertEqual((await page.evaluate(() => devtoolsTab.heard())).length, before, 'keys that the app has heard')
    }
    await page.close()
  })

  test('it stays when the database is closed, and what it looked at is left alone at its end', async () => {
    const page = await start('devtools-closed')
    await shows(page, 'notes')
    const fetched = await page.evaluate(() => globalThis.fetch.name)
    await page.evaluate(() => devtoolsTab.close())
    await shows(page, 'devtools-closed is closed.')
    for (const panel of ['Queries', 'Sync', 'Time line', 'Storage', 'Documents']) await press(page, panel)
    await press(page, 'Close devtools')
    assertEqual(await page.evaluate(() => devtoolsTab.isOpen()), false)
    assertTrue((await page.evaluate(() => globalThis.fetch.name)) !== fetched, 'fetch is what it was')
    await page.evaluate(() => devtoolsTab.toggle())
    assertEqual(await page.evaluate(() => devtoolsTab.isOpen()), true)
    const isHeard = await page.evaluate(
      () => !document.dispatchEvent(new CustomEvent('pannier-devtools', { cancelable: true })),
    )
    assertEqual(isHeard, true, 'the event of the extension is heard')
    assertEqual(await page.evaluate(() => devtoolsTab.isOpen()), false)
    assertEqual(page.errors(), [])
    await page.close()
  })
}
