/**
 * Goal: what a tab has acknowledged is there after it was killed in the midst of writing, nothing is half applied, and other
 * tabs go on.
 *
 * Method: the writes follow from a seed (random-writes.ts). Each tab tells how many were acknowledged until it is killed at a
 * random moment, while workers of another tab write, too. These, or new ones, then compare and go on.
 */
import { assertEqual } from '../../../testing/check.ts'
import { seededRandom } from '../../../testing/random.ts'
import { knownGap } from './known-gap.ts'
import { WORKLOADS, type Workload } from './random-writes.ts'
import { openTab, workerIn, type RemoteTab, type DatabaseContext } from './remote-tab.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const REPLAY = `replay: SEED=${SEED}`
const KILL_AFTER_MS_MAX = 400

function seedOf(workload: Workload): number {
  return SEED + WORKLOADS.indexOf(workload)
}

/** Lets a tab write until the time is over; gives how many writes it had reported by then. */
async function writeForAWhile(tab: RemoteTab, workload: Workload, seed: number): Promise<number> {
  await tab.prepareWrites(workload)
  await tab.startWrites(workload, seed)
  let reported = await tab.acknowledged(0)
  const end = performance.now() + seededRandom(seed).below(KILL_AFTER_MS_MAX)
  while (performance.now() < end) reported = await tab.acknowledged(reported)
  return reported
}

/** What was acknowledged is there, and the database can be written. */
async function verify(tab: RemoteTab, name: string, workload: Workload, seed: number, reported: number): Promise<void> {
  await tab.open(name)
  await tab.verifyWrites(workload, seed, reported)
  await tab.insert('after', -2000, -1990)
  assertEqual((await tab.get('after-1995'))?.n, -1995)
  await tab.close()
}

/** A tab is killed while a worker of the witness writes to the same database; that goes on. */
async function killOne(context: DatabaseContext, witness: RemoteTab, workload: Workload): Promise<void> {
  const name = `killed-${workload}`
  const victim = await openTab(context, name)
  await witness.open(name)
  await witness.insertForever('witness')
  const reported = await writeForAWhile(victim, workload, seedOf(workload))
  await victim.page.killRenderer()
  // It gets its turn, and the next one.
  const inserted = await witness.inserted(0)
  await witness.inserted(inserted + 2)
  await witness.stopInserting()
  await witness.close()
  await verify(witness, name, workload, seedOf(workload), reported)
}

/** All tabs are killed at once, and the browser is started again: it is not quite itself for a while. */
async function killAll(context: DatabaseContext): Promise<void> {
  const nameOf = (workload: Workload): string => `killed-${workload}`
  const victims = await Promise.all(WORKLOADS.map((workload) => openTab(context, nameOf(workload))))
  const reported = await Promise.all(
    WORKLOADS.map((workload, at) => writeForAWhile(victims[at]!, workload, seedOf(workload))),
  )
  await victims[0]!.page.killRenderer()
  await context.browser.restart()
  const page = await openTab(context)
  await Promise.all(
    WORKLOADS.map(async (workload, at) => {
      await verify(await workerIn(page, workload), nameOf(workload), workload, seedOf(workload), reported[at]!)
    }),
  )
  await page.page.close()
}

export function killedCases(context: DatabaseContext): void {
  const { test, browser } = context
  const oneDies = browser.supports.killOneRenderer

  test(`the whole browser is killed in the midst (${REPLAY})`, async () => {
    const victim = await openTab(context, 'browser-killed')
    const reported = await writeForAWhile(victim, 'checkpoint', SEED)
    await browser.kill()
    await browser.restart()
    const tab = await openTab(context)
    await verify(tab, 'browser-killed', 'checkpoint', SEED, reported)
    await tab.page.close()
  })

  test(`tabs are closed, and reloaded, in the midst (${REPLAY})`, async () => {
    const witness = await openTab(context)
    for (const end of ['close', 'reload'] as const) {
      const name = `ended-${end}`
      const tab = await openTab(context, name)
      const reported = await writeForAWhile(tab, 'puts', SEED)
      await tab.page[end]()
      await verify(witness, name, 'puts', SEED, reported)
      if (end === 'reload') await tab.page.close()
    }
    await witness.page.close()
  })

  test(`tabs are killed in the midst of ${WORKLOADS.join(', ')} (${REPLAY})`, async () => {
    if (!oneDies) return killAll(context)
    const page = await openTab(context)
    await Promise.all(WORKLOADS.map(async (workload) => killOne(context, await workerIn(page, workload), workload)))
    await page.page.close()
  })

  // Where it can be done, the case above has done it.
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
