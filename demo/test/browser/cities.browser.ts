/** The page of the cities in a real browser, further: without the server, words, photos, a password, and two copies that meet. */
import type { Page } from '../../../tools/browser/with-browser.ts'
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { freePort } from '../../../tools/processes.ts'
import { serve } from '../../node/server.ts'
import type { CityServer } from '../../node/server.ts'
import type { City } from '../../shared/city.ts'
import { withDatabase, withServer } from './cities.ts'
import { click, onePage, sees, set, WAIT_MS_MAX } from './steps.ts'

const SHANGHAI = '1796236'
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="5"><rect width="7" height="5" fill="teal"/></svg>'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('a reload without the server shows the replica; a wrong number is an error in words', async () => {
    await withServer(async (server) => {
      const page = await browser.open(server.pageUrl)
      await sees(page, '#count', '1,000 cities')
      await set(page, '#filter-from', 'abc')
      await sees(page, '#filter-from-wrong', 'At least: a number, as 50,000')
      const isKept = await page.evaluate(async () => {
        if (navigator.serviceWorker === undefined) return false
        const late = new Promise<never>((_resolve, reject) =>
          setTimeout(() => reject(new Error('no service worker is ready')), 60_000),
        )
        await Promise.race([navigator.serviceWorker.ready, late])
        return true
      })
      if (isKept) {
        await server.close()
        await page.reload()
        await sees(page, '#opened', '1,000 cities opened in')
        await sees(page, '#count', '1,000 cities')
      }
      await page.close()
    })
  })

  test('words of a note find a city, the best first; the heads of the columns wait meanwhile', async () => {
    await withServer(async ({ pageUrl }) => {
      const page = await browser.open(pageUrl)
      await sees(page, '#count', '1,000 cities')
      await click(page, '#grid tbody tr:first-child .edit')
      await sees(page, '#editor[open] #editor-title', 'Edit Shanghai')
      await set(page, '#edit-note', 'Ferries leave at dawn')
      await click(page, '#editor [type=submit]')
      await set(page, '#filter-name-mode', 'words')
      await set(page, '#filter-name', 'dawn fer')
      await sees(page, '#count', '1 city')
      await sees(page, '#count-of', 'of 1,000, best first')
      await sees(page, '#grid tbody tr:first-child .name', 'Shanghai')
      await sees(page, '#plan-body pre', "cities\n  .search('dawn fer*')")
      await sees(page, 'th.name button:disabled', 'Name')
      await set(page, '#filter-country', 'JP')
      await sees(page, '#count', '0 cities')
      await click(page, '#filter-reset')
      await sees(page, '#count', '1,000 cities')
      await sees(page, 'th.name button:enabled', 'Name')
      await close(page)
    })
  })

  test('a photo stays with its city: offline, after a reload, on the server; and goes', async () => {
    await withServer(async (server) => {
      const page = await browser.open(server.pageUrl)
      await sees(page, '#sync-status', 'In sync')
      await click(page, '#go-offline')
      await sees(page, '#sync-status', 'Offline')
      await click(page, '#grid tbody tr:first-child .edit')
      await sees(page, '#editor[open] #editor-title', 'Edit Shanghai')
      await choosePhoto(page, 'text/plain')
      await sees(page, '#edit-picture-wrong', 'photo is no picture')
      await choosePhoto(page, 'image/svg+xml')
      equal(await pictureWidth(page), 7)
      await click(page, '#editor [type=submit]')
      await sees(page, '#grid tr.has-photo .name', 'Shanghai')
      await page.reload()
      await sees(page, '#sync-status', 'Offline')
      await sees(page, '#grid tr.has-photo .name', 'Shanghai')
      await click(page, '#grid tbody tr:first-child .edit')
      equal(await pictureWidth(page), 7)
      // A save of anything else keeps it.
      await set(page, '#edit-population', '34000000')
      await click(page, '#editor [type=submit]')
      await sees(page, '#grid tr.has-photo .population', '34,000,000')
      await click(page, '#go-offline')
      await receives(server, 34_000_000)
      const stored = await fetch(`${server.url}/cities/${SHANGHAI}/photo`)
      equal(stored.headers.get('content-type'), 'image/svg+xml')
      equal(await stored.text(), SVG)
      await click(page, '#grid tbody tr:first-child .edit')
      equal(await pictureWidth(page), 7)
      await click(page, '#edit-photo-remove')
      await set(page, '#edit-population', '35000000')
      await click(page, '#editor [type=submit]')
      await sees(page, '#grid tbody tr:first-child:not(.has-photo) .population', '35,000,000')
      await receives(server, 35_000_000)
      equal((await fetch(`${server.url}/cities/${SHANGHAI}/photo`)).status, 404)
      await close(page)
    })
  })

  test('a locked copy opens with its password only', async () => {
    await withServer(async ({ pageUrl }) => {
      const page = await browser.open(`${pageUrl}?locked`)
      const give = async (title: string, password: string): Promise<void> => {
        await sees(page, '#unlock[open] #unlock-title', title)
        await set(page, '#unlock-password', password)
        await click(page, '#unlock-yes')
      }
      await give('Choose a password', 'sesame')
      await sees(page, '#count', '1,000 cities')
      await set(page, '#filter-name-mode', 'words')
      await set(page, '#filter-name', 'shang')
      await sees(page, '#grid tbody tr:first-child .name', 'Shanghai')
      await page.reload()
      await give('This copy is locked', 'simsim')
      await sees(page, '#unlock-wrong:not([hidden])', 'This is not its password.')
      await click(page, '#unlock-cancel')
      await sees(page, '#notice-title', 'This copy is locked')
      await click(page, '#notice-actions .primary')
      await give('This copy is locked', 'sesame')
      await sees(page, '#opened', '1,000 cities opened in')
      await close(page)
    })
  })

  test('scrolls to the last row', async () => {
    await withServer(async ({ pageUrl }) => {
      const page = await browser.open(pageUrl)
      await sees(page, '#count', '1,000 cities')
      await page.evaluate(() => {
        const grid = document.querySelector('#grid')!
        grid.scrollTop = grid.scrollHeight
      })
      await sees(page, '#city-row-999 .rank', '1,000')
      await page.close()
    })
  })

  test('two copies that were offline meet; a conflict shows in both, and is settled in one', async () => {
    await withServer(async (server) => {
      const editOffline = async (query: string, population: number): Promise<Page> => {
        const page = await browser.open(server.pageUrl + query)
        await sees(page, '#sync-status', 'In sync')
        await click(page, '#go-offline')
        await sees(page, '#sync-status', 'Offline')
        await setPopulation(page, population)
        await sees(page, '#sync-status', 'Offline · 1 change to send')
        return page
      }
      const first = await editOffline('', 33_000_001)
      const second = await editOffline('?copy=2', 33_000_002)
      await second.reload()
      await sees(second, '#sync-status', 'Offline · 1 change to send')
      await sees(second, '#grid tbody tr:first-child .population', '33,000,002')
      for (const page of [first, second]) await click(page, '#go-offline')
      for (const page of [first, second]) {
        await sees(page, '#conflicts-title', 'A city was changed in two places')
        await sees(page, '.comparison caption', 'Shanghai')
        await sees(page, '#sync-status', 'In sync')
      }
      equal((await cityOf(server, SHANGHAI))._conflicts?.length, 1)
      await click(second, '.comparison button[aria-label*="Copy 1"]')
      for (const page of [first, second]) {
        await waitUntilHidden(page, '#conflicts')
        await sees(page, '#grid tbody tr:first-child .population', '33,000,001')
        await sees(page, '#sync-status', 'In sync')
      }
      const { population, editedIn, _conflicts } = await cityOf(server, SHANGHAI)
      equal(JSON.stringify([population, editedIn, _conflicts]), '[33000001,"Copy 1",null]')
      // Each is in front when it is closed: dialogs of a tab behind wait.
      for (const page of [second, first]) await close(page)
    })
  })

  test('continues when the server is back, and shows what others change', async () => {
    await withDatabase(async (database) => {
      const assets = await onePage()
      let server = await serve({ database, assets, port: await freePort() })
      try {
        const page = await browser.open(server.pageUrl)
        await sees(page, '#sync-status', 'In sync')
        const other = await browser.open(server.pageUrl)
        await sees(other, '#sync-status', 'In sync')
        await server.close()
        await sees(other, '#sync-status', 'Trying again')
        await setPopulation(other, 34_000_000)
        await sees(page, '#grid tbody tr:first-child .population', '34,000,000')
        server = await serve({ database, assets, port: Number(new URL(server.url).port) })
        const city = await receives(server, 34_000_000)
        await sees(page, '#sync-status', 'In sync')
        const body = JSON.stringify({ ...city, population: 35_000_000 })
        const headers = { 'content-type': 'application/json' }
        await fetch(`${server.url}/cities/${SHANGHAI}`, { method: 'PUT', headers, body })
        for (const each of [page, other]) await sees(each, '#grid tbody tr:first-child .population', '35,000,000')
        // The other one takes over.
        await page.close()
        await setPopulation(other, 36_000_000)
        await receives(server, 36_000_000)
        await close(other)
      } finally {
        await server.close()
      }
    })
  })
}

