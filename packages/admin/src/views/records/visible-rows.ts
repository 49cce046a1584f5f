/** Which rows are there: those that are seen, some beyond, and the one with the focus. All have the same height. */
import { useLayoutEffect, useState } from 'react'
import type { RefObject } from 'react'
import { flushSync } from 'react-dom'
import { ScrollSpace } from './scroll-space.ts'

const HEAD_PX = 40
const ROWS_BEYOND = 8
/** Below what each browser can, and high enough that the places of pixels are exact. */
const HEIGHT_MAX = 10_000_000

interface SeenRows {
  readonly first: number
  readonly last: number
  readonly shift: number
}

interface PlacedRow {
  readonly index: number
  /** In pixels from the top of the body. */
  readonly top: number
}

interface VisibleRows {
  readonly first: number
  readonly last: number
  readonly rows: readonly PlacedRow[]
  /** The height of the body. */
  readonly height: number
  readonly isThere: (row: number) => boolean
  readonly scrollTo: (row: number) => void
}

/** `active`: the row with the focus. */
export function useVisibleRows(
  box: RefObject<HTMLDivElement | null>,
  count: number,
  rowPx: number,
  active: number,
): VisibleRows {
  const [space] = useState(() => new ScrollSpace(HEIGHT_MAX))
  const [seen, setSeen] = useState<SeenRows>({ first: 0, last: -1, shift: 0 })
  useLayoutEffect(() => {
    const element = box.current!
    const moveTo = (scrollTop: number): void => {
      if (element.scrollTop !== scrollTop) element.scrollTop = scrollTop
      setSeen((before) => {
        const next = seenOf(space, count, rowPx)
        return before.first === next.first && before.last === next.last && before.shift === next.shift ? before : next
      })
    }
    const measure = (): void => moveTo(space.resize(count * rowPx, element.clientHeight - HEAD_PX))
    // Rows are drawn in the same step: else they would be seen where they were.
    const scroll = (): void => flushSync(() => moveTo(space.scrolled(element.scrollTop)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', scroll, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', scroll)
    }
  }, [box, space, count, rowPx])
  const last = Math.min(seen.last, count - 1)
  const [from, to] = [Math.max(0, seen.first - ROWS_BEYOND), Math.min(count - 1, last + ROWS_BEYOND)]
  const isThere = (row: number): boolean => row >= from && row <= to
  const place = (index: number, at = index): PlacedRow => ({ index, top: at * rowPx - seen.shift })
  const rows = Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => place(from + at))
  // Tab has to find the row with the focus, wherever one scrolls. It waits beside the others: its own place may be out of reach.
  if (active >= 0 && active < from) rows.unshift(place(active, from - 1))
  else if (active > to && active < count) rows.push(place(active, to + 1))
  const scrollTo = (row: number): void => {
    box.current!.scrollTop = space.show(row * rowPx, (row + 1) * rowPx)
    setSeen(seenOf(space, count, rowPx))
  }
  return {
    first: seen.first,
    last: Math.max(seen.first, last),
    rows,
    height: Math.min(count * rowPx, HEIGHT_MAX),
    isThere,
    scrollTo,
  }
}

function seenOf(space: ScrollSpace, count: number, rowPx: number): SeenRows {
  return {
    first: Math.floor(space.top / rowPx),
    last: Math.min(count, Math.ceil(space.bottom / rowPx)) - 1,
    shift: space.shift,
  }
}
