/**
 * Databases in the private file system, in several tabs and workers at once: as database.browser.ts, with what is different
 * where one worker has the files and the others ask it.
 */
import { assertEqual, assertTrue } from '../../testing/check.ts'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { withBrowser } from '../../../../tools/browser/with-browser.ts'
import { chosenCases, neverChosenCases } from './database/chosen.ts'
import { frozenCases } from './database/frozen.ts'
import { killedAgainCases, killedCases } from './database/killed.ts'
import { fill } from './database/quota.ts'
import { openTab, withTabs, type DatabaseContext } from './database/remote-tab.ts'
import { tabsCases } from './database/tabs.ts'

const QUOTA_BYTES = 60_000_000

export function browserSuite(suite: BrowserSuiteContext): void {
  const context = { ...suite, storage: 'opfs' } as const
  if (suite.browser.engine === 'webkit') {
    suite.test('without a private file system it says so', async () => {
      const tab = await openTab(context)
      assertEqual(await tab.outcome('open', 'opfs'), 'PANNIER_UNAVAILABLE')
      await tab.page.close()
    })
    neverChosenCases(context)
    return
  }
  tabsCases(context)
  ownerCases(context)
  chosenCases(context)
  roomCases(context)
  killedCases(context)
  frozenCases(context)
  killedAgainCases(context)
}

function ownerCases(context: DatabaseContext): void {
  const { test } = context

  test('the files go from tab to tab as their owners close, and nothing is lost or fails', () =>
    withTabs(context, 'owners', 4, async (...tabs) => {
      const last = tabs.at(-1)!
      await last.insert('counter', 0, 1)
      await last.insertForever('last')
      for (const [index, tab] of tabs.slice(0, -1).entries()) {
        await tab.insert(`a${index}-`, 0, 50, 1, 5)
        const inserted = await last.inserted(0)
        const counted = last.increment('counter0', 20)
        if (index === 0) await tab.close()
        else await tab.page.reload()
        await last.inserted(inserted + 5)
        await counted
      }
      await last.stopInserting()
      const summary = await last.summary()
      assertEqual([summary.problems, summary.count], [[], 151 + (await last.inserted(0))])
      assertEqual((await last.get('counter0'))?.n, 60)
    }))

  test('a database that another tab destroys is closed, and not made again', () =>
    withTabs(context, 'destroyed', 3, async (first, second, third) => {
      await first!.insert('a', 0, 100, 10)
      await second!.refresh()
      await second!.destroy()
      for (const tab of [first!, third!]) {
        for (const call of ['refresh', 'checkpoint'] as const) assertEqual(await tab.outcome(call), 'PANNIER_CLOSED')
        await tab.close()
      }
      await third!.open('destroyed')
      assertEqual(await third!.count(), 0)
    }))
}

function roomCases({ test, browser, baseUrl }: DatabaseContext): void {
  test('without room large writes are refused, reads work, and deletions still work', () =>
    withBrowser(browser.engine, { quotaBytes: QUOTA_BYTES }, async (full) => {
      const tab = await openTab({ browser: full, baseUrl, storage: 'opfs' }, 'quota')
      await tab.insert('small', 0, 1000, 500)
      const large = await fill(tab)
      assertTrue(large > 0, 'there was room for something')
      assertEqual((await tab.summary()).count, 1000 + large)
      for (let n = 0; n < 20; n++) await tab.delete([`small${n}`])
      await tab.delete(Array.from({ length: 480 }, (_, n) => `small${20 + n}`))
      await tab.page.reload()
      await tab.open('quota')
      const summary = await tab.summary()
      assertEqual([summary.problems, summary.count], [[], 500 + large])
      assertTrue(await tab.dropRows(), 'there was something to drop')
      await tab.insert('after', 0, 10)
      assertEqual((await tab.summary()).count, 10)
      await tab.destroy()
      await tab.open('quota')
      assertEqual(await tab.count(), 0)
      await tab.destroy()
    }))
}
