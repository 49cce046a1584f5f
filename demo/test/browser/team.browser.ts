/** The page of the team: two people in two windows, with rules that change meanwhile. */
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { IDS } from '../../tasks/definitions.ts'
import { personId } from '../../tasks/visitors.ts'
import { click, sees } from './steps.ts'
import { firstTask, PROJECT, rename, seesBen, stored, until, withTeam } from './team.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('a project that is revoked leaves the device of a member who was offline, and no text is lost', async () => {
    await withTeam(browser, async (ann, ben, db) => {
      const id = await firstTask(ben)
      await click(ben, '#online')
      await rename(ben, id, 'Ben wrote this offline')
      await sees(ben, '#status', 'Offline. 1 change waits.')
      await seesBen(ann)
      await ann.evaluate(() => {
        const row = [...document.querySelectorAll('#members li')].find((one) => one.textContent?.startsWith('Ben'))
        row!.querySelector('input')!.click()
      })
      const { project } = await stored(db, IDS.tasks, id)
      const members = async (): Promise<unknown> => (await stored(db, IDS.projects, String(project)))['members']
      await until(async () => !((await members()) as string[]).includes(personId(0, 1)), 'Ben is a member')
      await click(ben, '#online')
      await sees(ben, '#gone', `${PROJECT} left this device`)
      await sees(ben, '#refused-list dd', 'title: Ben wrote this offline')
    })
  })

  test('a role that changes shows in the other window', async () => {
    await withTeam(browser, async (ann, ben) => {
      const isLead = (): Promise<boolean> => ben.evaluate(() => !document.querySelector<HTMLElement>('#lead')!.hidden)
      if (await isLead()) throw new Error('Ben leads before he is made a lead')
      await seesBen(ann)
      await ann.evaluate(() => {
        const row = [...document.querySelectorAll('#members li')].find((one) => one.textContent?.startsWith('Ben'))
        const role = row!.querySelector('select')!
        role.value = 'lead'
        role.dispatchEvent(new Event('change'))
      })
      await until(isLead, 'Ben does not lead')
    })
  })
}
