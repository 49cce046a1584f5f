/** The clock, the timers and the chance of the page. `main.tsx` makes the environment; state and views are given it. */
import type { Environment as Whole } from 'pannier/types'
import { createContext, useContext } from 'react'
import type { Context } from 'react'

/** The part of the library's environment that the page needs. */
export type Environment = Pick<Whole, 'wallClock' | 'randomBytes' | 'after'>

/** The page stands inside of it. */
export const EnvironmentContext: Context<Environment> = createContext<Environment>(undefined!)

/** For views. An effect that calls back later returns what `after` returns: that cancels it. */
export function useEnvironment(): Environment {
  return useContext(EnvironmentContext)
}

/** Calls back again and again. Returns what ends it. That of `pannier/internal` would load the library with the page. */
export function every({ after }: Environment, ms: number, callback: () => void): () => void {
  let cancel: () => void
  const next = (): void => {
    cancel = after(ms, next)
    callback()
  }
  cancel = after(ms, next)
  return () => cancel()
}
