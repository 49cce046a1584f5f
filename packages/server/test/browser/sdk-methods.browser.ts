/** Goal: every method of PocketBase's own client works in a browser, on a page of another origin. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { MailServer } from '../../../../tools/test/mail-server.ts'
import { EMAIL, PASSWORD, startRest } from '../rest/rest-server.ts'
import type {} from './sdk.page.ts'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  test("PocketBase's client", async () => {
    const server = await startRest()
    const mails = await MailServer.start()
    const page = await browser.open(`${baseUrl}/sdk.page`)
    try {
      const { port: smtpPort, inbox } = mails
      const access = { url: server.url, email: EMAIL, password: PASSWORD, smtpPort, inbox }
      assertEqual(await page.evaluate((given) => runSdk(given), access), ['24 cases'])
    } finally {
      await page.close()
      await server.close()
      await mails[Symbol.asyncDispose]()
    }
  })
}
