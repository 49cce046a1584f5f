/** Goal: tabs of an app know how many they are, and that one of them leads, also after a tab has ended. */
import { expect, test } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { nextTabs } from '../src/tabs-store.ts'

const environment = virtualEnvironment()

/** Opens a tab, which has an environment of its own chance. */
function openTab(name: string, seed: number) {
  const store = nextTabs(undefined, name, { ...environment, randomId: virtualEnvironment({ seed }).randomId })
  const close = store.subscribe(() => {})
  return { read: store.read, close }
}

function shown(tabs: readonly { readonly read: () => object }[]): string {
  return tabs.map(({ read }) => JSON.stringify(read())).join()
}

test('tabs are counted in each of them, one leads, and the next one when that has ended', async () => {
  const first = openTab('counted', 1)
  expect(first.read()).toEqual({ tabs: undefined, leads: false })
  await environment.until(() => first.read().tabs === 1 && first.read().leads)
  const [second, third] = [openTab('counted', 2), openTab('counted', 3)]
  const other = openTab('other', 4)
  await environment.until(() => shown([first, second, third]).split('"tabs":3').length === 4)
  expect([first, second, third].map(({ read }) => read().leads)).toEqual([true, false, false])
  third.close()
  await environment.until(() => second.read().tabs === 2 && first.read().tabs === 2)
  first.close()
  await environment.until(() => second.read().leads && second.read().tabs === 1)
  expect(other.read()).toEqual({ tabs: 1, leads: true })
  second.close()
  other.close()
  await environment.idle()
  const { held = [], pending = [] } = await navigator.locks.query()
  expect([...held, ...pending].map(({ name }) => name).filter((name) => name?.includes('counted'))).toEqual([])
})
