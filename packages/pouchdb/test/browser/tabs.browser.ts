/** PouchDB on the adapter in two tabs, and databases that move out of PouchDB's own adapters while the browser is killed. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual, assertTrue } from '../../../db/testing/check.ts'
import { until } from '../../../server/test/test-server.ts'
import type { Old, Place } from './tabs.page.ts'

const DOCUMENTS = 150
const OLD: readonly Old[] = ['idb', 'indexeddb']

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  // WebKit has no private file system here.
  const places: readonly Place[] = browser.engine === 'webkit' ? ['IndexedDB'] : ['IndexedDB', 'OPFS']
  const openTab = (): Promise<Page> => browser.open(`${baseUrl}/tabs.page`)

  for (const place of places) {
    test(`two tabs hear of each other's writes and see each other's indexes: ${place}`, async () => {
      const name = `tabs-${place}`
      const tabs = [await openTab(), await openTab()] as const
      for (const tab of tabs) await tab.evaluate((given) => pouchTab.open(given.name, given.place), { name, place })
      const hear = async (...ids: readonly string[]): Promise<void> => {
        for (const tab of tabs) {
          const heard = (): Promise<readonly string[]> => tab.evaluate(() => pouchTab.heard())
          await until(async () => {
            const all = await heard()
            return ids.every((id) => all.includes(id))
          }, heard)
        }
      }
      const ask = async (tab: Page, indexes: number): Promise<void> => {
        assertEqual(await tab.evaluate(() => pouchTab.find()), ['b'])
        assertEqual(await tab.evaluate((given) => pouchTab.indexes(given.name, given.place), { name, place }), indexes)
      }
      const [first, second] = tabs
      await first.evaluate(() => pouchTab.put('a', 1))
      await second.evaluate(() => pouchTab.put('b', 2))
      await hear('a', 'b')
      await first.evaluate(() => pouchTab.createIndex())
      await ask(second, 1)
      await first.evaluate(() => pouchTab.deleteIndex())
      await ask(second, 0)
      await first.evaluate(() => pouchTab.createIndex())
      await ask(second, 1)
      await first.evaluate(() => pouchTab.destroy())
      await hear('destroyed')
      for (const tab of tabs) await tab.close()
    })

    for (const adapter of OLD) {
      test(`a database of ${adapter} moves to ${place}, in spite of a browser that is killed`, async () => {
        const given = { name: `move-${adapter}-${place}`, adapter, place, count: DOCUMENTS }
        let tab = await openTab()
        const wanted = await tab.evaluate(({ name, count, ...by }) => pouchTab.fill(name, by.adapter, count), given)
        for (const reports of [3, 9]) {
          await tab.evaluate(({ name, ...by }) => pouchTab.begin(name, by.adapter, by.place), given)
          const reported = (): Promise<readonly number[]> => tab.evaluate(() => pouchTab.reports())
          await until(async () => {
            const all = await reported()
            return all.length >= reports || all.at(-1) === 1
          }, reported)
          await browser.kill()
          tab = await openTab()
        }
        const moved = await tab.evaluate(({ name, ...by }) => pouchTab.move(name, by.adapter, by.place), given)
        assertEqual(moved, wanted)
        assertTrue(wanted.length > DOCUMENTS, 'the database has conflicts and tombstones')
        assertEqual(await tab.evaluate(({ name, ...by }) => pouchTab.isThere(name, by.adapter), given), false)
        await tab.close()
      })
    }
  }
}
