/** Goal: users of an app sign in with a passkey and in the window of another service, in real browsers. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from '../../../server/test/rest/oidc-provider.ts'
import { systemEnvironment } from 'pannier/internal'
import { AppServer, USER_PASSWORD } from '../app-server.ts'
import type {} from './sign-in.page.ts'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  if (browser.supports.passkeys)
    test('an app where users sign in with a passkey', async () => {
      await using app = await AppServer.start(systemEnvironment())
      const ann = await app.addUser('ann')
      await app.call('PATCH /collections/users', { passkey: { enabled: true } })
      await app.call('PATCH /settings', { meta: { appURL: baseUrl } })
      const page = await browser.open(`${baseUrl}/sign-in.page`)
      try {
        await page.evaluate((url) => signInTab.start(url), app.url)
        const byPasskey = (): Promise<string> => page.evaluate(() => signInTab.byPasskey('users'))
        await page.addPasskeyDevice()
        const account = { identity: ann.email, password: USER_PASSWORD }
        const register = (): Promise<string> =>
          page.evaluate(({ identity, password }) => signInTab.register('users', identity, password), account)
        assertEqual(await register(), 'This device')
        // The device has one of this account.
        assertEqual(await register(), 'PANNIER_SIGN_IN_FAILED')
        await page.evaluate(() => signInTab.signOut())
        assertEqual((await page.evaluate(() => signInTab.state()))[0], null)
        assertEqual(await byPasskey(), ann.id)
        assertEqual(await page.evaluate(() => signInTab.state()), [ann.id, 'synced'])
        // The server takes it from another page only.
        await page.evaluate(() => signInTab.signOut())
        await app.call('PATCH /settings', { meta: { appURL: 'http://localhost:1' } })
        assertEqual(await byPasskey(), 'PANNIER_PEER_REFUSED')
      } finally {
        await page.close()
      }
    })

  // The window of a driven WebKit is a page of the driver's, so it opens none of its own.
  if (browser.engine === 'webkit') return
  test('an app where users sign in in the window of another service', async () => {
    await using app = await AppServer.start(systemEnvironment())
    const provider = await startOidcProvider([`${app.url}/api/oauth2-redirect`])
    const page = await browser.open(`${baseUrl}/sign-in.page`)
    try {
      const { url } = provider
      const urls = { authURL: `${url}/auth`, tokenURL: `${url}/token`, userInfoURL: `${url}/me` }
      const providers = [{ name: 'oidc', clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...urls }]
      await app.call('PATCH /collections/users', {
        oauth2: { enabled: true, providers },
        authAlert: { enabled: false },
      })
      await page.evaluate((at) => signInTab.start(at), app.url)
      const byProvider = (name: string): Promise<string> =>
        page.evaluate((provided) => signInTab.byProvider('users', provided), name)
      assertEqual(await byProvider('nobody'), 'PANNIER_SIGN_IN_FAILED')
      assertEqual(await byProvider('oidc'), 'ann@example.com')
      assertEqual((await page.evaluate(() => signInTab.state()))[1], 'synced')
      // The second time the account is there.
      await page.evaluate(() => signInTab.signOut())
      assertEqual(await byProvider('oidc'), 'ann@example.com')
    } finally {
      await page.close()
      await provider[Symbol.asyncDispose]()
    }
  })
}