/** A document of the server's answer. */
interface ServerCity extends City {
  readonly _rev: string
  readonly _conflicts?: readonly string[]
}

async function cityOf({ url }: CityServer, id: string): Promise<ServerCity> {
  return (await (await fetch(`${url}/cities/${id}?conflicts=true`)).json()) as ServerCity
}

/** Waits until the server has Shanghai with that population. */
async function receives(server: CityServer, population: number): Promise<ServerCity> {
  const deadline = performance.now() + WAIT_MS_MAX
  for (;;) {
    const city = await cityOf(server, SHANGHAI)
    if (city.population === population) return city
    if (performance.now() > deadline) throw new Error(`the server has ${city.population}, not ${population}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Gives Shanghai, in the first row, another population. */
async function setPopulation(page: Page, population: number): Promise<void> {
  await sees(page, '#grid tbody tr:first-child .name', 'Shanghai')
  await click(page, '#grid tbody tr:first-child .edit')
  await sees(page, '#editor[open] #editor-title', 'Edit Shanghai')
  await set(page, '#edit-population', String(population))
  await click(page, '#editor [type=submit]')
}

/** Gives the editor a file, as a person chooses one. */
async function choosePhoto(page: Page, type: string): Promise<void> {
  await page.evaluate(
    ({ text, type }) => {
      const files = new DataTransfer()
      files.items.add(new File([text], 'photo', { type }))
      const input = document.querySelector<HTMLInputElement>('#edit-photo')!
      input.files = files.files
      input.dispatchEvent(new Event('change', { bubbles: true }))
    },
    { text: SVG, type },
  )
}

/** Waits until the editor shows a picture: how wide it is by itself. */
async function pictureWidth(page: Page): Promise<number> {
  return await page.evaluate(async (waitMs) => {
    const picture = document.querySelector<HTMLImageElement>('#edit-picture')!
    const deadline = performance.now() + waitMs
    while ((picture.hidden || picture.naturalWidth === 0) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return picture.naturalWidth
  }, WAIT_MS_MAX)
}

/** Waits until the element is hidden. */
async function waitUntilHidden(page: Page, selector: string): Promise<void> {
  const found = await page.evaluate(
    async ({ selector, waitMs }) => {
      const deadline = performance.now() + waitMs
      while (document.querySelector(selector) === null && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return document.querySelector(selector) !== null
    },
    { selector: `${selector}[hidden]`, waitMs: WAIT_MS_MAX },
  )
  if (!found) throw new Error(`${selector} is still there`)
}

/** Leaves nothing behind for the next case: in WebKit all servers are of one origin. */
async function close(page: Page): Promise<void> {
  await click(page, '#delete-copy')
  await click(page, '#question-yes')
  await sees(page, '#notice-title', 'The copy is deleted')
  await page.close()
}

function equal(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${String(actual)} is not ${String(expected)}`)
}
