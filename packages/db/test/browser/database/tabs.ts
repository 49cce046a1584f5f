/**
 * Goal: tabs and workers that write to one database at the same time lose nothing of one another, and each sees what the
 * others have done.
 */
import { assertEqual } from '../../../testing/check.ts'
import { withTabs, workerIn, type OpenTab, type DatabaseContext } from './remote-tab.ts'

/** Everything that is known of the database is the same in all tabs, and is what it should be. */
async function agree(tabs: readonly OpenTab[], count: number, sum?: number): Promise<void> {
  const summaries = await Promise.all(tabs.map((tab) => tab.summary()))
  for (const summary of summaries) assertEqual(summary, summaries[0]!)
  assertEqual(summaries[0]!.problems, [])
  assertEqual(summaries[0]!.count, count)
  assertEqual(
    summaries[0]!.indexed.reduce((total, rows) => total + rows, 0),
    count,
  )
  if (sum !== undefined) assertEqual(summaries[0]!.sum, sum)
}

function sumTo(n: number): number {
  return (n * (n - 1)) / 2
}

export function tabsCases(context: DatabaseContext): void {
  writingCases(context)
  readingCases(context)
}

export function atOnceCase(context: DatabaseContext): void {
  context.test('two tabs and a worker write at once: every update counts, every row is there', () =>
    withTabs(context, 'write-at-once', 2, async (first, second) => {
      await first!.insert('counter', 0, 2)
      const worker = await workerIn(second!, 'worker')
      await worker.open('write-at-once')
      await Promise.all([
        first!.increment('counter0', 60),
        second!.increment('counter0', 60),
        worker.increment('counter0', 60),
        first!.insert('a', 0, 100, 1, 2),
        second!.insert('b', 0, 1200, 120, 2),
        worker.insert('c', 0, 100, 1, 2),
        first!.increment('counter1', 20),
        second!.increment('counter1', 20),
      ])
      await agree([first!, second!], 1402, 180 + 1 + 40 + 2 * sumTo(100) + sumTo(1200))
      assertEqual([(await first!.get('counter0'))?.n, (await second!.get('counter1'))?.n], [180, 41])
      assertEqual(await worker.summary(), await first!.summary())
    }),
  )
}

/** Those in which who writes what is in question. */
export function writingCases(context: DatabaseContext): void {
  const { test } = context

  test('a tab hears of what another one commits, and a query shows it', () =>
    withTabs(context, 'hear', 2, async (first, second) => {
      await first!.insert('a', 0, 3)
      await second!.hear('a2')
      assertEqual((await second!.get('a2'))?.n, 2)
      assertEqual(await second!.count(), 3)
      await second!.increment('a1', 1)
      await first!.hear('a1')
      assertEqual((await first!.get('a1'))?.n, 2)
      await second!.insert('b', 0, 2000, 2000)
      await first!.hear('b1999')
      assertEqual(await first!.count(), 2003)
    }))

  test('storage checkpoints of both tabs, and writes all along', () =>
    withTabs(context, 'checkpoints', 2, async (first, second) => {
      const work = async (tab: OpenTab, prefix: string): Promise<void> => {
        const writing = tab.insert(prefix, 0, 600, 3, 2)
        for (let round = 0; round < 6; round++) await tab.checkpoint()
        await writing
      }
      await Promise.all([work(first!, 'a'), work(second!, 'b')])
      await agree([first!, second!], 1200)
      await first!.close()
      await second!.checkpoint()
      await second!.page.reload()
      await second!.open('checkpoints')
      await agree([second!], 1200)
    }))
}

function readingCases(context: DatabaseContext): void {
  const { test } = context

  test('a walk that is under way sees one state, whatever another tab writes and wherever it puts it', () =>
    withTabs(context, 'walk', 2, async (first, second) => {
      const numbers = Array.from({ length: 3000 }, (_, n) => n)
      await first!.insert('a', 0, 3000, 1000)
      await first!.checkpoint()
      await second!.page.reload()
      await second!.open('walk')
      await second!.beginWalk()
      for (let round = 0; round < 4; round++) {
        await first!.delete(numbers.filter((n) => n % 8 === round).map((n) => `a${n}`))
        await first!.insert(`b${round}-`, 0, 500, 250)
        await first!.checkpoint()
      }
      assertEqual(await second!.endWalk(), numbers)
      await agree([first!, second!], 3500)
    }))

  test('an index that one tab builds has what others write meanwhile', () =>
    withTabs(context, 'build', 2, async (first, second) => {
      await first!.insert('a', 0, 8000, 4000)
      const building = first!.buildIndex(['n', 'group'])
      await Promise.all([
        second!.insert('b', 0, 120),
        second!.increment('a7', 30),
        second!.delete(Array.from({ length: 500 }, (_, n) => `a${n * 9}`).filter((id) => id !== 'a7')),
        building,
      ])
      // The same one, asked for in both tabs.
      await Promise.all([first!.buildIndex('n'), second!.buildIndex('n'), second!.insert('c', 0, 60)])
      await agree([first!, second!], 8000 + 120 + 60 - 500)
    }))
}
