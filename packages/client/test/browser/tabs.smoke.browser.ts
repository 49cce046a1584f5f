/** Goal: an app in several tabs of a real browser reads and writes as one, offline and after a reload too, and one of the tabs syncs. */
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { until } from '../../../server/test/test-server.ts'
import { systemEnvironment } from 'pannier/internal'
import { AppServer, USER_PASSWORD } from '../app-server.ts'
import type {} from './tabs.page.ts'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  test('an app in two tabs', async () => {
    await using app = await AppServer.start(systemEnvironment())
    const ann = await app.addUser('ann')
    const project = await app.add('projects', { name: 'house', members: [ann.id] })
    const tabs: Page[] = []
    const open = async (): Promise<string | undefined> => {
      const tab = await browser.open(`${baseUrl}/tabs.page`)
      tabs.push(tab)
      return await tab.evaluate((url) => appTab.start(url), app.url)
    }
    const everywhere = async (...titles: string[]): Promise<void> => {
      for (const tab of tabs)
        await until(async () => String(await tab.evaluate(() => appTab.titles())) === String(titles))
    }
    try {
      assertEqual(await open(), undefined)
      const signIn = { identity: ann.email, password: USER_PASSWORD }
      await tabs[0]!.evaluate(({ identity, password }) => appTab.signIn(identity, password), signIn)
      assertEqual(await open(), ann.id)
      await app.add('tasks', { title: 'a', project })
      await everywhere('a')
      await tabs[1]!.evaluate((id) => appTab.create('b', id), project)
      await everywhere('a', 'b')
      await until(async () => (await app.listed('tasks', ann)).size === 2)
      assertEqual(await tabs[1]!.evaluate(() => appTab.pulls()), 0)

      // The tab that syncs is closed while the server is away. What was written then survives.
      app.isDown = true
      await tabs[0]!.evaluate((id) => appTab.create('c', id), project)
      await tabs.shift()!.close()
      const state = (): Promise<string> => tabs[0]!.evaluate(() => JSON.stringify(appTab.state()))
      await until(async () => (await state()) === '{"status":"offline","unsent":1,"rejected":0}', state)
      await everywhere('a', 'b', 'c')
      // A page that is loaded again has it all before the server is back.
      await tabs[0]!.reload()
      assertEqual(await tabs[0]!.evaluate((url) => appTab.start(url), app.url), ann.id)
      await everywhere('a', 'b', 'c')
      app.isDown = false
      await until(async () => (await app.listed('tasks', ann)).size === 3)
      await everywhere('a', 'b', 'c')
    } finally {
      for (const tab of tabs) await tab.close()
    }
  })
}
