/**
 * Goal: what a tab has acknowledged is there after it was killed in the midst of writing, nothing is half applied, and other
 * tabs go on.
 *
 * Method: the writes follow from a seed (random-writes.ts). The tab tells how many were acknowledged until it is killed at a
 * random moment, while another tab writes, too. Then that tab, or a new one, compares and goes on.
 */
import { assertEqual, assertTrue } from '../../testing/check.ts'
import { seededRandom, type Random } from '../../testing/random.ts'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import { knownGap } from './known-gap.ts'
import { WORKLOADS, type Workload } from './random-writes.ts'
import { openTab, type OpenTab } from './remote-tab.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const KILL_AFTER_MS_MAX = 400

/** Lets a tab write until the time is over; gives how many writes it had reported by then. */
async function writeForAWhile(tab: OpenTab, workload: Workload, seed: number, random: Random): Promise<number> {
  await tab.prepareWrites(workload)
  await tab.startWrites(workload, seed)
  let reported = await tab.acknowledged(0)
  const end = performance.now() + random.below(KILL_AFTER_MS_MAX)
  while (performance.now() < end) reported = await tab.acknowledged(reported)
  return reported
}

export function browserSuite(context: BrowserSuiteContext): void {
  const { test, browser } = context
  const oneDies = browser.supports.killOneRenderer

  test(`the whole browser is killed in the midst (replay: SEED=${SEED})`, async () => {
    const victim = await openTab(context, 'browser-killed')
    const reported = await writeForAWhile(victim, 'checkpoint', SEED, seededRandom(SEED))
    await browser.kill()
    await browser.restart()
    const tab = await openTab(context, 'browser-killed')
    await tab.verifyWrites('checkpoint', SEED, reported)
    await tab.page.close()
  })

  test(`a tab is closed, and one reloaded, in the midst (replay: SEED=${SEED})`, async () => {
    const witness = await openTab(context)
    for (const [at, end] of (['close', 'reload'] as const).entries()) {
      const name = `ended-${end}`
      const seed = SEED + 10 + at
      const tab = await openTab(context, name)
      await witness.open(name)
      const reported = await writeForAWhile(tab, 'puts', seed, seededRandom(seed))
      await tab.page[end]()
      await witness.verifyWrites('puts', seed, reported)
      await witness.insert('after', -20, -10)
      await witness.close()
      if (end === 'reload') await tab.page.close()
    }
    await witness.page.close()
  })

  // At the end: WebKit does not use the place of a killed tab again.
  for (const [at, workload] of WORKLOADS.entries()) {
    const seed = SEED + at
    test(`${workload}: a tab is killed in the midst (replay: SEED=${SEED})`, async () => {
      const name = `killed-${workload}`
      const random = seededRandom(seed)
      // The other one writes, too, and is asked to take turns.
      let witness = await openTab(context, `${name}-witness`)
      const victim = await openTab(context, name)
      if (oneDies) {
        await witness.open(name)
        await witness.insertForever('witness')
      }
      const reported = await writeForAWhile(victim, workload, seed, random)
      await victim.page.killRenderer()
      if (oneDies) {
        // It gets its turn, and the next one.
        const inserted = await witness.inserted(0)
        await witness.inserted(inserted + 2)
        await witness.stopInserting()
        await witness.close()
      } else {
        // Both are gone, and the browser is not quite itself for a while.
        await browser.restart()
        witness = await openTab(context)
      }
      await witness.open(name)
      const written = await witness.verifyWrites(workload, seed, reported)
      assertTrue(written >= reported, 'what was acknowledged is there')
      await witness.insert('after', -2000, -1990)
      assertEqual((await witness.get('after-1995'))?.n, -1995)
      await witness.page.close()
    })
  }

  // Where it can be done, the cases above have done it.
  if (!oneDies) {
    knownGap(test, false, {
      name: 'a tab that is killed leaves another one alone',
      reason: 'Firefox runs all tabs of an origin in one process, so both are gone',
      async body() {
        const [first, second] = [await openTab(context, 'alone'), await openTab(context, 'alone')]
        await first.page.killRenderer()
        await second.insert('a', 0, 1)
      },
    })
  }
}
