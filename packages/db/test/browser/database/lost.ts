/**
 * Goal: a database whose storage is taken away says so with a typed error, or goes on as if nothing had happened; nobody
 * writes into something else.
 */
import { assertEqual, assertTrue } from '../../../testing/check.ts'
import type { BrowserSuiteContext } from '../../../../../tools/browser/browser-suite.ts'
import { withBrowser } from '../../../../../tools/browser/with-browser.ts'
import type { Call } from './tab.ts'
import { openTab, withTabs, type OpenTab } from './remote-tab.ts'

const CALLS: readonly [call: Call, ...parameters: unknown[]][] = [
  ['insert', 'x', 0, 1],
  ['increment', 'a0', 1],
  ['checkpoint'],
  ['refresh'],
  ['buildIndex', 'text'],
]

async function saysClosed(tab: OpenTab): Promise<void> {
  for (const [call, ...parameters] of CALLS) {
    assertEqual(await tab.outcome(call, ...parameters), 'PANNIER_CLOSED', `the error of ${call}`)
  }
  await tab.close()
}

export function lostCases(context: BrowserSuiteContext): void {
  const { test, browser, baseUrl } = context

  test('a database that another tab destroys is closed, and not made again', () =>
    withTabs(context, 'destroyed', 2, async (first, second) => {
      await first!.insert('a', 0, 100, 10)
      await second!.refresh()
      await first!.destroy()
      await saysClosed(second!)
      assertEqual(await second!.databaseNames('destroyed'), [])
      await second!.open('destroyed')
      assertEqual(await second!.count(), 0)
    }))

  test('a database that is deleted by somebody else is closed in all tabs', () =>
    withTabs(context, 'deleted', 3, async (first, second, third) => {
      await first!.insert('a', 0, 100, 10)
      await second!.beginWalk()
      await third!.deleteDatabase('deleted')
      for (const tab of [first!, second!, third!]) await saysClosed(tab)
      await first!.open('deleted')
      await first!.insert('a', 0, 10)
      // The handles of before see nothing of the new one.
      assertEqual(await second!.databaseNames('deleted'), ['pannier:deleted'])
      assertEqual((await first!.summary()).count, 10)
    }))

  test('a connection that the browser closes is opened again, also in the midst of writes', () =>
    withTabs(context, 'connection', 1, async (tab) => {
      await tab!.catchConnections()
      await tab!.close()
      await tab!.open('connection')
      await tab!.insertForever('x')
      for (let round = 0; round < 10; round++) {
        const inserted = await tab!.inserted(0)
        await tab!.loseConnections()
        await tab!.inserted(inserted + 2)
      }
      await tab!.stopInserting()
      await tab!.loseConnections()
      await tab!.checkpoint()
      await tab!.loseConnections()
      const summary = await tab!.summary()
      assertEqual(summary.problems, [])
      assertEqual(summary.count, await tab!.inserted(0))
    }))

  test('a page that is shown again looks for what it has missed', () =>
    withTabs(context, 'missed', 2, async (first, second) => {
      await first!.insert('a', 0, 1)
      await second!.hear('a0')
      await first!.beSilent()
      await first!.insert('a', 1, 2)
      await second!.showAgain()
      await second!.hear('a1')
      assertEqual(await second!.count(), 2)
    }))

  test('in private mode a database works, or says that it is not available', () =>
    withBrowser(browser.engine, { privateMode: true }, async (hidden) => {
      for (const storage of [{}, { storage: 'opfs' }] as const) {
        const tab = await openTab({ browser: hidden, baseUrl, ...storage })
        const outcome = await tab.outcome('open', 'private')
        if (outcome === 'PANNIER_UNAVAILABLE') continue
        assertEqual(outcome, 'fulfilled')
        await tab.insert('a', 0, 1000, 500)
        await tab.checkpoint()
        await tab.page.reload()
        await tab.open('private')
        await tab.increment('a7', 3)
        const summary = await tab.summary()
        assertEqual(summary.problems, [])
        assertTrue(summary.count === 1000, 'what was stored outlives the page')
      }
    }))
}
