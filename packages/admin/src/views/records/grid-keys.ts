/** The keyboard of the table: one stop for Tab, arrows from cell to cell. The row -1 is the head. */
import { useEffect, useRef, useState } from 'react'
import type { KeyboardEvent, RefObject } from 'react'

interface GridCell {
  readonly row: number
  readonly column: number
}

interface GridOptions {
  readonly box: RefObject<HTMLDivElement | null>
  readonly rows: number
  readonly columns: number
  readonly isThere: (row: number) => boolean
  /** Makes the row be there. */
  readonly scrollTo: (row: number) => void
  readonly onEnter: (row: number) => void
  readonly onSpace: (row: number) => void
}

export interface GridKeys {
  readonly active: GridCell
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
  /** Attributes of the element that takes the focus in a cell. */
  readonly cellProps: (row: number, column: number) => CellKeys
}

interface CellKeys {
  readonly tabIndex: 0 | -1
  readonly 'data-cell': string
  readonly onFocus: () => void
}

const SCREEN = 12

export function useGridKeys({ box, rows, columns, isThere, scrollTo, onEnter, onSpace }: GridOptions): GridKeys {
  const [active, setActive] = useState<GridCell>({ row: 0, column: 1 })
  const wanted = useRef<GridCell>(undefined)
  // The list may have become shorter, and columns may have been hidden. Without rows the head takes the focus.
  const place = { row: Math.min(active.row, rows - 1), column: Math.min(active.column, columns - 1) }
  useEffect(() => {
    const next = wanted.current
    const element = next && box.current?.querySelector<HTMLElement>(`[data-cell="${next.row},${next.column}"]`)
    if (element === undefined || element === null) return
    wanted.current = undefined
    element.focus({ preventScroll: next!.row >= 0 })
    element.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  })
  const moveTo = (row: number, column: number): void => {
    const next = {
      row: Math.max(-1, Math.min(row, rows - 1)),
      column: Math.max(0, Math.min(column, columns - 1)),
    }
    wanted.current = next
    if (next.row >= 0) scrollTo(next.row)
    setActive(next)
  }
  return {
    active: place,
    onKeyDown: (event) => {
      if (!(event.target instanceof HTMLElement) || event.target.dataset['cell'] === undefined) return
      const { row, column } = place
      const isControl = event.ctrlKey || event.metaKey
      const moves: Readonly<Record<string, GridCell>> = {
        ArrowDown: { row: isControl ? rows - 1 : row + 1, column },
        ArrowUp: { row: isControl ? 0 : row - 1, column },
        ArrowRight: { row, column: column + 1 },
        ArrowLeft: { row, column: column - 1 },
        PageDown: { row: row + SCREEN, column },
        PageUp: { row: Math.max(0, row - SCREEN), column },
        Home: { row: isControl ? 0 : row, column: 0 },
        End: { row: isControl ? rows - 1 : row, column: columns - 1 },
      }
      const move = moves[event.key]
      // Shift belongs to the widths of columns.
      if (move !== undefined && !event.shiftKey) moveTo(move.row, move.column)
      else if (row >= 0 && event.key === 'Enter') onEnter(row)
      else if (row >= 0 && event.key === ' ' && !(event.target instanceof HTMLInputElement)) onSpace(row)
      else return
      event.preventDefault()
    },
    cellProps: (row, column) => ({
      tabIndex: place.row === row && place.column === column ? 0 : -1,
      'data-cell': `${row},${column}`,
      onFocus: () => {
        // By Tab, after the list was scrolled away from it.
        if (row >= 0 && !isThere(row)) scrollTo(row)
        setActive({ row, column })
      },
    }),
  }
}
