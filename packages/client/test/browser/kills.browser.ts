/**
 * Goal: tabs of a real browser lose no write and come to one state, whatever happens to the server. Method: three tabs on one device write
 * while the server is killed, is away, starts with another clock, and is replaced by an older copy. A tab is closed and opened on the way.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { FIRST_SEED, times } from '../../../../tools/test/seeds.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { seededRandom } from '../../../db/testing/random.ts'
import { until } from '../../../server/test/test-server.ts'
import { USER_PASSWORD } from '../app-server.ts'
import { SurvivalApp } from '../survival/survival-app.ts'
import type {} from './tabs.page.ts'

const TABS = 3
const WRITES = 4
const AWAY_MS_MAX = 500
const COUNTER = 'counter'

export function browserSuite({ test, browser, baseUrl }: BrowserSuiteContext): void {
  const rounds = times(2)
  test(`three tabs, and a server that is killed ${rounds} times and restored (SEED=${FIRST_SEED})`, async () => {
    const random = seededRandom(FIRST_SEED)
    const app = await SurvivalApp.make(seededRandom(FIRST_SEED + 1))
    const [ann] = app.users
    const tabs: Page[] = []
    const written = [COUNTER]
    const open = async (): Promise<string | undefined> => {
      const tab = await browser.open(`${baseUrl}/tabs.page`)
      tabs.push(tab)
      return await tab.evaluate((url) => appTab.start(url), app.url)
    }
    const write = async (): Promise<void> => {
      const values = { title: `task ${written.length}`, project: random.pick(app.projects) }
      written.push(values.title)
      await random.pick(tabs).evaluate(({ title, project }) => appTab.create(title, project), values)
    }
    /** All tabs show what the server has, which is what they have written. */
    const settle = async (): Promise<void> => {
      for (const tab of tabs)
        await until(
          async () => {
            const { status, unsent, rejected } = await tab.evaluate(() => appTab.state())
            const titles = await tab.evaluate(() => appTab.titles())
            return (
              status === 'synced' && unsent === 0 && rejected === 0 && String(titles) === String(written.toSorted())
            )
          },
          async () => [await tab.evaluate(() => appTab.state()), await tab.evaluate(() => appTab.titles()), written],
        )
      const stored = (await app.all('tasks')).map(({ title }) => String(title))
      assertEqual(stored.toSorted(), written.toSorted())
    }
    try {
      await app.start()
      assertEqual(await open(), undefined)
      const signIn = { identity: ann!.email, password: USER_PASSWORD }
      await tabs[0]!.evaluate(({ identity, password }) => appTab.signIn(identity, password), signIn)
      while (tabs.length < TABS) assertEqual(await open(), ann!.id)
      for (let round = 0; round < rounds; round++) {
        for (let count = WRITES; count > 0; count--) await write()
        await app.kill()
        // The copy of the first round comes back in the second one.
        if (round % 2 === 0) await app.copy()
        else await app.restore()
        for (let count = WRITES; count > 0; count--) await write()
        // The tab that syncs may be the one that is closed.
        await tabs.shift()!.close()
        await open()
        await sleep(random.below(AWAY_MS_MAX))
        await app.start()
        await settle()
      }
      assertEqual(app.problems, [])
    } finally {
      for (const tab of tabs) await tab.close()
      await app.close()
    }
  })
}
