/** A page that runs database.page.ts, as the tests in Node see it. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import type { Call, DatabaseTab } from './database-tab.ts'
import type {} from './database.page.ts'

/** What `databaseTab` offers, called in the page. Parameters and results are JSON. */
export type RemoteTab = {
  readonly [Name in Call]: (
    ...parameters: Parameters<DatabaseTab[Name]>
  ) => Promise<Awaited<ReturnType<DatabaseTab[Name]>>>
}

export interface OpenTab extends RemoteTab {
  readonly page: Page
}

/** Opens a tab, and a database in it where a name is given. */
export async function openTab({ browser, baseUrl }: TabContext, databaseName?: string): Promise<OpenTab> {
  const page = await browser.open(`${baseUrl}/database.page`)
  const tab = new Proxy({} as OpenTab, {
    get(_target, name) {
      if (name === 'page') return page
      // A promise of a tab must not take it for another promise.
      if (name === 'then') return undefined
      return (...parameters: unknown[]) => callIn(page, name as Call, parameters)
    },
  })
  if (databaseName !== undefined) await tab.open(databaseName)
  return tab
}

export type TabContext = Pick<BrowserSuiteContext, 'browser' | 'baseUrl'>

function callIn(page: Page, call: Call, parameters: readonly unknown[]): Promise<unknown> {
  return page.evaluate(
    (asked) => {
      const method = globalThis.databaseTab[asked.call] as (...parameters: readonly unknown[]) => unknown
      return method(...asked.parameters)
    },
    { call, parameters },
  )
}

/** Runs `body` with tabs on one database, and closes them. */
export async function withTabs(
  context: TabContext,
  databaseName: string,
  count: number,
  body: (...tabs: OpenTab[]) => Promise<void>,
): Promise<void> {
  const tabs: OpenTab[] = []
  try {
    for (let n = 0; n < count; n++) tabs.push(await openTab(context, databaseName))
    await body(...tabs)
  } finally {
    for (const tab of tabs) await tab.page.close()
  }
}
