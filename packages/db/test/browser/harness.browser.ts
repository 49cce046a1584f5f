/** Goal: what the other tests expect of a driven browser holds in each engine: tabs share storage, die, come back. */
import { assertEqual, assertRejects } from '../../testing/check.ts'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type {} from './harness.page.ts'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  const open = (): ReturnType<typeof browser.open> => browser.open(`${baseUrl}/harness.page`)

  test('two tabs share what they store', async () => {
    const [first, second] = [await open(), await open()]
    const numbers = await Promise.all([first, second].map((tab) => tab.evaluate(() => harnessTab.increment())))
    assertEqual(
      numbers.toSorted((a, b) => a - b),
      [1, 2],
    )
    await second.close()
    await first.reload()
    assertEqual(await first.evaluate(() => harnessTab.increment()), 3)
    await first.close()
  })

  test('errors of a page come out', async () => {
    const tab = await open()
    await assertRejects(
      tab.evaluate(() => Promise.reject(new Error('no'))),
      Error,
    )
    assertEqual(await tab.evaluate((text) => text.length, 'four'), 4)
    await tab.close()
  })

  if (browser.supports.killOneRenderer) {
    test('a tab that is killed leaves the others alone', async () => {
      const [first, second] = [await open(), await open()]
      await first.killRenderer()
      assertEqual(await second.evaluate(() => harnessTab.increment()), 4)
      await second.close()
    })
  }

  test('what was stored outlives the browser', async () => {
    await browser.kill()
    const tab = await open()
    const number = await tab.evaluate(() => harnessTab.increment())
    assertEqual(number, browser.supports.killOneRenderer ? 5 : 4)
    await tab.close()
  })
}
