/** Goal: components show what is in the database, through whichever tab it came, and leave nothing behind. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual, assertTrue } from '../../../db/testing/check.ts'
import type {} from './react.page.ts'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  const open = async (name: string): Promise<Awaited<ReturnType<typeof browser.open>>> => {
    const page = await browser.open(`${baseUrl}/react.page`)
    await page.evaluate((database) => reactTab.open(database), name)
    return page
  }

  test('a live list: writes, another tab, another query, unmounting, in strict mode', async () => {
    const [first, second] = [await open('react-list'), await open('react-list')]
    const shows = async (expected: string): Promise<void> =>
      assertEqual(await first.evaluate((text) => reactTab.text(text), expected), expected)
    const put = (page: typeof first, ...person: [string, string, string]): Promise<void> =>
      page.evaluate(([id, name, city]) => reactTab.put(id, name, city), person)

    await first.evaluate(() => reactTab.show(undefined))
    await shows('idle 0||idle: nobody')
    await put(first, 'bob', 'Bob', 'Oslo')
    await first.evaluate(() => reactTab.show('Oslo', 'ann'))
    await shows('live 1|Bob|Bob|live: nobody')
    await put(first, 'ann', 'Ann', 'Oslo')
    await shows('live 2|Ann|Bob|Ann,Bob|live: Ann')
    await first.evaluate(() => reactTab.renders())

    await put(second, 'cid', 'Cid', 'Oslo')
    await shows('live 3|Ann|Bob|Cid|Ann,Bob,Cid|live: Ann')
    await put(second, 'dan', 'Dan', 'Rome')
    await put(second, 'ann', 'Zoe', 'Oslo')
    await shows('live 3|Bob|Cid|Zoe|Bob,Cid,Zoe|live: Zoe')
    const { list, rows } = await first.evaluate(() => reactTab.renders())
    assertEqual(list, 2, 'a commit that changes nothing that is shown renders nothing')
    assertTrue(!rows.includes('Bob'), 'a row that does not change is the same object')

    await first.evaluate(() => reactTab.show('Rome', 'dan'))
    await shows('live 1|Dan|Dan|live: Dan')
    await first.evaluate(() => reactTab.remove('dan'))
    await shows('live 0||live: nobody')
    assertEqual(await first.evaluate(() => reactTab.torn()), 0)

    assertEqual((await first.evaluate(() => reactTab.queries())).live, 2)
    await first.evaluate(() => reactTab.unmount())
    await shows('')
    // Ending waits for the code that was loaded, a moment.
    const { live, started } = await first.evaluate(async () => {
      for (let looks = 0; looks < 1200 && reactTab.queries().live > 0; looks++)
        await new Promise((resolve) => setTimeout(resolve, 50))
      return reactTab.queries()
    })
    assertEqual(live, 0, 'queries that are at work')
    assertTrue(started >= 4, 'the queries were watched')
    for (const page of [first, second]) {
      await page.evaluate(() => reactTab.close())
      await page.close()
    }
  })

  test('a live query and a live count that are at work already: shown at once, and not closed', async () => {
    const page = await open('react-started')
    const shows = async (expected: string): Promise<void> =>
      assertEqual(await page.evaluate((text) => reactTab.text(text), expected), expected)
    await page.evaluate(() => reactTab.put('ann', 'Ann', 'Oslo'))
    await page.evaluate(() => reactTab.showStarted('Oslo'))
    await shows('live Ann live 1 1')
    await page.evaluate(() => reactTab.put('bob', 'Bob', 'Oslo'))
    await shows('live Ann,Bob live 2 2')
    await page.evaluate(() => reactTab.put('cid', 'Cid', 'Rome'))
    await shows('live Ann,Bob live 2 3')
    await page.evaluate(() => reactTab.unmount())
    assertEqual(await page.evaluate(() => reactTab.started()), ['live', 'live', 'live'])
    await page.evaluate(() => reactTab.close())
    await page.close()
  })

  test('a client: how its sync is, and what was refused', async () => {
    const page = await browser.open(`${baseUrl}/react.page`)
    const shows = async (expected: string): Promise<void> =>
      assertEqual(await page.evaluate((text) => reactTab.text(text), expected), expected)
    await page.evaluate(() => reactTab.showClient('react-client'))
    await shows('loading 0')
    await page.evaluate(() => reactTab.create('Roof'))
    await shows('loading 1')
    await page.evaluate(() => reactTab.sync())
    await shows('complete 0 No Roof')
    await page.evaluate(() => reactTab.discard())
    await shows('complete 0')
    await page.evaluate(() => reactTab.unmount())
    await page.close()
  })

  test('a client: what the rules admit, as they change', async () => {
    const page = await browser.open(`${baseUrl}/react.page`)
    const shows = async (expected: string): Promise<void> =>
      assertEqual(await page.evaluate((text) => reactTab.text(text), expected), expected)
    await page.evaluate(() => reactTab.showClient('react-can'))
    await shows('loading 0')
    await page.evaluate(() => reactTab.showCan('Roof', false))
    await shows('Roof: undefined ')
    await page.evaluate(() => reactTab.sync())
    await shows('Roof: true ')
    await page.evaluate(() => reactTab.showCan('Wall', false))
    await shows('Wall: false ')
    await page.evaluate(() => reactTab.showCan('Wall', true))
    await page.evaluate(() => reactTab.sync())
    await shows('Wall: true ')
    await page.evaluate(() => reactTab.unmount())
    await page.close()
  })

  test('signing in and out while components show queries of the client: each shows the rows of the account, none throws', async () => {
    const page = await browser.open(`${baseUrl}/react.page`)
    await page.evaluate(() => reactTab.showClient('react-account'))
    const seen = await page.evaluate(() => reactTab.changeAccount())
    assertEqual(seen, { shown: 'ann live live 1, guest live live 0', thrown: [] })
    await page.evaluate(() => reactTab.unmount())
    await page.close()
  })

  test('quick typing into a draft while the document comes back late; a change from elsewhere is shown', async () => {
    const page = await open('react-draft')
    const shows = async (expected: string): Promise<void> =>
      assertEqual(await page.evaluate((text) => reactTab.text(text), expected), expected)
    await page.evaluate(() => reactTab.put('ann', 'Ann', 'Oslo'))
    await page.evaluate(() => reactTab.showForm('ann', 40))
    await shows('saved Ann')
    assertEqual(await page.evaluate(() => reactTab.type(' of Green Gables')), 'Ann of Green Gables')
    await shows('saved Ann of Green Gables')
    assertEqual(await page.evaluate(() => reactTab.type('')), 'Ann of Green Gables')
    await page.evaluate(() => reactTab.put('ann', 'Zoe', 'Oslo'))
    await shows('saved Zoe')
    assertEqual(await page.evaluate(() => reactTab.type('')), 'Zoe')
    await page.evaluate(() => reactTab.unmount())
    await page.evaluate(() => reactTab.close())
    await page.close()
  })

  test('a query that changes keeps the rows of the one before until it has its own', async () => {
    const page = await open('react-previous')
    const shows = async (expected: string): Promise<void> =>
      assertEqual(await page.evaluate((text) => reactTab.text(text), expected), expected)
    for (const [id, name] of [
      ['ann', 'Ann'],
      ['bob', 'Bob'],
      ['cid', 'Cid'],
    ] as const)
      await page.evaluate(([one, called]) => reactTab.put(one, called, 'Oslo'), [id, name] as const)
    await page.evaluate(() => reactTab.showFirst(2))
    await shows('live 2')
    await page.evaluate(() => reactTab.seen())
    await page.evaluate(() => reactTab.showFirst(3))
    await shows('live 3')
    const seen = await page.evaluate(() => reactTab.seen())
    assertEqual([seen[0], seen.at(-1)], ['2 previous', '3'])
    assertTrue(!seen.some((one) => one.startsWith('0')), 'no render is empty')
    await page.evaluate(() => reactTab.unmount())
    await page.evaluate(() => reactTab.close())
    await page.close()
  })

  test('closing the database ends what is shown, and an error does not hide', async () => {
    const page = await open('react-close')
    await page.evaluate(() => reactTab.put('ann', 'Ann', 'Oslo'))
    await page.evaluate(() => reactTab.show('Oslo', 'ann'))
    const live = 'live 1|Ann|Ann|live: Ann'
    assertEqual(await page.evaluate((text) => reactTab.text(text), live), live)
    await page.evaluate(() => reactTab.close())
    const ended = 'ended 1|Ann|Ann|ended: Ann'
    assertEqual(await page.evaluate((text) => reactTab.text(text), ended), ended)
    await page.close()
  })
}
