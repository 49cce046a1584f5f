/** Goal: from an empty server to a collection with records: the first superuser, the sign-in, the first steps, the shell. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Browser, Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { SETUP_PATH } from '../../../server/src/http/admin-page.ts'
import { until } from '../../../server/test/test-server.ts'
import type { TestServer } from '../../../server/test/test-server.ts'
import { EMAIL, ITSELF, PASSWORD, startAdmin } from '../server.ts'
import { fill, focused, goTo, isSound, press, sees, seesNo, signIn, waitFor } from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('the link of a new server makes the first superuser, who makes a collection', async () => {
    await withPage(browser, { hasSuperuser: false }, async (page, server) => {
      const secret = await server.server.backend.accounts.firstSuperuser.offer()
      await goTo(page, `${SETUP_PATH.split('#')[1]}${secret}`)
      await sees(page, 'Make the first superuser')
      await isSound(page)
      await fill(page, 'E-mail address', EMAIL)
      await fill(page, 'Password', 'short')
      await fill(page, 'The password again', 'another')
      await press(page, 'Make the superuser')
      await sees(page, 'The two passwords are not the same.')
      await fill(page, 'The password again', 'short')
      await press(page, 'Make the superuser')
      await sees(page, 'at least 8', '.field-wrong')
      await fill(page, 'Password', PASSWORD)
      await fill(page, 'The password again', PASSWORD)
      await press(page, 'Make the superuser')
      await sees(page, 'Welcome to Pannier')
      await waitFor(page, 'the address of the start', '', () => location.hash === '#/start')
      await isSound(page)
      await fill(page, 'Name', 'users')
      await press(page, 'Make the collection')
      await sees(page, 'unique', '.field-wrong')
      await fill(page, 'Name', 'notes')
      await press(page, 'Make the collection')
      await sees(page, 'No records yet')
      await sees(page, 'notes', '.sidebar')
    })
  })

  test('a link that has ended says so', async () => {
    await withPage(browser, {}, async (page) => {
      await goTo(page, '/setup/secret')
      await fill(page, 'E-mail address', 'bob@example.com')
      await fill(page, 'Password', PASSWORD)
      await fill(page, 'The password again', PASSWORD)
      await press(page, 'Make the superuser')
      await sees(page, 'This link has ended')
    })
  })

  test('a wrong password is refused in words, the right one signs in, and signing out forgets it', async () => {
    await withPage(browser, {}, async (page) => {
      await isSound(page)
      await fill(page, 'E-mail address', EMAIL)
      await fill(page, 'Password', 'wrong')
      await press(page, 'Sign in')
      await sees(page, 'The e-mail address or the password is wrong.')
      await signIn(page)
      await page.reload()
      await sees(page, 'Collections', '.sidebar')
      await press(page, EMAIL)
      await press(page, 'Sign out')
      await sees(page, 'With the account of a superuser')
      assertEqual(await page.evaluate(() => JSON.stringify(localStorage).includes('token')), false)
    })
  })

  test('a session that was ended elsewhere asks for the password again, and the page stays', async () => {
    await withPage(browser, {}, async (page, { server }) => {
      await signIn(page)
      await press(page, 'users')
      await sees(page, 'No records yet')
      // A password that is changed ends all sessions.
      const { items } = await server.backend.records.list(ITSELF, '_superusers', {})
      const password = 'another password'
      await server.backend.records.update(ITSELF, '_superusers', String(items[0]!['id']), {
        password,
        passwordConfirm: password,
      })
      await goTo(page, '/start')
      await fill(page, 'Name', 'kept')
      await press(page, 'Make the collection')
      await sees(page, 'Your session has ended')
      await isSound(page)
      await fill(page, 'Password', password)
      await press(page, 'Sign in')
      await seesNo(page, 'Your session has ended')
      await press(page, 'Make the collection')
      await sees(page, 'No records yet')
      await sees(page, 'kept', '.sidebar')
    })
  })

  test('superusers who need two proofs sign in with the password and a code', async () => {
    await withPage(browser, {}, async (page, { server }) => {
      const { definitions, logs, logReads } = server.backend
      await definitions.update(ITSELF.principal, '_superusers', { otp: { enabled: true }, mfa: { enabled: true } })
      await fill(page, 'E-mail address', EMAIL)
      await fill(page, 'Password', PASSWORD)
      await press(page, 'Sign in')
      await sees(page, 'two proofs')
      await press(page, 'Send a code')
      await sees(page, 'It was sent to')
      let code: string | undefined
      // It is sent after the answer.
      await until(async () => {
        await logs.flush()
        const { items } = await logReads.list(ITSELF, { perPage: 100 })
        code = /one-time password is:[^\d]*(\d+)/.exec(JSON.stringify(items))?.[1]
        return code !== undefined
      })
      await fill(page, 'Code', '0')
      await press(page, 'Sign in')
      await sees(page, 'The code is wrong or has expired.')
      await fill(page, 'Code', code!)
      await press(page, 'Sign in')
      await sees(page, 'Collections', '.sidebar')
    })
  })

  test('the example is loaded, with a progress', async () => {
    await withPage(browser, {}, async (page) => {
      await signIn(page)
      await press(page, 'Load the example')
      await sees(page, '54 records')
      await sees(page, 'Ada Palmer', '[role=grid]')
    })
  })

  test('the chosen theme stays', async () => {
    await withPage(browser, {}, async (page) => {
      await signIn(page)
      await press(page, 'Theme')
      await press(page, 'Dark')
      await page.reload()
      await sees(page, 'Collections', '.sidebar')
      assertEqual(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark')
      await isSound(page)
    })
  })

  test('a server that is away is said to be so, and the page continues when it is back', async () => {
    await withPage(browser, {}, async (page) => {
      await signIn(page)
      await sees(page, 'users', '.sidebar')
      await page.evaluate(() => {
        const real = globalThis.fetch
        globalThis.fetch = () => Promise.reject(new TypeError('away'))
        ;(globalThis as { back?: () => void }).back = () => (globalThis.fetch = real)
      })
      await press(page, 'users')
      await sees(page, 'The server does not answer.')
      await page.evaluate(() => (globalThis as { back?: () => void }).back!())
      await seesNo(page, 'Trying again …')
      await sees(page, 'No records yet')
    })
  })

  test('links of mails are confirmed, and broken ones say what to do', async () => {
    await withPage(browser, {}, async (page) => {
      await goTo(page, '/auth/confirm-verification/none')
      await sees(page, 'could not be verified')
      await goTo(page, '/auth/oauth2-redirect-failure')
      await sees(page, 'The login has failed')
      await goTo(page, '/auth/confirm-password-reset/none')
      await sees(page, 'Set another password')
      await isSound(page)
    })
  })

  if (!browser.supports.keys) return
  test('the sidebar is searched, and gone through by arrow keys', async () => {
    await withPage(browser, {}, async (page) => {
      await signIn(page)
      // It listens a moment after it is drawn.
      await waitFor(page, 'the focus in the search', '', () => {
        dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
        return document.activeElement?.getAttribute('aria-label') === 'Search collections'
      })
      await fill(page, 'Search collections', '_super')
      await waitFor(page, 'one link', '', () => document.querySelectorAll('.sidebar-list .links a').length === 1)
      await page.press('ArrowDown')
      await page.press('ArrowDown')
      assertEqual(await focused(page), '_superusers')
      await page.press('Enter')
      await sees(page, '1 record')
      await sees(page, EMAIL, '[role=grid]')
    })
  })
}

async function withPage(
  browser: Browser,
  options: { readonly hasSuperuser?: boolean },
  use: (page: Page, server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startAdmin(options)
  const page = await browser.open(`${server.url}/_/`)
  try {
    await waitFor(page, 'the page', undefined, () => document.querySelector('main') !== null)
    await use(page, server)
    const errors = page.errors()
    if (errors.length > 0) throw new Error(`The console has:\n${errors.join('\n')}`)
  } finally {
    await page.close()
    await server.close()
  }
}
