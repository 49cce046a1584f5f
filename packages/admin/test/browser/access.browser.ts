/** Goal: a superuser makes and deletes API tokens and superusers, ends sessions of any account, and acts as it. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { EMAIL, ITSELF, PASSWORD } from '../server.ts'
import { fill, goTo, isSound, press, sees, seesNo, waitFor, withServerPage } from './steps.ts'

const ANN = 'ann@example.com'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
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
      await fill(page, 'Search an account', 'ann')
      await press(page, ANN)
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
    await withServerPage(browser, '/access/accounts', async (page, server) => {
      await makeAnn(server)
      const tokens = [await logIn(server), await logIn(server)]
      await sees(page, 'this page', '.data')
      await isSound(page)
      await fill(page, 'Collection', 'users')
      await sees(page, 'Which account?')
      await fill(page, 'Search an account', 'ann')
      await press(page, ANN)
      await sees(page, 'password', '.data')
      assertEqual(await page.evaluate(() => document.querySelectorAll('.data tbody tr').length), 2)
      await press(page, 'End')
      await sees(page, 'The session has ended.')
      await waitFor(page, 'one session', '', () => document.querySelectorAll('.data tbody tr').length === 1)
      await press(page, 'End all other sessions')
      await sees(page, 'All devices of this account')
      await press(page, 'End them')
      await sees(page, 'signed in nowhere')
      for (const token of tokens) {
        const url = `${server.url}/api/collections/users/auth-refresh`
        assertEqual((await fetch(url, { method: 'POST', headers: { authorization: token } })).status, 401)
      }
    })
  })

  test('an account is acted as for a while, gets a mail, and is unlinked from a service', async () => {
    await withServerPage(browser, '/start', async (page, server) => {
      const { id } = await makeAnn(server)
      const { records } = server.server.backend
      const service = { provider: 'github', providerId: 'ann-42' }
      await records.create(ITSELF, '_externalAuths', { collectionRef: '_pb_users_auth_', recordRef: id, ...service })
      await goTo(page, `/records/users?record=${id}`)
      await sees(page, 'Record of users')
      await press(page, 'More')
      await press(page, 'Sessions, mails and tokens of the account')
      await sees(page, 'ann-42', '.data')
      await isSound(page)
      await press(page, 'Act as this account …')
      await fill(page, 'Valid for, in seconds', '-5')
      await press(page, 'Make the token')
      await sees(page, 'no less than 0', 'dialog .field-wrong')
      await isSound(page)
      await fill(page, 'Valid for, in seconds', '600')
      await press(page, 'Make the token')
      await sees(page, `Anyone who has it may do what ${ANN} may.`)
      await isSound(page)
      const token = await page.evaluate(() => document.querySelector('.token')!.textContent)
      const url = `${server.url}/api/collections/users/records/${id}`
      const answer = await fetch(url, { headers: { authorization: token } })
      assertEqual(((await answer.json()) as { email: string }).email, ANN)
      await press(page, 'Close')
      await sees(page, 'impersonate', '.data')
      await press(page, 'Send a mail to verify the address')
      await sees(page, `A mail goes to ${ANN}.`)
      await press(page, 'Unlink github')
      await press(page, 'Unlink it')
      await sees(page, 'It logs in by no other service.')
      assertEqual((await records.list(ITSELF, '_externalAuths', {})).totalItems, 0)
    })
  })

  test('somebody is invited by mail, and a password is made', async () => {
    await withServerPage(browser, '/access/accounts?collection=users', async (page, { server }) => {
      await press(page, 'Invite …')
      await fill(page, 'E-mail address', 'nobody')
      await fill(page, 'E-mail address', ANN)
      await isSound(page)
      await press(page, 'Make the account, and send the mail')
      await sees(page, `A mail goes to ${ANN}`)
      const { items } = await server.backend.records.list(ITSELF, 'users', {})
      assertEqual(
        items.map(({ email }) => email),
        [ANN],
      )
      await goTo(page, '/records/users?record=new')
      await fill(page, 'email', 'bob@example.com')
      await press(page, 'Make one')
      await press(page, 'Make the record')
      await sees(page, 'bob@example.com', '[role=grid]')
    })
  })

  test('a superuser makes another, and is refused what the server refuses', async () => {
    await withServerPage(browser, '/access/superusers', async (page, { server }) => {
      await sees(page, EMAIL, '.data')
      await press(page, 'New superuser')
      await fill(page, 'E-mail address', EMAIL)
      await fill(page, 'Password', PASSWORD)
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
      await goTo(page, '/access/accounts')
      await press(page, 'Sign out')
      await sees(page, 'With the account of a superuser')
    })
  })
}

async function makeAnn({ server }: TestServer): Promise<{ readonly id: string }> {
  const input = { email: ANN, password: PASSWORD, passwordConfirm: PASSWORD }
  const { id } = await server.backend.records.create(ITSELF, 'users', input)
  return { id: String(id) }
}

async function logIn({ url }: TestServer): Promise<string> {
  const answer = await fetch(`${url}/api/collections/users/auth-with-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identity: ANN, password: PASSWORD }),
  })
  return ((await answer.json()) as { token: string }).token
}
