/** The page of the cities in a real browser: it copies them, counts, sorts, filters, keeps them, and follows another tab. */
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { withServer } from './cities.ts'
import { click, sees, set } from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('copies, counts, sorts and filters; a reload keeps it', async () => {
    await withServer(async ({ pageUrl }) => {
      const page = await browser.open(pageUrl)
      await sees(page, '#count', '1,000 cities')
      await sees(page, '#grid tbody tr:first-child .name', 'Shanghai')
      await click(page, 'th.name button')
      await sees(page, '#grid tbody tr:first-child .name', 'Aba')
      await set(page, '#filter-country', 'JP')
      await sees(page, '#count-of', 'of 1,000')
      await click(page, 'th.population button')
      await sees(page, '#grid tbody tr:first-child .name', 'Tokyo')
      await set(page, '#filter-name', 'SAPP')
      await sees(page, '#count', '1 city')
      await sees(page, '#grid tbody tr:first-child .name', 'Sapporo')
      await page.reload()
      await sees(page, '#count', '1,000 cities')
      await sees(page, '#opened', '1,000 cities opened in')
      await page.close()
    })
  })

  test('a second tab sees a change, and that the copy was deleted', async () => {
    await withServer(async ({ pageUrl }) => {
      const first = await browser.open(pageUrl)
      await sees(first, '#count', '1,000 cities')
      const second = await browser.open(pageUrl)
      await sees(second, '#grid tbody tr:first-child .name', 'Shanghai')
      await click(second, '#add')
      await sees(second, '#editor-title', 'Add a city')
      await set(second, '#edit-name', '<b>Atlantis</b>')
      await set(second, '#edit-country', 'GR')
      await set(second, '#edit-population', '99000000')
      await click(second, '#editor [type=submit]')
      await sees(first, '#grid tbody tr:first-child .name', '<b>Atlantis</b>')
      await sees(first, '#count', '1,001 cities')
      await click(second, '#delete-copy')
      await click(second, '#question-yes')
      await sees(second, '#notice-title', 'The copy is deleted')
      await sees(first, '#notice-title', 'Deleted in another tab')
      await first.close()
      await second.close()
    })
  })
}
