/** Goal: a superuser finds in the logs what has happened: by words, filters, levels and periods, as it happens, and each log whole. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { ITSELF } from '../server.ts'
import { fill, goTo, isSound, press, sees, seesNo, typeCode, waitFor, withServerPage } from './steps.ts'

const LIST = '.logs'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  test('logs are found by words, by a filter and by their level', async () => {
    await withLogs(async (page) => {
      await sees(page, 'The mail to ann was sent', LIST)
      await sees(page, 'GET /api/collections/posts', LIST)
      await isSound(page)
      await typeCode(page, 'Search or filter the logs', 'mail to')
      await page.press('Enter')
      await seesNo(page, 'GET /api', LIST)
      await sees(page, '2 logs')
      await typeCode(page, 'Search or filter the logs', 'data.status >= 400')
      await press(page, 'Apply')
      await sees(page, '1 log')
      await sees(page, '404', LIST)
      await typeCode(page, 'Search or filter the logs', 'data.status >=')
      await press(page, 'Apply')
      await sees(page, 'At character 15: ', '.field-error')
      await isSound(page)
      await press(page, 'Clear the search')
      await fill(page, 'Level', 'errors')
      await sees(page, 'The mail to bob was refused', LIST)
      await seesNo(page, 'The mail to ann', LIST)
    })
  })

  test('a log is shown whole, and leads to those that are like it', async () => {
    await withLogs(async (page) => {
      await press(page, 'Requests of superusers too')
      await waitFor(page, 'a log of the request', '', () => {
        const row = [...document.querySelectorAll<HTMLElement>('.log')].find(({ innerText }) =>
          innerText.includes('GET /api/collections/posts'),
        )
        row?.click()
        return row !== undefined
      })
      await sees(page, 'userAgent', 'dialog')
      await isSound(page)
      await press(page, 'Only those with the same status')
      await seesNo(page, 'userAgent')
      await sees(page, '1 log')
      assertEqual(
        await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('q')),
        'data.status = 404',
      )
    })
  })

  test('the list follows the server, until that is turned off', async () => {
    await withLogs(async (page, server) => {
      await sees(page, 'The mail to ann was sent', LIST)
      await write(server, 0, 'It happens just now')
      await sees(page, 'It happens just now', LIST)
      await press(page, 'Live')
      await write(server, 0, 'It happens later')
      await press(page, 'Live')
      await sees(page, 'It happens later', LIST)
    })
  })

  test('a period is chosen by dragging over the chart, or by a button', async () => {
    await withLogs(async (page) => {
      await waitFor(page, 'the chart', '', () => document.querySelector('.chart canvas') !== null)
      await sees(page, 'Drag over the chart')
      await waitFor(page, 'its figures', '', () => {
        const label = document.querySelector('.chart [role=img]')!.getAttribute('aria-label')!
        return /^\d+ logs in \d hours?, \d+ errors?\.$/.test(label)
      })
      // Before the chart is loaded there is nothing to choose from.
      await waitFor(page, 'a period in the address', '', () => {
        const chart = document.querySelector('.chart-drag')!
        const { left, top, width } = chart.getBoundingClientRect()
        chart.setPointerCapture = () => undefined
        const send = (type: string, at: number): void => {
          const place = { clientX: left + width * at, clientY: top + 40, bubbles: true, pointerId: 1 }
          chart.dispatchEvent(new PointerEvent(type, place))
        }
        send('pointerdown', 0.5)
        send('pointermove', 0.7)
        send('pointerup', 0.9)
        return /from=.*to=/.test(location.hash)
      })
      await press(page, 'All times')
      await waitFor(page, 'no period', '', () => !location.hash.includes('from='))
      await press(page, 'Last hour')
      await sees(page, 'The mail to ann was sent', LIST)
      await goTo(page, '/logs?from=2020-01-01T00:00:00.000Z&to=2020-01-02T00:00:00.000Z')
      await sees(page, 'No logs')
    })
  })

  test('all logs are deleted after a question', async () => {
    await withLogs(async (page, { server }) => {
      await sees(page, 'The mail to ann was sent', LIST)
      await press(page, 'More of the logs')
      await press(page, 'Delete all logs …')
      await sees(page, 'They can’t be restored.')
      await isSound(page)
      await press(page, 'Delete them')
      await sees(page, 'No logs')
      const { items } = await server.backend.logReads.list(ITSELF, { filter: 'message ~ "mail"' })
      assertEqual(items.length, 0)
    })
  })

  async function withLogs(use: (page: Page, server: TestServer) => Promise<void>): Promise<void> {
    await withServerPage(browser, '/logs', async (page, server) => {
      await write(server, 0, 'The mail to ann was sent', { to: 'ann@example.com' })
      await write(server, 8, 'The mail to bob was refused', { to: 'bob@example.com' })
      const { status } = await fetch(`${server.url}/api/collections/posts/records`)
      assertEqual(status, 404)
      await server.server.backend.logs.flush()
      await use(page, server)
    })
  }
}

async function write(
  { server: { backend } }: TestServer,
  level: number,
  message: string,
  data: Readonly<Record<string, string>> = {},
): Promise<void> {
  backend.logs.write({ level, message, data })
  await backend.logs.flush()
}
