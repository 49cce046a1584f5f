/**
 * Goal: a tab that is frozen while it holds the lease blocks others no longer than the lease allows, and when it goes on, what it
 * was about to write is refused and tried again on what is there by then: nothing is lost, on either side.
 *
 * Method: threads are frozen in the midst of a write (frozen-writes.ts): workers of one tab, or in WebKit, which has no shared
 * memory to stop a worker with, tabs of their own; and a tab is frozen at some moment of many inserts. Workers of another tab
 * write meanwhile. All at once, as each has to wait until a lease is over.
 */
import { assertEqual, assertTrue } from '../../../testing/check.ts'
import { FROZEN_WRITES, type FrozenWrite } from './frozen-writes.ts'
import { knownGap } from './known-gap.ts'
import { openTab, workerIn, type OpenTab, type RemoteTab, type DatabaseContext } from './remote-tab.ts'

/** A thread that is frozen in the midst of a write. */
interface FrozenThread {
  readonly tab: RemoteTab
  freeze(): Promise<void>
  /** Resolves with how often the write was tried. */
  thaw(): Promise<number>
  close(): Promise<void>
}

async function frozenWorker(page: OpenTab, where: FrozenWrite): Promise<FrozenThread> {
  return {
    tab: await workerIn(page, where),
    freeze: () => page.freezeWorker(where),
    thaw: () => page.thawWorker(where),
    close: async () => {},
  }
}

async function frozenTab(context: DatabaseContext, witness: OpenTab, where: FrozenWrite): Promise<FrozenThread> {
  const tab = await openTab(context)
  let write: Promise<number>
  return {
    tab,
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

/** `other` writes all that happens while the thread is frozen, or is told that it can't where that thread keeps the files. */
async function writeAround(
  where: FrozenWrite,
  frozen: FrozenThread,
  other: RemoteTab,
  keepsFiles: boolean,
): Promise<void> {
  const { tab } = frozen
  await other.insert('counter', 0, 1)
  await tab.insert('row', 0, 3000, 1500)
  await frozen.freeze()
  if (keepsFiles) {
    // Once it was waited for, and once more.
    for (let n = 0; n < 2; n++) assertEqual(await other.outcome('increment', 'counter0', 5), 'PANNIER_BLOCKED')
  } else {
    await other.increment('counter0', 5)
    await other.checkpoint()
    await other.insert('other', 0, 20)
  }
  const tries = await frozen.thaw()
  // An index build has written before it was frozen.
  if (!keepsFiles && where !== 'index build') assertTrue(tries > 1, 'the stale write was refused and tried again')
  await other.increment('counter0', 5)
  await tab.increment('counter0', 5)
  const summary = await tab.summary()
  assertEqual(summary, await other.summary())
  assertEqual([summary.problems.length, summary.count], [0, keepsFiles ? 3001 : 3021])
  assertEqual((await other.get('counter0'))?.n, keepsFiles ? 11 : 16)
  await frozen.close()
}

/** Longer than a frozen holder keeps its lease. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5000))
}

async function insertAround({ browser }: DatabaseContext, tab: OpenTab, other: RemoteTab): Promise<void> {
  for (const each of [tab, other]) await each.open('frozen-inserts')
  await tab.insertForever('first')
  await tab.inserted(10)
  await tab.page.freeze()
  const inserting = other.insert('second', 0, 20)
  // WebKit's page is stopped wherever it is: where that is within a transaction of IndexedDB, all wait for it.
  await (browser.engine === 'webkit' ? Promise.race([inserting, aWhile()]) : inserting)
  await tab.page.thaw()
  await inserting
  const inserted = await tab.inserted(0)
  await tab.inserted(inserted + 2)
  await other.insert('second', 20, 30)
  await tab.stopInserting()
  const summary = await tab.summary()
  assertEqual(summary, await other.summary())
  assertEqual([summary.problems.length, summary.count], [0, 30 + (await tab.inserted(0))])
}

export function frozenCases(context: DatabaseContext): void {
  const { test, browser, storage } = context
  const { freezeOneTab } = browser.supports
  // A worker has access handles itself, and in Firefox nobody else has them meanwhile.
  const keepsFiles = storage === 'opfs' && browser.engine === 'firefox'

  test('frozen in an update, a transaction, an index build, in many inserts', async () => {
    const [first, witness] = [await openTab(context), await openTab(context)]
    const hasSharedMemory = await witness.page.evaluate(() => typeof SharedArrayBuffer === 'function')
    // All are there before any is frozen.
    const threads: { readonly where: FrozenWrite; readonly frozen: FrozenThread; readonly other: RemoteTab }[] = []
    for (const where of FROZEN_WRITES) {
      const frozen = await (hasSharedMemory ? frozenWorker(first, where) : frozenTab(context, witness, where))
      const other = await workerIn(witness, where)
      for (const each of [frozen.tab, other]) await each.open(`frozen-${where}`)
      threads.push({ where, frozen, other })
    }
    const works = threads.map(({ where, frozen, other }) => writeAround(where, frozen, other, keepsFiles))
    if (freezeOneTab) {
      const tab = hasSharedMemory ? await openTab(context) : first
      works.push(insertAround(context, tab, await workerIn(witness, 'inserts')))
      if (tab !== first) works.push(Promise.all(works).then(() => tab.page.close()))
    }
    await Promise.all(works)
    for (const tab of [first, witness]) await tab.page.close()
  })

  if (!freezeOneTab) {
    knownGap(test, false, {
      name: 'one tab is frozen',
      reason: 'Firefox runs all tabs of an origin in one process, and has no other way to freeze one',
      async body() {
        const tab = await openTab(context)
        try {
          await tab.page.freeze()
        } finally {
          await tab.page.close()
        }
      },
    })
  }
}
