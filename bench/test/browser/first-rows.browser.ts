/** The apps of the workload "first rows" in a real browser: each page shows the rows that the model has, by network and by service worker. */
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import type { Browser } from '../../../tools/browser/browser.ts'
import type { DataSet } from '../../documents.ts'
import { makePages } from '../../first-rows/build.ts'
import { checkRows } from '../../first-rows/expected.ts'
import type { Report } from '../../first-rows/page/protocol.ts'
import { MEASURABLE, STATES, variantsIn } from '../../first-rows/variants.ts'
import { servePages } from '../../first-rows/server.ts'
import type { PageServer } from '../../first-rows/server.ts'

const SET: DataSet = { documents: 60, seed: 1, ids: 'random' }

/** The pages, made once: that takes seconds. */
let pages: ReturnType<typeof makePages> | undefined

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  const variants = variantsIn(browser.engine, MEASURABLE, STATES)
  const apps = new Set(variants.map(({ app }) => app))
  for (const { name, app, state } of variants) {
    test(`${name}: the page shows the first rows`, async () => {
      pages ??= makePages([...apps], false)
      await using server = await servePages(await pages)
      const fill = `/network/fill/?app=${app}&documents=${SET.documents}&seed=${SET.seed}`
      await visit(browser, server, fill)
      if (state === 'killed') {
        await visit(browser, server, `${fill}&log=full`)
        await browser.kill()
      }
      for (const delivery of ['network', 'service-worker']) {
        const report = await visit(browser, server, `/${delivery}/${app}/`)
        checkRows('rows' in report ? report.rows : [], SET, 'rows')
      }
    })
  }
}

async function visit(browser: Browser, server: PageServer, path: string): Promise<Report> {
  const reported = new Promise<Report>((resolve, reject) => {
    server.onReport = (report) => {
      if ('error' in report) reject(new Error(report.error))
      else resolve(report)
      return ''
    }
  })
  const page = await browser.open(`${server.url}${path}`)
  const report = await reported
  await page.close()
  return report
}
