/** Goal: the page of a new server makes its first superuser, and says what went wrong. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { SETUP_PATH } from '../../src/http/admin-page.ts'
import { tokenFor } from '../rest/rest-server.ts'
import { startServer, until } from '../test-server.ts'

const [EMAIL, PASSWORD] = ['ann@example.com', '1234567890']

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('the page for the first superuser', async () => {
    const server = await startServer()
    const secret = await server.server.backend.accounts.firstSuperuser.offer()
    // The driver of WebKit needs the hash of the address that it opens.
    const [path, hash] = SETUP_PATH.split('#')
    const page = await browser.open(`${server.url}${path}`)
    const follow = (): Promise<void> => page.evaluate((link) => void (location.hash = link), `#${hash}${secret}`)
    const text = (): Promise<string> => page.evaluate(() => document.body.innerText)
    const submit = (given: { email: string; password: string; again: string }): Promise<void> =>
      page.evaluate((values) => {
        for (const [id, value] of Object.entries(values))
          (document.getElementById(id) as HTMLInputElement).value = value
        document.querySelector('button')!.click()
      }, given)
    try {
      await follow()
      await submit({ email: EMAIL, password: PASSWORD, again: 'something else' })
      await until(async () => (await text()).includes('passwordConfirm:'))
      await submit({ email: EMAIL, password: PASSWORD, again: PASSWORD })
      await until(async () => (await text()).includes(`${EMAIL} can log in now`))
      assertEqual(await page.evaluate(() => location.hash), '')
      await tokenFor(server.url, '_superusers', EMAIL, PASSWORD)
      await follow()
      await submit({ email: 'bob@example.com', password: PASSWORD, again: PASSWORD })
      await until(async () => (await text()).includes('This link has ended'))
    } finally {
      await page.close()
      await server.close()
    }
  })
}
