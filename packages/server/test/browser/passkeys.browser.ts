/** Goal: a real browser registers a passkey and logs in with it, on a page of the application and on no other. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { PASSWORD, startRest } from '../rest/rest-server.ts'
import type {} from './passkeys.page.ts'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  if (!browser.supports.passkeys) return
  test('passkeys on a plain page', async () => {
    const server = await startRest()
    await server.call('PATCH /collections/users', { passkey: { enabled: true } })
    await server.call('PATCH /settings', { meta: { appURL: baseUrl } })
    const account = { email: 'ann@example.com', password: PASSWORD, passwordConfirm: PASSWORD }
    const { json } = await server.call('POST /collections/users/records', account)
    const page = await browser.open(`${baseUrl}/passkeys.page`)
    try {
      await page.addPasskeyDevice()
      const given = { url: server.url, password: PASSWORD }
      const names = await page.evaluate(async ({ url, password }) => {
        const me = await passkeyPage.logInByPassword(url, 'ann@example.com', password)
        return passkeyPage.register(me, 'This device')
      }, given)
      assertEqual(names, ['This device'])
      const logIn = (identity: string): Promise<string> =>
        page.evaluate(({ url, name }) => passkeyPage.logIn(url, name || undefined).catch(String), {
          url: server.url,
          name: identity,
        })
      assertEqual(await logIn(''), String(json['id']))
      assertEqual(await logIn('ann@example.com'), String(json['id']))
      assertEqual(await logIn('bob@example.com'), 'Error: 400: Failed to authenticate.')
      // The same device, on a page of another port.
      await server.call('PATCH /settings', { meta: { appURL: 'http://localhost:1' } })
      assertEqual(await logIn(''), 'Error: 400: Failed to authenticate.')
    } finally {
      await page.close()
      await server.close()
    }
  })
}
