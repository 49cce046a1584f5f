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
import { FIRST_SEED, times } from '../../../../../tools/test/seeds.ts'

const SEED = FIRST_SEED
const REPLAY = `replay: SEED=${SEED}`
const KILL_AFTER_MS_MAX = 400
const KILLS = times(3)
/** The other one may never say that it is gone. */
const ANSWER_MS_MAX = 5000
/** One after another in one database. */
const KILLS_PER_DATABASE = 5

function seedOf(workload: Workload): number {
  return SEED + WORKLOADS.indexOf(workload)
}

/** Lets a tab write until the time is over; gives how many writes it had reported by then. */
async function writeForAWhile(tab: RemoteTab, workload: Workload, seed: number): Promise<number> {
  await tab.prepareWrites(workload)
  return goOnForAWhile(tab, workload, seed, 0)
}

/** As `writeForAWhile`, where so many of the writes are there already. */
async function goOnForAWhile(tab: RemoteTab, workload: Workload, seed: number, written: number): Promise<number> {
  await tab.startWrites(workload, seed, written)
  let reported = await tab.acknowledged(0)
  const end = performance.now() + seededRandom(seed + written).below(KILL_AFTER_MS_MAX)
  while (performance.now() < end) reported = await tab.acknowledged(reported)
  return written + reported
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
  // It gets the lease, and so does the next one.
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
  await context.browser.end()
  const page = await openTab(context)
  await Promise.all(
    WORKLOADS.map(async (workload, at) => {
      await verify(await workerIn(page, workload), nameOf(workload), workload, seedOf(workload), reported[at]!)
    }),
  )
  await page.page.close()
}

/**
 * One tab or worker after another writes to a database, flushed with each write, and is killed in the midst of it; each compares
 * what it finds with what those before it have reported.
 */
async function killOneAfterAnother(context: DatabaseContext, database: number, kills: number): Promise<void> {
  const { browser } = context
  const random = seededRandom(SEED + database)
  const workload = WORKLOADS[database % WORKLOADS.length]!
  const name = `killed-again-${database}`
  let reported = 0
  for (let kill = 0; kill < kills; kill++) {
    const victim = random.pick(['renderer', 'worker', 'browser'] as const)
    const page = await openTab(context)
    const writer = victim === 'worker' ? await workerIn(page, 'writer') : page
    await writer.open(name, 'strict')
    if (kill === 0) await writer.prepareWrites(workload)
    const written = await writer.verifyWrites(workload, SEED, reported)
    reported = await goOnForAWhile(writer, workload, SEED, written)
    if (victim === 'worker') {
      await page.endWorker('writer')
      await page.page.close()
    } else if (victim === 'browser') await browser.kill()
    else {
      await page.page.killRenderer()
      if (!browser.supports.killOneRenderer) await browser.end()
    }
  }
  const tab = await openTab(context)
  await verify(tab, name, workload, SEED, reported)
  await tab.page.close()
}

export function killedAgainCases(context: DatabaseContext): void {
  for (let done = 0; done < KILLS; done += KILLS_PER_DATABASE) {
    const kills = Math.min(KILLS_PER_DATABASE, KILLS - done)
    const database = done / KILLS_PER_DATABASE
    context.test(`tabs, workers and browsers are killed again and again: ${kills} from ${done} (${REPLAY})`, () =>
      killOneAfterAnother(context, database, kills),
    )
  }
}

export function killedCases(context: DatabaseContext): void {
  const { test, browser } = context
  const oneDies = browser.supports.killOneRenderer

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
        try {
          await first.page.killRenderer()
          const silence = new Promise((_resolve, reject) =>
            setTimeout(() => reject(new Error('no answer')), ANSWER_MS_MAX),
          )
          await Promise.race([second.insert('a', 0, 1), silence])
        } finally {
          // A page that opens while the process of the others ends may never load.
          await browser.end()
        }
      },
    })
  }

  // At the end: in WebKit the places of killed tabs come back with the next browser.
  test(`the whole browser is killed in the midst (${REPLAY})`, async () => {
    const victim = await openTab(context, 'browser-killed')
    const reported = await writeForAWhile(victim, 'checkpoint', SEED)
    await browser.kill()
    const tab = await openTab(context)
    await verify(tab, 'browser-killed', 'checkpoint', SEED, reported)
    await tab.page.close()
  })
}
