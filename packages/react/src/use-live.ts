/** Live values in a component: rows of a query, or their count. */
import { useMemo, useState, useSyncExternalStore, type DependencyList } from 'react'
import type { Query } from 'pannier'
import { callUser } from 'pannier/internal'
import { isLive, LiveStore, type Live, type LiveState } from './live-store.ts'

/** The hook that is called, and what may be live. */
export interface LiveKind<Source extends object, Value> {
  readonly hook: string
  readonly start: (source: Source) => Live<Value>
  /** The method that makes it live. */
  readonly method: 'live' | 'liveCount'
}

/**
 * `source`: what is asked for, or a function that makes it, called again when one of `deps` changes (without: each time).
 * `keepsPrevious`: while another source loads, the value of the one before is shown.
 */
export function useLive<Source extends object, Value>(
  source: Source | undefined | (() => Source | undefined),
  deps: DependencyList | undefined,
  { hook, start, method }: LiveKind<Source, Value>,
  keepsPrevious: boolean,
): LiveState<Value> {
  const make = (): Source | undefined =>
    callUser(hook, 'query', () => (typeof source === 'function' ? source() : source), {
      what: 'a query, or undefined',
      is: (value): value is Source | undefined => {
        const { subscribe, [method]: live } = Object(value) as Record<string, unknown>
        return value === undefined || typeof subscribe === 'function' || typeof live === 'function'
      },
    })
  const [kept, keep] = useState<LiveStore<Source, Value>>()
  const before = kept?.read()
  const hasEnded = before?.status === 'ended'
  // Without deps it is made in each render. What has ended is made again: a client may have another account by then.
  const made = useMemo(make, (deps && [...deps, hasEnded]) as DependencyList)
  let store = kept
  if (store === undefined || !isSameSource(store.source, made)) {
    store = new LiveStore(made, start, keepsPrevious && !hasEnded ? before?.value : undefined)
    keep(store)
  }
  return useSyncExternalStore(store.subscribe, store.read, store.readOnServer)
}

function isSameSource(left: object | undefined, right: object | undefined): boolean {
  if (left === right) return true
  if (left === undefined || right === undefined || isLive(left) || isLive(right)) return false
  return (left as Query<object>).isSame(right as Query<object>)
}
