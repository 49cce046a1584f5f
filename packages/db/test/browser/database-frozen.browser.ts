/**
 * Goal: a tab that is frozen while it has its turn blocks others no longer than the lease allows, and when it goes on, what it
 * was about to write is refused and tried again on what is there by then: nothing is lost, on either side.
 *
 * Method: threads are frozen in the midst of a write (frozen-writes.ts): workers of one tab, or in WebKit, which has no shared
 * memory to stop a worker with, tabs of their own. Another tab writes meanwhile.
 */
import { assertEqual, assertTrue } from '../../testing/check.ts'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Call, Summary } from './database-tab.ts'
import { FROZEN_WRITES, type FrozenWrite } from './frozen-writes.ts'
import { knownGap } from './known-gap.ts'
import { openTab, withTabs, type OpenTab } from './remote-tab.ts'
import type { Row } from './rows.ts'

/** A thread that is frozen in the midst of a write. */
interface FrozenThread {
  call(call: Call, ...parameters: unknown[]): Promise<unknown>
  freeze(): Promise<void>
  /** Resolves with how often the write was tried. */
  thaw(): Promise<number>
  close(): Promise<void>
}

async function workerOf(tab: OpenTab, where: FrozenWrite): Promise<FrozenThread> {
  await tab.startWorker(where)
  return {
    call: (call, ...parameters) => tab.inWorker(where, call, ...parameters),
    freeze: () => tab.freezeWorker(where),
    thaw: () => tab.thawWorker(where),
    close: async () => {},
  }
}

async function tabOfItsOwn(context: BrowserSuiteContext, witness: OpenTab, where: FrozenWrite): Promise<FrozenThread> {
  const tab = await openTab(context)
  let write: Promise<number>
  return {
    call: (call, ...parameters) => (tab[call] as (...parameters: unknown[]) => Promise<unknown>)(...parameters),
    async freeze() {
      write = tab.writeFrozen(where)
      await Promise.race([write, witness.waitsToBeFrozen(where)])
      await tab.page.freeze()
    },
    async thaw() {
      await tab.page.thaw()
      return write
    },
    close: () => tab.page.close(),
  }
}

/** Longer than a frozen holder keeps its lease. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5000))
}

/** `other` writes all that happens while `frozen` is frozen. */
async function writeAround(where: FrozenWrite, frozen: FrozenThread, other: FrozenThread): Promise<void> {
  for (const thread of [frozen, other]) await thread.call('open', `frozen-${where}`)
  await other.call('insert', 'counter', 0, 1)
  await frozen.call('insert', 'row', 0, 3000, 1500)
  await frozen.freeze()
  await other.call('increment', 'counter0', 5)
  await other.call('checkpoint')
  await other.call('insert', 'other', 0, 20)
  const tries = await frozen.thaw()
  // An index build has written before it was frozen.
  if (where !== 'index build') assertTrue(tries > 1, 'the stale write was refused and tried again')
  await other.call('increment', 'counter0', 5)
  await frozen.call('increment', 'counter0', 5)
  const summaries = [await frozen.call('summary'), await other.call('summary')] as Summary[]
  assertEqual(summaries[0], summaries[1])
  assertEqual(summaries[0]!.problems, [])
  assertEqual(summaries[0]!.count, 3021)
  assertEqual(((await other.call('get', 'counter0')) as Row).n, 16)
  await frozen.close()
}

export function browserSuite(context: BrowserSuiteContext): void {
  const { test, browser } = context

  test('frozen in an update, in a transaction, in an index build', () =>
    withTabs(context, 'frozen', 2, async (first, witness) => {
      const hasSharedMemory = await witness!.page.evaluate(() => typeof SharedArrayBuffer === 'function')
      if (!hasSharedMemory) await first!.page.close()
      // All at once, as each has to wait until the lease is over.
      await Promise.all(
        FROZEN_WRITES.map(async (where) => {
          const frozen = hasSharedMemory ? workerOf(first!, where) : tabOfItsOwn(context, witness!, where)
          await writeAround(where, await frozen, await workerOf(witness!, where))
        }),
      )
    }))

  knownGap(test, browser.supports.freezeOneTab, {
    name: 'a tab is frozen in the midst of inserting',
    reason: 'Firefox runs all tabs of an origin in one process, and has no other way to freeze one',
    body: () =>
      withTabs(context, 'frozen-inserting', 2, async (first, second) => {
        await first!.insertForever('first')
        await first!.inserted(10)
        await first!.page.freeze()
        const inserting = second!.insert('second', 0, 20)
        // WebKit's page is stopped wherever it is: where that is within a transaction of IndexedDB, all wait for it.
        await (browser.engine === 'webkit' ? Promise.race([inserting, aWhile()]) : inserting)
        await first!.page.thaw()
        await inserting
        const inserted = await first!.inserted(0)
        await first!.inserted(inserted + 2)
        await second!.insert('second', 20, 30)
        await first!.stopInserting()
        const summary = await first!.summary()
        assertEqual(summary, await second!.summary())
        assertEqual(summary.problems, [])
        assertEqual(summary.count, 30 + (await first!.inserted(0)))
      }),
  })
}
