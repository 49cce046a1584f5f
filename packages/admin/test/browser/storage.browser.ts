/** Goal: a superuser sees what is stored and how the server does, checks the database and compacts a part of it. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { fillTasks, ITSELF } from '../server.ts'
import { goTo, isSound, press, sees, waitFor, withServerPage } from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  test('collections are listed with their sizes and counts, and one is compacted', async () => {
    await withServerPage(browser, '/storage', async (page, server) => {
      await fillTasks(server, 1234)
      await sees(page, '1,234', '.data')
      await isSound(page)
      await press(page, 'Compact tasks')
      await sees(page, 'tasks is being compacted.')
      const first = await page.evaluate(() => document.querySelector<HTMLElement>('.data tbody tr')!.innerText)
      assertEqual(first.includes('tasks'), true)
    })
  })

  test('the database is checked after a question, and the outcome is said', async () => {
    await withServerPage(browser, '/storage', async (page, { server }) => {
      await sees(page, 'None since the start of the server.')
      await press(page, 'Check everything')
      await sees(page, 'Writes wait during the first half')
      await isSound(page)
      await press(page, 'Start the check')
      await sees(page, 'No problem was found.')
      assertEqual(server.backend.check.show(ITSELF.principal).problemCount, 0)
    })
  })

  test('figures of the server are drawn, and said in words', async () => {
    await withServerPage(browser, '/metrics', async (page) => {
      await waitFor(page, 'eight charts', '', () => document.querySelectorAll('.chart canvas').length === 8)
      await sees(page, 'started ')
      await waitFor(page, 'the rate of requests', '', () =>
        [...document.querySelectorAll('.chart [role=img]')].some((chart) =>
          /Requests a second, now: Answered [\d.]+, Failed \(5xx\) 0/.test(chart.getAttribute('aria-label')!),
        ),
      )
      await waitFor(page, 'the memory', '', () =>
        [...document.querySelectorAll('.chart [role=img]')].some((chart) =>
          /Memory, now: Process [\d.]+ MiB/.test(chart.getAttribute('aria-label')!),
        ),
      )
      await isSound(page)
      await goTo(page, '/storage')
      await sees(page, 'Collections and databases')
    })
  })
}
