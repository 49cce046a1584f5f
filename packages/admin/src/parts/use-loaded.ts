/** Data that a view has loaded: the newest answer stays while the page asks again. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { isAborted } from '../api/request.ts'
import { every, useEnvironment } from '../environment.ts'

interface Loaded<T> {
  readonly value: T | undefined
  /** The error of the newest try; undefined after a success. */
  readonly error: unknown
  /** Loads again (reload). Resolves when the answer is there. */
  readonly reload: () => Promise<void>
}

/**
 * Loads when the view is shown, and again when `key` changes: the key says all that `load` depends on. With `everyMs` it also loads
 * that often, as long as the page is visible.
 */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ readonly key: string; readonly value?: T; readonly error?: unknown }>({ key })
  const newest = useRef(load)
  useEffect(() => {
    newest.current = load
  })
  const environment = useEnvironment()
  const running = useRef(new AbortController())
  const reload = useCallback(async (): Promise<void> => {
    running.current.abort()
    const { signal } = (running.current = new AbortController())
    try {
      const value = await newest.current(signal)
      if (!signal.aborted) setState({ key, value })
    } catch (error) {
      if (signal.aborted || isAborted(error)) return
      // What was loaded for another key would be taken for the answer.
      setState((before) => (before.key === key ? { ...before, error } : { key, error }))
    }
  }, [key])
  useEffect(() => {
    void reload()
    return () => running.current.abort()
  }, [reload])
  useEffect(() => {
    if (everyMs === undefined) return undefined
    return every(environment, everyMs, () => {
      if (document.visibilityState === 'visible') void reload()
    })
  }, [environment, reload, everyMs])
  return { value: state.value, error: state.key === key ? state.error : undefined, reload }
}
