/** Goal: a superuser makes and deletes API tokens and superusers, and ends sessions of any account. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { EMAIL, ITSELF, PASSWORD } from '../server.ts'
import { fill, goTo, isSound, press, sees, seesNo, waitFor, withServerPage } from './steps.ts'

const ANN = 'ann@example.com'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // The driver of WebKit has the hash of the address for itself, where the page has its views.
  if (browser.engine === 'webkit') return

  test('an API token is made with its scopes, shown once, works, and is deleted', async () => {
    await withServerPage(browser, '/access', async (page, server) => {
      await makeAnn(server)
      await sees(page, 'No API tokens yet')
      await isSound(page)
      await press(page, 'New API token')
      await press(page, 'Make the token')
      await sees(page, 'blank', 'dialog .field-wrong')
      await isSound(page)
      await fill(page, 'Name', 'nightly report')
      await fill(page, 'Account', ANN)
      await press(page, 'Make the token')
      await sees(page, 'Must be lists of', 'dialog')
      await press(page, 'List users')
      await press(page, 'Make the token')
      await sees(page, 'it is shown this once')
      await isSound(page)
      const token = await page.evaluate(() => document.querySelector('.token')!.textContent)
      const ask = (): Promise<Response> =>
        fetch(`${server.url}/api/collections/users/records`, { headers: { authorization: `Bearer ${token}` } })
      const { items } = (await (await ask()).json()) as { items: { email: string }[] }
      assertEqual(items.length, 1)
      await press(page, 'Close')
      await sees(page, 'nightly report', '.data')
      await sees(page, 'users: list', '.data')
      await isSound(page)
      assertEqual(await page.evaluate((text) => document.body.outerHTML.includes(text), token), false)
      await press(page, 'Delete nightly report')
      await press(page, 'Delete it')
      await sees(page, 'No API tokens yet')
      assertEqual(((await (await ask()).json()) as { items: unknown[] }).items.length, 0)
    })
  })

  test('the sessions of an account are listed and ended', async () => {
    await withServerPage(browser, '/access/sessions', async (page, server) => {
      await makeAnn(server)
      const tokens = [await logIn(server), await logIn(server)]
      await sees(page, 'this page', '.data')
      await isSound(page)
      await fill(page, 'Collection', 'users')
      await sees(page, 'Which account?')
      await fill(page, 'Account', ANN)
      await press(page, 'Show')
      await sees(page, 'password', '.data')
      assertEqual(await page.evaluate(() => document.querySelectorAll('.data tbody tr').length), 2)
      await press(page, 'End')
      await sees(page, 'The session has ended.')
      await waitFor(page, 'one session', '', () => document.querySelectorAll('.data tbody tr').length === 1)
      await press(page, 'End all other sessions')
      await sees(page, 'All devices of this account')
      await press(page, 'End them')
      await sees(page, 'No sessions')
      for (const token of tokens) {
        const url = `${server.url}/api/collections/users/auth-refresh`
        assertEqual((await fetch(url, { method: 'POST', headers: { authorization: token } })).status, 401)
      }
    })
  })

  test('a superuser makes another, and is refused what the server refuses', async () => {
    await withServerPage(browser, '/access/superusers', async (page, { server }) => {
      await sees(page, EMAIL, '.data')
      await press(page, 'New superuser')
      await fill(page, 'E-mail address', EMAIL)
      await fill(page, 'Password', PASSWORD)
      await fill(page, 'The password again', PASSWORD)
      await press(page, 'Make a superuser')
      await sees(page, 'unique', 'dialog .field-wrong')
      await isSound(page)
      await fill(page, 'E-mail address', ANN)
      await press(page, 'Make a superuser')
      await sees(page, ANN, '.data')
      await isSound(page)
      await press(page, `Delete ${ANN}`)
      await press(page, 'Delete the superuser')
      await seesNo(page, ANN, '.data')
      const { items } = await server.backend.records.list(ITSELF, '_superusers', {})
      assertEqual(items.length, 1)
      await goTo(page, '/access/sessions')
      await press(page, 'Sign out')
      await sees(page, 'With the account of a superuser')
    })
  })
}

async function makeAnn({ server }: TestServer): Promise<void> {
  const input = { email: ANN, password: PASSWORD, passwordConfirm: PASSWORD }
  await server.backend.records.create(ITSELF, 'users', input)
}

async function logIn({ url }: TestServer): Promise<string> {
  const answer = await fetch(`${url}/api/collections/users/auth-with-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identity: ANN, password: PASSWORD }),
  })
  return ((await answer.json()) as { token: string }).token
}
