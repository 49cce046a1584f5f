/** Goal: what is typed is not lost by going elsewhere. Method: a history as browsers have it, with entries, going back, and links. */
import { beforeEach, expect, test, vi } from 'vitest'
import { importAgain } from '../../../tools/test/mutants.ts'
import type * as Routes from '../src/state/route.ts'

type Entry = readonly [hash: string, state: unknown]

/** The session history of a tab. Moves arrive later, as in browsers. */
class TabHistory {
  entries: Entry[] = [['#/logs', null]]
  at = 0
  moved: (() => void) | undefined
  readonly listeners: (() => void)[] = []
  get state(): unknown {
    return this.entries[this.at]![1]
  }
  get hash(): string {
    return this.entries[this.at]![0]
  }
  pushState(state: unknown, _title: string, hash: string): void {
    this.entries = [...this.entries.slice(0, ++this.at), [hash, structuredClone(state)]]
  }
  replaceState(state: unknown, _title: string, hash = this.hash): void {
    this.entries[this.at] = [hash, structuredClone(state)]
  }
  go(steps: number): void {
    this.moved = () => {
      if (this.entries[this.at + steps] === undefined) return
      this.at += steps
      this.pop()
    }
  }
  /** A link to a place of the page. To the place that is shown it makes no entry. */
  link(hash: string): void {
    if (hash === this.hash) this.replaceState(null, '')
    else this.pushState(null, '', hash)
    this.pop()
  }
  private pop(): void {
    for (const listener of this.listeners) listener()
  }
  /** What was asked for arrives, and what comes of it. */
  async arrive(): Promise<void> {
    do {
      const { moved } = this
      this.moved = undefined
      moved?.()
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    } while (this.moved !== undefined)
  }
  async back(steps = -1): Promise<void> {
    this.go(steps)
    await this.arrive()
  }
}

let tab: TabHistory
let routes: typeof Routes

beforeEach(async () => {
  tab = new TabHistory()
  vi.stubGlobal('history', tab)
  vi.stubGlobal('location', tab)
  vi.stubGlobal('addEventListener', (name: string, listener: () => void) => {
    if (name === 'popstate') tab.listeners.push(listener)
  })
  routes = await importAgain<typeof Routes>('packages/admin/src/state/route.ts', [])
})

const shown = (): string => routes.linkTo(routes.route.get().path, routes.route.get().query)

/** A form that asks; `answer` is what the user says. */
function hold(answer: boolean, staysAt: Routes.StaysAt = () => false): { asked: number; end: () => void } {
  const held = { asked: 0, end: () => {} }
  held.end = routes.holdRoute({ staysAt, ask: async () => (held.asked++, answer) })
  return held
}

test.each([true, false])('a form asks before back, forward and a link leave it: %s', async (answer) => {
  routes.goTo(['records', 'a'])
  routes.goTo(['records', 'a'], { record: 'x' })
  routes.goTo(['records', 'b'])
  await tab.back()
  for (const leave of [() => tab.back(), () => tab.back(1), () => tab.back(-2), async () => tab.link('#/logs')]) {
    const held = hold(answer)
    const [from, at] = [shown(), tab.at]
    await leave()
    await tab.arrive()
    expect(held.asked).toBe(1)
    expect(shown()).toBe(tab.hash)
    expect(shown() !== from || tab.at !== at).toBe(answer)
    held.end()
    if (answer) await tab.back(at - tab.at)
    expect([shown(), tab.at]).toEqual([from, at])
  }
})

test('a place where what is typed stays is gone to without a question', async () => {
  routes.goTo(['settings', 'mail'])
  const held = hold(false, ([view]) => view === 'settings')
  tab.link('#/settings/logs')
  expect(shown()).toBe('#/settings/logs')
  await tab.back()
  expect(shown()).toBe('#/settings/mail')
  tab.link('#/logs')
  await tab.arrive()
  expect([shown(), held.asked]).toEqual(['#/settings/mail', 1])
})

test('one question is open at a time, and the page itself goes where it wants', async () => {
  routes.goTo(['records', 'a'], { record: 'new' })
  const answers: ((yes: boolean) => void)[] = []
  const end = routes.holdRoute({ staysAt: () => false, ask: () => new Promise((resolve) => answers.push(resolve)) })
  await tab.back()
  await tab.back()
  expect([answers.length, shown()]).toEqual([1, '#/records/a?record=new'])
  answers[0]!(false)
  await tab.arrive()
  await tab.back()
  expect(answers).toHaveLength(2)
  answers[1]!(false)
  end()
  routes.changeQuery({ record: undefined })
  expect(shown()).toBe('#/records/a')
})

test.each([true, false])('what a form leads to asks as well: %s', async (answer) => {
  const held = hold(answer)
  await routes.askBefore(() => routes.goTo(['couchdb']))
  expect([shown(), held.asked]).toEqual([answer ? '#/couchdb' : '#/logs', 1])
  held.end()
  await routes.askBefore(() => routes.goTo(['jobs']))
  expect([shown(), held.asked]).toEqual(['#/jobs', 1])
})

test('a link to the place that is shown changes nothing that going back needs', async () => {
  routes.goTo(['records', 'a'])
  tab.link('#/records/a')
  const held = hold(true)
  await tab.back()
  expect([shown(), held.asked]).toEqual(['#/logs', 1])
})
