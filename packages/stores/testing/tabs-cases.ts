/** Cases of the tabs of an app in a component. */
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding } from './binding.ts'
import { becomes, last } from './fixture.ts'

export function tabsCases({ test, create }: SuiteContext<() => Binding>): void {
  test('tabs: all components of a page are one tab, which leads, and unmounting the last one ends it', async () => {
    const binding = create()
    const first = binding.mount('tabs', { name: 'suite' })
    await becomes(() => last(first), { tabs: 1, leads: true })
    const second = binding.mount('tabs', { name: 'suite' })
    await becomes(() => last(second), { tabs: 1, leads: true })
    first.unmount()
    await becomes(() => last(second), { tabs: 1, leads: true })
    second.unmount()
    await becomes(() => locks(), [])
  })

  test('tabs: another name has its own tabs', async () => {
    const shown = create().mount('tabs', { name: 'one' })
    await becomes(() => last(shown).leads, true)
    shown.set({ name: 'other' })
    await becomes(() => last(shown), { tabs: 1, leads: true })
    shown.unmount()
  })
}

let held: string[] = ['?']

/** The names of locks of tabs, as they were at the last look. */
function locks(): readonly string[] {
  void navigator.locks.query().then((found) => {
    held = (found.held ?? []).map(({ name = '' }) => name).filter((name) => name.startsWith('pannier:tab:suite'))
  })
  return held
}
