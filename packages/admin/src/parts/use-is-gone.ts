/** For the rest of a work, when an answer has come: the user may be elsewhere by then, and what is open is of another part. */
import { useCallback, useEffect, useRef } from 'react'

/** Tells whether the part that calls it is shown no more. */
export function useIsGone(): () => boolean {
  const isGone = useRef(false)
  useEffect(() => {
    isGone.current = false
    return () => void (isGone.current = true)
  }, [])
  return useCallback(() => isGone.current, [])
}
