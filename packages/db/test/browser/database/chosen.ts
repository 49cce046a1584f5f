/** `firstOf(opfs(), indexedDb())`: new databases go to files, others stay where they are until somebody moves them. */
import { assertEqual, assertTrue } from '../../../testing/check.ts'
import { openTab, type DatabaseContext, type OpenTab } from './remote-tab.ts'

/** From before the copy is begun to after the move has ended. */
const MOVED_FOR_MS = [0, 20, 50, 90, 200]

/** Where there are no files. */
export function neverChosenCases(context: DatabaseContext): void {
  context.test('firstOf takes IndexedDB where there is no private file system', async () => {
    const tab = await openTab(context)
    assertEqual(await tab.openChosen('chosen'), 'indexeddb')
    await tab.insert('a', 0, 3)
    await tab.destroyChosen('chosen')
    await tab.openChosen('chosen')
    assertEqual(await tab.count(), 0)
    await tab.page.close()
  })
}

export function chosenCases(context: DatabaseContext): void {
  const { test } = context

  test('firstOf takes files for a new database, the same ones for tabs that open it at once', () =>
    withOpenTabs(context, 3, async (...tabs) => {
      const storages = await Promise.all(tabs.map((tab) => tab.openChosen('chosen')))
      assertEqual(storages, ['opfs', 'opfs', 'opfs'])
      await Promise.all(tabs.map((tab, n) => tab.insert(`tab${n}-`, 0, 10)))
      for (const tab of tabs) {
        await tab.refresh()
        assertEqual(await tab.count(), 30)
      }
      await tabs[0]!.destroyChosen('chosen')
      assertEqual([await tabs[1]!.openChosen('chosen'), await tabs[1]!.count()], ['opfs', 0])
    }))

  test('a database of a visit whose worker was missing stays in IndexedDB; of all tabs that move it at once, one does', () =>
    withOpenTabs(context, 3, async (first, ...others) => {
      assertEqual(await first!.openChosen('kept', 'missing'), 'indexeddb')
      const [warning, ...more] = await first!.warnings()
      assertTrue(/script of the worker.*optimizeDeps.*'kept' is made in indexeddb/.test(warning!), 'it is told')
      assertEqual(more, [])
      await first!.insert('a', 0, 500, 50)
      for (const tab of others)
        assertEqual([await tab.openChosen('kept'), await tab.warnings()], ['indexeddb', []], 'where it is')
      const outcomes = await Promise.all([first!, ...others].map((tab) => tab.outcome('moveToFiles')))
      assertEqual(outcomes.sort(), ['PANNIER_CLOSED', 'PANNIER_CLOSED', 'fulfilled'])
      for (const tab of others) {
        assertEqual(await tab.openChosen('kept'), 'opfs')
        const { problems, count } = await tab.summary()
        assertEqual([problems, count], [[], 500])
      }
      // It is never made again elsewhere.
      assertEqual(await first!.outcome('openChosen', 'kept', 'missing'), 'PANNIER_UNAVAILABLE')
    }))

  test('a tab that ends in the midst of a move loses nothing, and the next visit finds all', () =>
    withOpenTabs(context, 1, async (...[tab]) => {
      const rows = 300
      for (const delayMs of MOVED_FOR_MS) {
        await tab!.openChosen('cut', 'missing')
        await tab!.insert('a', 0, rows, rows)
        const moving = tab!.moveToFiles().catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        await tab!.page.reload()
        await moving
        await tab!.openChosen('cut')
        const { problems, count } = await tab!.summary()
        assertEqual([problems, count], [[], rows])
        await tab!.destroyChosen('cut')
      }
    }))
}

/** As `withTabs`, with nothing open in them. */
async function withOpenTabs(
  context: DatabaseContext,
  count: number,
  body: (...tabs: OpenTab[]) => Promise<void>,
): Promise<void> {
  const tabs = await Promise.all(Array.from({ length: count }, () => openTab(context)))
  try {
    await body(...tabs)
  } finally {
    for (const tab of tabs) await tab.page.close()
  }
}
