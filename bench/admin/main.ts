/**
 * `npm run bench -- admin`: what each action on the admin page costs, with 100,000 records, in Chromium. The time is that of the page's
 * main thread, by the clock of the thread, so other work on the machine does not count. An action that takes more than the bar must
 * show a progress.
 */
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { launch } from 'puppeteer-core'
import type { CDPSession, Page as Puppet } from 'puppeteer-core'
import { fillOperations } from '../../packages/admin/test/example-operations.ts'
import { fillTasks, startAdmin } from '../../packages/admin/test/server.ts'
import { signIn } from '../../packages/admin/test/browser/steps.ts'
import type { Page } from '../../tools/browser/browser.ts'
import { findProgram } from '../../tools/browser/engines.ts'
import { makeFolder } from '../../tools/processes.ts'
import { ACTIONS } from './actions.ts'
import type { Action } from './actions.ts'

const USAGE = `Usage: npm run bench -- admin [--records N] [--repeat N] [--only TEXT]

Prints a table of actions: processor time of the page's main thread (the median), its longest task, and whether a progress was shown.

  --records N   in the collection (default 100000)
  --repeat N    so often each (default 3)
  --only TEXT   actions whose name has the text`
const BAR_MS = 100
/** An action has ended when the page did nothing for this long. */
const QUIET_MS = 400
const SETTLED_MS_MAX = 15_000
/** Fewer tasks take so much: what runs by itself, such as the clock of a spinner. */
const IDLE_MS = 1

interface Cost {
  readonly ms: number
  readonly longestMs: number
  readonly hasProgress: boolean
}

export async function main(parameters: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      records: { type: 'string', default: '100000' },
      repeat: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return console.log(USAGE)
  const profile = makeFolder('bench-admin')
  const server = await startAdmin()
  await fillTasks(server, Number(values.records))
  await fillOperations(server)
  const browser = await launch({
    executablePath: findProgram('chromium')!,
    userDataDir: profile,
    args: ['--no-sandbox', '--headless=new'],
  })
  try {
    const page = await browser.newPage()
    await page.setViewport({ width: 1280, height: 800 })
    await page.goto(`${server.url}/_/`)
    await signIn(page as unknown as Page)
    const probe = await Probe.on(page)
    console.log('| action | processor, ms | longest task, ms | progress |\n| --- | ---: | ---: | --- |')
    const wanted = ACTIONS.filter(({ name }) => name.includes(values.only))
    let isOver = false
    for (const action of wanted) {
      const costs: Cost[] = []
      for (let time = 0; time < Number(values.repeat); time++) costs.push(await probe.measure(action))
      const { ms, longestMs, hasProgress } = costs.toSorted((one, other) => one.ms - other.ms)[costs.length >> 1]!
      const mark = ms <= BAR_MS ? '' : hasProgress ? 'yes' : '**none**'
      isOver ||= mark === '**none**'
      console.log(`| ${action.name} | ${ms.toFixed(0)} | ${longestMs.toFixed(0)} | ${mark} |`)
    }
    console.log(isOver ? `\nAn action takes more than ${BAR_MS} ms without a progress.` : '\nAll are within the bar.')
  } finally {
    await browser.close()
    await server.close()
    rmSync(profile, { recursive: true, force: true })
  }
  process.exit()
}

/** Reads the figures of the main thread. */
class Probe {
  readonly #page: Puppet
  readonly #session: CDPSession

  private constructor(page: Puppet, session: CDPSession) {
    this.#page = page
    this.#session = session
  }

  static async on(page: Puppet): Promise<Probe> {
    const session = await page.createCDPSession()
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    return new Probe(page, session)
  }

  async measure({ hash, before, act }: Action): Promise<Cost> {
    const page = this.#page as unknown as Page
    await page.evaluate((wanted) => void (location.hash = wanted), hash)
    await this.#settled()
    await before?.(page)
    await this.#settled()
    await page.evaluate(watch)
    const begin = await this.#taskMs()
    await act(page)
    const end = await this.#settled()
    const { longestMs, hasProgress } = await page.evaluate(() =>
      (globalThis as unknown as { watched: () => Omit<Cost, 'ms'> }).watched(),
    )
    return { ms: end - begin, longestMs, hasProgress }
  }

  /** The processor time of all tasks, when they have ended. */
  async #settled(): Promise<number> {
    const deadline = Date.now() + SETTLED_MS_MAX
    let before = await this.#taskMs()
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
      const now = await this.#taskMs()
      if (now - before < IDLE_MS * 5 || Date.now() > deadline) return now
      before = now
    }
  }

  async #taskMs(): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  }
}

/** In the page: the longest task, and whether something said that it works. */
function watch(): void {
  const PROGRESS = '.spinner, progress, [aria-busy=true], .shimmer, .row-loading'
  let longestMs = 0
  let hasProgress = document.querySelector(PROGRESS) !== null
  const tasks = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestMs = Math.max(longestMs, duration)
  })
  tasks.observe({ type: 'longtask' })
  const shown = new MutationObserver(() => (hasProgress ||= document.querySelector(PROGRESS) !== null))
  shown.observe(document.body, { subtree: true, childList: true, attributes: true })
  Object.assign(globalThis, {
    watched: () => {
      tasks.disconnect()
      shown.disconnect()
      return { longestMs, hasProgress }
    },
  })
}
