/** The page of the team: two people in two windows write of one task, one of them offline. */
import type { BrowserSuiteContext } from '../../../tools/browser/browser-suite.ts'
import { IDS } from '../../tasks/definitions.ts'
import { click, sees } from './steps.ts'
import { clickText, firstTask, PROJECT, rename, seesTitle, stored, until, withTeam } from './team.ts'

export function browserSuite({ test, browser }: BrowserSuiteContext): void {
  test('shows what two people have written of one task, and sends the refused text again', async () => {
    await withTeam(browser, async (ann, ben, db) => {
      const id = await firstTask(ben)
      await click(ben, '#online')
      await rename(ben, id, 'Ben wrote this offline')
      await sees(ben, '#status', 'Offline. 1 change waits.')
      await rename(ann, id, 'Ann wrote this')
      await until(
        async () => (await stored(db, IDS.tasks, id))['title'] === 'Ann wrote this',
        'the server has no title',
      )
      await click(ben, '#online')
      await sees(ben, '#refused-list li p', 'Somebody else has changed it meanwhile.')
      await until(
        () =>
          ben.evaluate((name) => document.querySelector('#refused-list .note')!.textContent!.endsWith(name), PROJECT),
        'the refused write does not name its project',
      )
      await sees(ben, '#status', 'Everything is saved, but what the server refused.')
      await seesTitle(ben, id, 'Ann wrote this')
      await clickText(ben, '#refused-list button', 'Send mine again')
      await seesTitle(ann, id, 'Ben wrote this offline')
    })
  })
}
