/**
 * Goal: in an origin that has used up its quota a database refuses large writes with PANNIER_QUOTA_EXCEEDED, is readable all
 * along, and still takes deletions, of documents, collections and of itself.
 *
 * Method: as page-store-quota.browser.ts, which says why Chromium is started again before the room is used up.
 */
import { assertEqual, assertTrue } from '../../../testing/check.ts'
import { withBrowser } from '../../../../../tools/browser/with-browser.ts'
import { knownGap } from './known-gap.ts'
import { openTab, type DatabaseContext, type OpenTab, type TabContext } from './remote-tab.ts'

const QUOTA_BYTES = 60_000_000
const NAME = 'quota'

/** Inserts until there is no room; gives how many rows were accepted. */
export async function fill(tab: OpenTab): Promise<number> {
  let from = 0
  for (const count of [30, 5, 1]) {
    let outcome = await tab.outcome('insertLarge', from, count)
    while (outcome === 'fulfilled') {
      from += count
      outcome = await tab.outcome('insertLarge', from, count)
    }
    assertEqual(outcome, 'PANNIER_QUOTA_EXCEEDED')
  }
  return from
}

async function useFullDatabase(context: TabContext): Promise<void> {
  const { browser } = context
  const before = await openTab(context, NAME)
  await before.insert('small', 0, 1000, 500)
  await before.checkpoint()
  await before.reserveMade()
  if (browser.engine === 'chromium') await browser.end()
  const tab = await openTab(context, NAME)
  const large = await fill(tab)
  assertTrue(large > 0, 'there was room for something')
  assertEqual(await tab.count(), 1000 + large)
  assertEqual((await tab.get('small7'))?.n, 7)
  assertEqual((await tab.get(`large${large - 1}`))?.n, large - 1)
  assertEqual((await tab.summary()).problems, [])
  // One at a time and many at once.
  for (let n = 0; n < 20; n++) await tab.delete([`small${n}`])
  await tab.delete(Array.from({ length: 480 }, (_, n) => `small${20 + n}`))
  assertEqual(await tab.count(), 500 + large)
  // What opens it again sees the same, and can go on.
  await tab.page.reload()
  await tab.open(NAME)
  assertEqual((await tab.summary()).count, 500 + large)
  assertTrue(await tab.dropRows(), 'there was something to drop')
  assertEqual(await tab.count(), 0)
  await tab.insert('after', 0, 10)
  assertEqual((await tab.summary()).count, 10)
  await tab.destroy()
  await tab.open(NAME)
  assertEqual(await tab.count(), 0)
  await tab.destroy()
}

export function quotaCases(context: DatabaseContext): void {
  const { test, browser } = context
  knownGap(test, browser.supports.quota, {
    name: 'a database in an origin without room',
    reason: 'WebKit on GTK has no way to set a quota',
    body: () =>
      withBrowser(browser.engine, { quotaBytes: QUOTA_BYTES }, (full) =>
        useFullDatabase({ ...context, browser: full }),
      ),
  })
}
