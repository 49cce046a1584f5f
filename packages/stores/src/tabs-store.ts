/**
 * A store of the tabs that have an app open. Each holds a lock, which ends with the tab. One of them leads, counts the locks, and tells the
 * others.
 */
import { systemEnvironment, WebLeader } from 'pannier/internal'
import type { Environment } from 'pannier/types'
import { keptFor, storeOf, type Kept, type Store } from './store.ts'

/** The tabs of an app. */
export interface TabsState {
  /** How many tabs show this, with this one. Undefined until they are counted, and where a page has no locks. */
  readonly tabs: number | undefined
  /** Whether this tab leads. One tab does, for work that only one must do. For a moment two may lead. */
  readonly leads: boolean
}

/** The stores of this tab: all its components are one tab. */
const stores = new Map<string, Store<TabsState>>()

/** The store of the tabs that have the same name. With an environment it is that of a tab of its own. */
export function nextTabs(
  before: Kept<Store<TabsState>> | undefined,
  name: string,
  environment?: Environment,
): Kept<Store<TabsState>> {
  return keptFor(before, [name, environment], () => {
    if (environment !== undefined) return tabsStore(name, environment)
    const store = stores.get(name) ?? tabsStore(name, systemEnvironment())
    stores.set(name, store)
    return store
  })
}

function tabsStore(name: string, environment: Environment): Store<TabsState> {
  return storeOf<TabsState>({ tabs: undefined, leads: false }, (show) => {
    const locks = (globalThis.navigator as Partial<Navigator> | undefined)?.locks
    if (locks === undefined) {
      show({ tabs: undefined, leads: true })
      return undefined
    }
    const prefix = `pannier:tab:${name}:`
    const own = prefix + environment.randomId()
    const ending = new AbortController()
    const { promise: ended, resolve: release } = Promise.withResolvers<void>()
    const watched = new Set([own])
    let tabs: number | undefined
    /** Holds a lock as soon as no other tab does, until `work` has ended. Then it calls `released`. */
    const hold = (lock: string, work: () => Promise<void> | undefined, released: () => void): void => {
      locks.request(lock, { signal: ending.signal }, work).then(released, () => {})
    }
    const count = async (): Promise<void> => {
      const { held = [] } = await locks.query()
      const found = held.flatMap(({ name: lock = '' }) => (lock.startsWith(prefix) ? [lock] : []))
      if (!leader.leads) return
      for (const lock of found) {
        if (watched.has(lock)) continue
        watched.add(lock)
        const gone = (): void => {
          watched.delete(lock)
          void count()
        }
        hold(lock, () => undefined, gone)
      }
      if (found.length === tabs) return
      tabs = found.length
      changed()
      leader.changed()
    }
    const changed = (): void => {
      if (leader.leads) void count()
      else tabs = leader.news as number | undefined
      show({ tabs, leads: leader.leads })
    }
    const tell = (): unknown => {
      void count()
      return tabs
    }
    const leader: WebLeader = new WebLeader({ name: `pannier:tabs:${name}`, environment, tell, onChange: changed })
    const join = (): Promise<void> => {
      void leader.want()
      return ended
    }
    hold(own, join, () => {})
    return () => {
      ending.abort()
      release()
      leader.close()
    }
  })
}
