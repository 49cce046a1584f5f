/**
 * Drives a browser with several pages: tabs on one database, tabs and browsers that die, restarts.
 *
 *     await withBrowser('chromium', {}, async (browser) => {
 *       const [first, second] = [await browser.open(url), await browser.open(url)]
 *       await first.evaluate((name) => globalThis.tab.open(name), 'shop')
 *       await first.killRenderer()
 *       await browser.kill()
 *       const third = await browser.open(url)
 *     })
 *
 * It starts with the first page, and with the first after `end` or `kill`.
 * Chromium is driven by its own protocol, Firefox by WebDriver BiDi, WebKit from within its pages (so there can be
 * only five at a time, all but the first are hidden and get no animation frames, and those that don't come from page-server.ts
 * are seen through a proxy, on another port). What else
 * differs is in `browser.supports`. Everything that was started is gone when `withBrowser` settles.
 */
import { makeFolder, removeFolder } from '../processes.ts'
import type { Engine, EngineOptions } from './engines.ts'
import type { Browser, Page, Session } from './browser.ts'
import { startPuppeteer } from './drive-puppeteer.ts'
import { startWebKit } from './drive-webkit.ts'
import { withTimeout } from './launch.ts'
import { keepProcessorTime } from './process-tree.ts'

export type { Browser, Page, Supports } from './browser.ts'

export interface BrowserOptions {
  /** Kept; without it the browser starts empty, and what it stored is removed at the end. */
  readonly profileDir?: string
  /** Room for all that an origin stores, where `supports.quota`. Firefox gives no less than 10 MiB. */
  readonly quotaBytes?: number
  /** Pages keep nothing for good, as in a private window. */
  readonly privateMode?: boolean
}

const START_MS_MAX = 60_000
const OPEN_MS_MAX = 60_000
const DESCRIBE_MS_MAX = 2000
const DESCRIBED_LENGTH = 400

export async function withBrowser<T>(
  engine: Engine,
  options: BrowserOptions,
  use: (browser: Browser) => Promise<T>,
): Promise<T> {
  const profileDir = options.profileDir ?? makeFolder(engine)
  const engineOptions: EngineOptions = { ...options, profileDir, remote: true }
  const start = engine === 'webkit' ? startWebKit : startPuppeteer
  /** Without a page: it is being opened, or could not be. */
  const places = new Map<object, Page | undefined>()
  let session: Promise<Session> | undefined
  const takeSession = async (): Promise<Session | undefined> => {
    const taken = session
    session = undefined
    places.clear()
    // A browser that did not start has already failed the calls that open pages.
    return taken?.catch(() => undefined)
  }
  const endBy = async (way: 'close' | 'kill'): Promise<void> => {
    const taken = await takeSession()
    if (taken !== undefined) await keepProcessorTime(() => taken[way]())
  }
  const openIn = async (url: string): Promise<Page> => {
    session ??= withTimeout(start(engine, engineOptions), START_MS_MAX, `the start of ${engine}`)
    return withTimeout((await session).open(url), OPEN_MS_MAX, `opening ${url} in ${engine}`)
  }
  const browser: Browser = {
    engine,
    supports: {
      quota: engine !== 'webkit',
      killOneRenderer: engine !== 'firefox',
      freezeOneTab: engine !== 'firefox',
      keys: engine !== 'webkit',
      passkeys: engine === 'chromium',
    },
    get pageCount() {
      return places.size
    },
    describe: async () => (await Promise.all([...places.values()].map(describePage))).join('\n'),
    async open(url) {
      const place = {}
      places.set(place, undefined)
      const opened = await openIn(url)
      places.set(place, opened)
      return {
        ...opened,
        async close() {
          await opened.close()
          places.delete(place)
        },
      }
    },
    end: () => endBy('close'),
    kill: () => endBy('kill'),
  }
  try {
    return await use(browser)
  } finally {
    await endBy('close')
    if (options.profileDir === undefined) removeFolder(profileDir)
  }
}

/** A page that hangs, or was killed, says nothing. */
async function describePage(page: Page | undefined): Promise<string> {
  if (page === undefined) return 'A page is not open.'
  const text = page.evaluate(
    (length) => `${location.href} shows: … ${document.body.innerText.slice(-length)}`,
    DESCRIBED_LENGTH,
  )
  return withTimeout(text, DESCRIBE_MS_MAX, 'its description').catch(
    (error: unknown) => `A page says nothing: ${String(error)}`,
  )
}
