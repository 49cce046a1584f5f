/** Goal: a superuser changes the settings, sees what is wrong beside each field, tests mail and bucket, and never sees a secret. */
import { createServer } from 'node:http'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { ITSELF } from '../server.ts'
import { fill, goTo, isSound, press, sees, seesNo, waitFor, withServerPage } from './steps.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  test('what is typed stays from part to part, is refused beside its field, and is stored', async () => {
    await withServerPage(browser, '/settings', async (page, { server }) => {
      await fill(page, 'Name', 'Bakery')
      await fill(page, 'URL', 'no url at all')
      await isSound(page)
      await press(page, 'Batches')
      await sees(page, 'Several writes in one request')
      await isSound(page)
      await press(page, 'Application')
      await press(page, 'Save')
      await sees(page, 'Must be a valid URL.', '.field-wrong')
      await sees(page, 'Nothing is saved')
      await isSound(page)
      await fill(page, 'URL', 'https://bakery.example.com')
      await press(page, 'Save')
      await sees(page, 'The settings are saved.')
      const { appName, appURL } = server.backend.settings.values.meta
      assertEqual({ appName, appURL }, { appName: 'Bakery', appURL: 'https://bakery.example.com' })
      await fill(page, 'Name', 'Another')
      await press(page, 'Undo the changes')
      assertEqual(await page.evaluate(() => document.querySelector<HTMLInputElement>('.form .input')!.value), 'Bakery')
    })
  })

  test('the password of the mail server is stored, kept and never shown, and a test mail says what went wrong', async () => {
    await withServerPage(browser, '/settings/mail', async (page, { server }) => {
      await press(page, 'Send mails by an SMTP server')
      await fill(page, 'Host', '127.0.0.1')
      // Nobody listens there.
      await fill(page, 'Port', '1')
      await fill(page, 'User name', 'ann')
      await fill(page, 'Password', 'the secret of mails')
      await sees(page, 'Save first')
      await press(page, 'Save')
      await sees(page, 'The settings are saved.')
      await fill(page, 'Host', 'localhost')
      await press(page, 'Save')
      await seesNo(page, 'Undo the changes')
      const { host, password } = server.backend.settings.values.smtp
      assertEqual({ host, password }, { host: 'localhost', password: 'the secret of mails' })
      assertEqual(await page.evaluate(() => document.body.outerHTML.includes('the secret of mails')), false)
      await press(page, 'Send a test mail')
      await fill(page, 'To', 'nobody')
      await isSound(page)
      await press(page, 'Send the mail')
      await waitFor(page, 'a browser or a server that refuses it', '', () => {
        const input = document.querySelector<HTMLInputElement>('dialog [type=email]')
        return input?.matches(':invalid') === true || document.querySelector('dialog .field-error') !== null
      })
      await fill(page, 'To', 'ann@example.com')
      await press(page, 'Send the mail')
      await sees(page, 'Failed to send the test email.', '.refusal')
    })
  })

  test('a bucket is tested, and what the store has said is shown', async () => {
    const store = createServer((_request, response) => response.writeHead(403).end('<Code>AccessDenied</Code>'))
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
    const { port } = store.address() as { port: number }
    try {
      await withServerPage(browser, '/settings/files', async (page, { server }) => {
        await press(page, 'Keep files in a bucket (S3)')
        await press(page, 'Save')
        await sees(page, 'blank', '.field-wrong')
        await fill(page, 'Endpoint', `http://127.0.0.1:${port}`)
        await fill(page, 'Bucket', 'files')
        await fill(page, 'Region', 'here')
        await fill(page, 'Access key', 'key')
        await fill(page, 'Secret', 'the secret of files')
        await press(page, 'The bucket is in the path')
        await press(page, 'Save')
        await sees(page, 'The settings are saved.')
        assertEqual(server.backend.settings.values.s3.secret, 'the secret of files')
        await isSound(page)
        await press(page, 'Test the bucket')
        await sees(page, 'S3', '.toast-error')
      })
    } finally {
      store.close()
    }
  })

  test('rules of limits are edited in a table, and a wrong one is named', async () => {
    await withServerPage(browser, '/settings/limits', async (page, { server }) => {
      await press(page, 'Limit requests')
      await press(page, 'Add a rule')
      await fill(page, 'What of rule 5', 'not a rule!')
      await fill(page, 'Of of rule 5', '@guest')
      await press(page, 'Save')
      await sees(page, 'format', '.limits .field-error')
      await isSound(page)
      await fill(page, 'What of rule 5', 'users:create')
      await fill(page, 'Requests of rule 5', '7')
      await press(page, 'Remove rule 1')
      await fill(page, 'Addresses without limits', '10.0.0.0/8\n127.0.0.1')
      await press(page, 'Save')
      await sees(page, 'The settings are saved.')
      const { rules, excludedIPs } = server.backend.settings.values.rateLimits
      assertEqual(rules.length, 4)
      assertEqual(rules[3], { label: 'users:create', audience: '@guest', duration: 10, maxRequests: 7 })
      assertEqual(excludedIPs, ['10.0.0.0/8', '127.0.0.1'])
    })
  })

  test('a list of addresses that would lock the superuser out asks first', async () => {
    await withServerPage(browser, '/settings/addresses', async (page, { server }) => {
      await sees(page, 'The server sees you at 127.0.0.1.')
      await isSound(page)
      await fill(page, 'Where superusers may act from', '203.0.113.7')
      await press(page, 'Save')
      await sees(page, 'you are locked out at once')
      await press(page, 'Cancel')
      assertEqual(server.backend.settings.values.superuserIPs, [])
      await fill(page, 'Where superusers may act from', '203.0.113.7\n127.0.0.1')
      await fill(page, 'Headers of your proxy', 'X-Forwarded-For')
      await press(page, 'Save')
      await sees(page, 'The settings are saved.')
      assertEqual(server.backend.settings.values.superuserIPs, ['203.0.113.7', '127.0.0.1'])
      assertEqual(server.backend.settings.values.trustedProxy.headers, ['X-Forwarded-For'])
    })
  })

  test('batches and logs have their settings', async () => {
    await withServerPage(browser, '/settings/batch', async (page, { server }) => {
      await press(page, 'Allow batches')
      await fill(page, 'Most requests in one', '0')
      await press(page, 'Save')
      await sees(page, 'blank', '.field-wrong')
      await fill(page, 'Most requests in one', '20')
      await press(page, 'Save')
      await sees(page, 'The settings are saved.')
      await goTo(page, '/settings/logs')
      await fill(page, 'Days that logs are kept', '9')
      await fill(page, 'From which level on', '4')
      await isSound(page)
      await press(page, 'Save')
      await seesNo(page, 'Undo the changes')
      const { batch, logs } = server.backend.settings.values
      assertEqual([batch.maxRequests, logs.maxDays, logs.minLevel], [20, 9, 4])
      const shown = server.backend.settings.show(ITSELF.principal)
      assertEqual(JSON.stringify(shown).includes('"password"'), false)
    })
  })
}
