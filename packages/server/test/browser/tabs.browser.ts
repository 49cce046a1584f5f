/**
 * Goal: 8 live collections in 4 tabs are in step with a server over HTTP/1.1 within seconds, and the app's own requests get a
 * connection. When the tab that replicates is closed or frozen another one continues.
 */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual, assertTrue } from '../../../db/testing/check.ts'
import { send, startServer, until } from '../test-server.ts'
import type {} from './tabs.page.ts'

/** Each tab alone has more than the six connections that browsers open to an origin. */
const COLLECTIONS = 8
const NAMES = Array.from({ length: COLLECTIONS }, (_, n) => `c${n}`)
/** The driver of WebKit has no more pages at a time than five. */
const TABS = 4
/** Without a connection it waits as long as nothing changes. */
const APP_MS_MAX = 30_000

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  test(`${COLLECTIONS} collections in ${TABS} tabs`, async () => {
    const running = await startServer({ http: { corsOrigins: [new URL(baseUrl).origin] } })
    const tabs: Page[] = []
    try {
      for (let n = 0; n < TABS; n++) tabs.push(await browser.open(`${baseUrl}/tabs.page`))
      const start = (tab: Page): Promise<void> =>
        tab.evaluate(({ url, names }) => syncTab.start('sync-tabs', url, names), {
          url: running.adminUrl,
          names: NAMES,
        })
      await Promise.all(tabs.map(start))
      const there = async (): Promise<number> => {
        const infos = await Promise.all(NAMES.map((name) => send(running.url, `GET /${name}`)))
        return infos.reduce((sum, { json }) => sum + ((json['doc_count'] as number | undefined) ?? 0), 0)
      }
      const everywhere = async (count: number): Promise<void> => {
        await until(async () => (await there()) === count)
        for (const tab of tabs) await until(async () => (await tab.evaluate(() => syncTab.count())) === count)
      }
      await tabs[1]!.evaluate(() => syncTab.write('here'))
      await everywhere(COLLECTIONS)
      for (const name of NAMES) await send(running.url, `PUT /${name}/there`, {})
      await everywhere(2 * COLLECTIONS)
      for (const tab of tabs) assertTrue((await tab.evaluate(() => syncTab.fetchMs())) < APP_MS_MAX, 'the app waits')
      const sent = await Promise.all(tabs.map((tab) => tab.evaluate(() => syncTab.requests())))
      const leader = sent.findIndex((requests) => requests > COLLECTIONS)
      assertEqual(sent.filter((requests) => requests > COLLECTIONS).length, 1, `requests ${sent.join()}`)
      for (const tab of tabs) await until(async () => (await tab.evaluate(() => syncTab.status())) === 'paused')

      await tabs.splice(leader, 1)[0]!.close()
      await tabs[0]!.evaluate(() => syncTab.write('later'))
      await everywhere(3 * COLLECTIONS)
      // In Chromium the others wait a minute for what it holds.
      if (!browser.supports.freezeOneTab) return
      const frozen = await freezeLeader(tabs)
      await tabs[0]!.evaluate(() => syncTab.write('last'))
      await everywhere(4 * COLLECTIONS)
      await frozen.thaw()
      tabs.push(frozen)
      await everywhere(4 * COLLECTIONS)
    } finally {
      for (const tab of tabs) await tab.close()
      await running.close()
    }
  })
}

/** And takes it out of the list. */
async function freezeLeader(tabs: Page[]): Promise<Page> {
  const before = await Promise.all(tabs.map((tab) => tab.evaluate(() => syncTab.requests())))
  const leader = before.indexOf(Math.max(...before))
  const [frozen] = tabs.splice(leader, 1)
  await frozen!.freeze()
  return frozen!
}
