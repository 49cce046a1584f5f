/** Typed text that is not saved: leaving the place, its dialog or the page asks first. */
import { createContext, useContext, useEffect } from 'react'
import type { Context } from 'react'
import { confirmDiscard } from '../state/question.ts'
import { holdRoute } from '../state/route.ts'
import type { StaysAt } from '../state/route.ts'

/** The unsaved parts of the dialog that a part stands in. */
export const UnsavedParts: Context<Set<object> | undefined> = createContext<Set<object> | undefined>(undefined)

const NOWHERE: StaysAt = () => false

/** `staysAt`: places where what was typed is kept. */
export function useUnsaved(isUnsaved: boolean, staysAt: StaysAt = NOWHERE): void {
  const parts = useContext(UnsavedParts)
  useEffect(() => {
    if (!isUnsaved) return undefined
    const part = {}
    parts?.add(part)
    const release = holdRoute({ staysAt, ask: confirmDiscard })
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => {
      parts?.delete(part)
      release()
      removeEventListener('beforeunload', ask)
    }
  }, [isUnsaved, staysAt, parts])
}
