/**
 * Goal: when an origin has used up its quota, commits are refused whole, and small writes and deletions still work.
 *
 * Method: the room is used up with commits of many pages, then of few, then of one. That takes but two seconds, and for half
 * a minute Chromium trusts what it found out about the room when the first byte was written: it is started again
 * after room was set aside.
 */
import { assertEqual } from '../../testing/check.ts'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { withBrowser } from '../../../../tools/browser/with-browser.ts'
import type {} from './page-store-quota.page.ts'

const QUOTA_BYTES = 100_000_000

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  if (!browser.supports.quota) return

  test('a full origin refuses whole commits, and takes deletions', () =>
    withBrowser(browser.engine, { quotaBytes: QUOTA_BYTES }, async (full) => {
      const url = `${baseUrl}/page-store-quota.page`
      await (await full.open(url)).evaluate(() => quotaTab.prepare())
      if (browser.engine === 'chromium') await full.end()
      const tab = await full.open(url)
      assertEqual(await tab.evaluate(() => quotaTab.fill()), 4)
      await tab.evaluate(() => quotaTab.appendUntilFull())
      assertEqual(await tab.evaluate(() => quotaTab.append(100)), 100)
      assertEqual(await tab.evaluate(() => quotaTab.free()), true)
      assertEqual(await tab.evaluate(() => quotaTab.append(100)), 100)
      await tab.evaluate(() => quotaTab.destroy())
      await tab.close()
    }))
}
