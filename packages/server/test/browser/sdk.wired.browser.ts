/** Goal: PocketBase's own client works on a page of another origin: two tabs with many subscribers, and a login in a window. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from '../rest/oidc-provider.ts'
import { startRest } from '../rest/rest-server.ts'
import { until } from '../test-server.ts'
import type {} from './sdk.page.ts'

/** A browser opens six connections to an address at most: so one server has many addresses. */
const ADDRESSES = 20
const CLIENTS_AT_EACH = 5
const TABS = 2
const RECORDS = 30

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  test('a hundred subscribers in two tabs get what their filters admit, in the order of writes', async () => {
    const server = await startRest({ host: '0.0.0.0' })
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'votes', type: 'number' },
    ]
    await server.call('POST /collections', { name: 'votes', type: 'base', listRule: '', createRule: '', fields })
    const { port } = new URL(server.url)
    const servers = Array.from({ length: ADDRESSES }, (_, n) => `http://127.0.0.${n + 1}:${port}`)
    const tabs = [await browser.open(`${baseUrl}/sdk.page`), await browser.open(`${baseUrl}/sdk.page`)]
    try {
      for (const [at, tab] of tabs.entries()) {
        const own = servers.filter((_, n) => n % TABS === at)
        await tab.evaluate((subscribers) => sdkTab.subscribe(subscribers), { servers: own, count: CLIENTS_AT_EACH })
      }
      assertEqual(server.server.backend.realtime.size, ADDRESSES * CLIENTS_AT_EACH)
      for (let n = 0; n < RECORDS; n++)
        await tabs[n % TABS]!.evaluate((given) => sdkTab.create(given.server, given.title, given.votes), {
          server: servers[0]!,
          title: String(n),
          votes: n % 10,
        })
      const expected = Array.from({ length: (ADDRESSES * CLIENTS_AT_EACH) / TABS }, (_, n) =>
        Array.from({ length: RECORDS / 10 }, (__, ten) => String(ten * 10 + ((n + 1) % 10))),
      )
      for (const tab of tabs) {
        const counts = expected.flat().length
        await until(async () => (await tab.evaluate(() => sdkTab.titles())).flat().length === counts)
        assertEqual(await tab.evaluate(() => sdkTab.titles()), expected)
        await tab.evaluate(() => sdkTab.unsubscribe())
      }
      await until(() => server.server.backend.realtime.size === 0)
    } finally {
      for (const tab of tabs) await tab.close()
      await server.close()
    }
  })

  // The window of a driven WebKit is a page of the driver's, so it opens none of its own.
  if (browser.engine === 'webkit') return
  test('an account logs in by a provider in a window of its own, all in one and with a code', async () => {
    const server = await startRest()
    const page = await browser.open(`${baseUrl}/sdk.page`)
    const provider = await startOidcProvider([`${server.url}/api/oauth2-redirect`, `${baseUrl}/sdk.page`])
    try {
      const { url } = provider
      const urls = { authURL: `${url}/auth`, tokenURL: `${url}/token`, userInfoURL: `${url}/me` }
      const oidc = { name: 'oidc', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...urls }
      const oauth2 = { enabled: true, providers: [oidc] }
      await server.call('PATCH /collections/users', { oauth2, authAlert: { enabled: false } })
      const first = await page.evaluate((at) => sdkTab.login(at), server.url)
      assertEqual(first, { email: 'ann@example.com', isNew: true, isValid: true })
      const second = await page.evaluate((at) => sdkTab.loginByCode(at), server.url)
      assertEqual(second, { email: 'ann@example.com', isNew: false, isValid: true })
    } finally {
      await page.close()
      await provider[Symbol.asyncDispose]()
      await server.close()
    }
  })
}
