/** The page in a real browser: it loads, counts, sorts, filters, keeps what it loaded, and follows another tab. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import type { Page } from '../../../tools/browser/with-browser.ts'
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { readAllCities } from '../../node/all-cities.ts'
import { bundlePage } from '../../node/bundle.ts'
import { serve } from '../../node/server.ts'
import { COLLECTION } from '../../shared/city.ts'
import type { City } from '../../shared/city.ts'
import { loadCities } from '../../shared/load.ts'

const DOCUMENTS = 3_000
const WAIT_MS_MAX = 20_000

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('loads, counts, sorts and filters; a reload keeps it', async () => {
    await withServer(async (url) => {
      const page = await browser.open(url)
      await sees(page, '#count', '3,000 cities')
      await sees(page, '#grid tbody tr:first-child .name', 'Shanghai')
      await click(page, 'th.name button')
      await sees(page, '#grid tbody tr:first-child .name', 'A Coruña')
      await set(page, '#filter-country', 'JP')
      await sees(page, '#count-of', 'of 3,000')
      await click(page, 'th.population button')
      await sees(page, '#grid tbody tr:first-child .name', 'Tokyo')
      await set(page, '#filter-name', 'SAPP')
      await sees(page, '#count', '1 city')
      await sees(page, '#grid tbody tr:first-child .name', 'Sapporo')
      await page.reload()
      await sees(page, '#count', '3,000 cities')
      await sees(page, '#opened', '3,000 cities opened in')
      await page.close()
    })
  })

  test('scrolls to the last row', async () => {
    await withServer(async (url) => {
      const page = await browser.open(url)
      await sees(page, '#count', '3,000 cities')
      await page.evaluate(() => {
        const grid = document.querySelector('#grid')!
        grid.scrollTop = grid.scrollHeight
      })
      await sees(page, '#city-row-2999 .rank', '3,000')
      await page.close()
    })
  })

  test('a second tab sees a change, and that the copy was deleted', async () => {
    await withServer(async (url) => {
      const first = await browser.open(url)
      await sees(first, '#count', '3,000 cities')
      const second = await browser.open(url)
      await sees(second, '#grid tbody tr:first-child .name', 'Shanghai')
      await click(second, '#add')
      await sees(second, '#editor-title', 'Add a city')
      await set(second, '#edit-name', '<b>Atlantis</b>')
      await set(second, '#edit-country', 'GR')
      await set(second, '#edit-population', '99000000')
      await click(second, '#editor [type=submit]')
      await sees(first, '#grid tbody tr:first-child .name', '<b>Atlantis</b>')
      await sees(first, '#count', '3,001 cities')
      await click(second, '#delete-copy')
      await click(second, '#question-yes')
      await sees(second, '#notice-title', 'The copy is deleted')
      await sees(first, '#notice-title', 'Deleted in another tab')
      await first.close()
      await second.close()
    })
  })
}

async function withServer(use: (url: string) => Promise<void>): Promise<void> {
  await using db = await open('served', { storage: memory() })
  await loadCities(db, readAllCities(DOCUMENTS))
  const cities = db.collection<City>(COLLECTION)
  const server = await serve({ cities, assets: await bundlePage(), source: 'test', port: 0 })
  try {
    await use(server.url)
  } finally {
    await server.close()
  }
}

/** Waits until the element shows a text that begins so. */
async function sees(page: Page, selector: string, text: string): Promise<void> {
  const shown = await page.evaluate(
    async ({ selector, text, waitMs }) => {
      const deadline = performance.now() + waitMs
      for (;;) {
        const shown = document.querySelector(selector)?.textContent?.trim() ?? ''
        if (shown.startsWith(text) || performance.now() > deadline) return shown
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    { selector, text, waitMs: WAIT_MS_MAX },
  )
  if (!shown.startsWith(text)) throw new Error(`${selector} shows '${shown}', not '${text}'`)
}

async function click(page: Page, selector: string): Promise<void> {
  await page.evaluate((selector) => document.querySelector<HTMLElement>(selector)!.click(), selector)
}

/** As a person types or chooses. */
async function set(page: Page, selector: string, value: string): Promise<void> {
  await page.evaluate(
    ({ selector, value }) => {
      const field = document.querySelector<HTMLInputElement | HTMLSelectElement>(selector)!
      field.value = value
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    { selector, value },
  )
}
