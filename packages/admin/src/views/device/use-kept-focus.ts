/** Keeps the focus in a view whose buttons go with what they have done. */
import { useEffect, useRef } from 'react'
import type { RefObject } from 'react'

/** The element of the view. Its first heading takes the focus that would go to the start of the page. */
export function useKeptFocus(): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const view = box.current!
    let last: EventTarget | null = null
    const note = ({ target }: FocusEvent): void => void (last = target)
    const observer = new MutationObserver(() => {
      if (document.activeElement !== document.body || !(last instanceof Element) || last.isConnected) return
      const heading = view.querySelector('h2')
      heading?.setAttribute('tabindex', '-1')
      heading?.focus()
    })
    view.addEventListener('focusin', note)
    observer.observe(view, { childList: true, subtree: true })
    return () => {
      view.removeEventListener('focusin', note)
      observer.disconnect()
    }
  }, [])
  return box
}
