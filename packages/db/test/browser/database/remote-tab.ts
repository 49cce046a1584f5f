/** Pages that run database.page.ts, and their workers, as the tests in Node see them. */
import type { BrowserSuiteContext } from '../../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../../tools/browser/browser.ts'
import type { Call, DatabaseTab } from './tab.ts'
import type {} from '../database.page.ts'

/** What `databaseTab` offers, called from here. Parameters and results are JSON. */
export type RemoteTab = {
  readonly [Name in Call]: (
    ...parameters: Parameters<DatabaseTab[Name]>
  ) => Promise<Awaited<ReturnType<DatabaseTab[Name]>>>
}

export interface OpenTab extends RemoteTab {
  readonly page: Page
}

export type TabContext = Pick<DatabaseContext, 'browser' | 'baseUrl' | 'storage' | 'isEncrypted'>

/** `storage`: the kind that databases are opened in; the default one where it is left out. */
export type DatabaseContext = BrowserSuiteContext & { readonly storage?: 'opfs'; readonly isEncrypted?: boolean }

/** Opens a tab, and a database in it where a name is given. */
export async function openTab(
  { browser, baseUrl, storage, isEncrypted = false }: TabContext,
  databaseName?: string,
): Promise<OpenTab> {
  const page = await browser.open(`${baseUrl}/database.page?${storage ?? ''}${isEncrypted ? '&encrypted' : ''}`)
  const tab = callsOf((call, parameters) => callIn(page, call, parameters), { page })
  if (databaseName !== undefined) await tab.open(databaseName)
  return tab
}

/** Starts a worker in a tab. */
export async function workerIn(tab: OpenTab, name: string): Promise<RemoteTab> {
  await tab.startWorker(name)
  return callsOf((call, parameters) => tab.inWorker(name, call, ...parameters), {})
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

/** `own` with every call beside it. */
function callsOf<Own extends object>(
  ask: (call: Call, parameters: readonly unknown[]) => Promise<unknown>,
  own: Own,
): RemoteTab & Own {
  return new Proxy(own, {
    get(_target, name) {
      // A promise of it must not take it for another promise.
      if (name === 'then' || Object.hasOwn(own, name)) return Reflect.get(own, name) as unknown
      return (...parameters: unknown[]) => ask(name as Call, parameters)
    },
  }) as RemoteTab & Own
}

function callIn(page: Page, call: Call, parameters: readonly unknown[]): Promise<unknown> {
  return page.evaluate(
    (asked) => {
      const method = globalThis.databaseTab[asked.call] as (...parameters: readonly unknown[]) => unknown
      return method(...asked.parameters)
    },
    { call, parameters },
  )
}
