/** The table: only the rows that are seen are there. It is a grid for the keyboard and for screen readers. */
import { useEffect, useMemo, useRef } from 'react'
import type { CSSProperties, ReactNode } from 'react'
import type { Collection, Field } from '../../api/collections.ts'
import type { Row } from '../../api/records.ts'
import { useCollections } from '../../state/collections.ts'
import { leaving } from '../../state/pending-deletes.ts'
import { useStore } from '../../state/store.ts'
import { pixelsOf } from '../../state/theme.ts'
import { TEXTS } from '../../texts.ts'
import { titleOf } from '../field-types.ts'
import { Cell } from './cell.tsx'
import { ColumnHead } from './column-head.tsx'
import { SELECT } from './columns.ts'
import type { RecordColumn, RecordTable } from './columns.ts'
import { useGridKeys } from './grid-keys.ts'
import type { GridKeys } from './grid-keys.ts'
import type { ListState, RecordPages } from './record-pages.ts'
import type { Selection } from './selection.ts'
import { useVisibleRows } from './visible-rows.ts'

interface RecordTableProps {
  readonly collection: Collection
  readonly table: RecordTable
  readonly pages: RecordPages
  readonly list: ListState
  readonly sort: string
  readonly onSort: (sort: string) => void
  readonly onOpen: (row: Row) => void
  readonly selection: Selection
}

export function RecordTableView(props: RecordTableProps): ReactNode {
  const { collection, table, pages, list, selection, onOpen } = props
  const box = useRef<HTMLDivElement>(null)
  const total = list.total ?? 0
  const columns = [...table.getStartVisibleLeafColumns(), ...table.getCenterVisibleLeafColumns()]
  const rowPx = useRowHeight()
  const keys = useGridKeys({
    box,
    rows: total,
    columns: columns.length,
    isThere: (row) => visible.isThere(row),
    scrollTo: (row) => visible.scrollTo(row),
    onEnter: (row) => {
      const record = pages.row(row)
      if (record !== undefined) onOpen(record)
    },
    onSpace: (row) => {
      const record = pages.row(row)
      if (record !== undefined) selection.toggle(record.id)
    },
  })
  const visible = useVisibleRows(box, total, rowPx, keys.active.row)
  const { first, last } = visible
  useEffect(() => pages.show(first, last), [pages, first, last])
  return (
    <div
      ref={box}
      className="grid"
      role="grid"
      aria-label={collection.name}
      aria-rowcount={list.total === undefined ? -1 : total + 1}
      aria-colcount={columns.length}
      aria-multiselectable="true"
      aria-busy={list.total === undefined}
      style={widthsOf(columns)}
      onKeyDown={keys.onKeyDown}
    >
      <Head {...props} columns={columns} keys={keys} />
      <div role="rowgroup" className="grid-body" style={{ height: visible.height }}>
        {visible.rows.map(({ index, top }) => (
          <RowView key={index} {...props} index={index} top={top} height={rowPx} columns={columns} keys={keys} />
        ))}
      </div>
    </div>
  )
}

/** The height of a row, as the style sheet has it, which knows fingers and walls. */
function useRowHeight(): number {
  return useMemo(() => pixelsOf(matchMedia('(pointer: coarse)').matches ? 2.75 : 2.375), [])
}

/** Cells read them, so that resizing a column renders no cell. */
function widthsOf(columns: readonly RecordColumn[]): CSSProperties {
  const widths = columns.map((column, at) => [`--w${at}`, `${column.getSize()}px`])
  const total = columns.reduce((sum, column) => sum + column.getSize(), 0)
  return Object.fromEntries([...widths, ['--all', `${total}px`]]) as CSSProperties
}

function placeOf(column: RecordColumn, at: number): CSSProperties {
  const isPinned = column.getIsPinned() === 'start'
  return { width: `var(--w${at})`, ...(isPinned && { insetInlineStart: column.getStart('start') }) }
}

interface PartProps extends RecordTableProps {
  readonly columns: readonly RecordColumn[]
  readonly keys: GridKeys
}

function Head({ table, columns, keys, ...props }: PartProps): ReactNode {
  const { selection, pages, collection } = props
  const fields = new Map(collection.fields.map((field) => [field.id, field]))
  const loaded = pages.loadedRows()
  const isAll = loaded.length > 0 && loaded.every(({ id }) => selection.has(id))
  return (
    <div role="rowgroup" className="grid-head">
      <div role="row" className="grid-row" aria-rowindex={1}>
        {columns.map((column, at) => {
          const style = placeOf(column, at)
          const cell = { style, at, keys, isPinned: column.getIsPinned() !== false }
          if (column.id !== SELECT)
            return (
              <ColumnHead
                key={column.id}
                {...cell}
                table={table}
                column={column}
                field={fields.get(column.id)!}
                {...props}
              />
            )
          return (
            <div
              key={column.id}
              role="columnheader"
              aria-colindex={at + 1}
              className="cell cell-box cell-pinned"
              style={style}
            >
              <input
                type="checkbox"
                {...keys.cellProps(-1, at)}
                aria-label={TEXTS.records.selectLoaded}
                checked={isAll}
                onChange={() => (isAll ? selection.clear() : selection.add(loaded.map(({ id }) => id)))}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface RowViewProps extends PartProps {
  readonly index: number
  readonly top: number
  readonly height: number
}

function RowView({ collection, pages, index, top, height, columns, keys, selection, onOpen }: RowViewProps): ReactNode {
  const { list: all } = useCollections()
  const gone = useStore(leaving)
  const row = pages.row(index)
  const isSelected = row !== undefined && selection.has(row.id)
  const fields = new Map<string, Field>(collection.fields.map((field) => [field.id, field]))
  const states = [
    row !== undefined && gone.has(row.id) && 'row-leaving',
    isSelected && 'row-selected',
    row !== undefined && pages.wasChanged(row.id) && 'row-changed',
  ]
  return (
    <div
      role="row"
      className={['grid-row', ...states].filter(Boolean).join(' ')}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ height, transform: `translateY(${top}px)` }}
      onClick={(event) => {
        if (row !== undefined && !isControl(event.target)) onOpen(row)
      }}
    >
      {columns.map((column, at) => {
        const className = `cell ${column.getIsPinned() === false ? '' : 'cell-pinned'}`
        const place = { 'aria-colindex': at + 1, style: placeOf(column, at) }
        if (column.id === SELECT)
          return (
            <div key={column.id} role="gridcell" {...place} className={`${className} cell-box`}>
              <input
                type="checkbox"
                {...keys.cellProps(index, at)}
                aria-label={row === undefined ? TEXTS.loading : TEXTS.records.select(titleOf(collection, row))}
                checked={isSelected}
                disabled={row === undefined}
                onChange={() => row && selection.toggle(row.id)}
              />
            </div>
          )
        const field = fields.get(column.id)!
        return (
          <div
            key={column.id}
            role="gridcell"
            {...place}
            className={`${className} cell-${field.type}`}
            {...keys.cellProps(index, at)}
          >
            {row === undefined ? (
              <span className="cell-loading" />
            ) : (
              <Cell collection={collection} field={field} row={row} all={all} />
            )}
          </div>
        )
      })}
    </div>
  )
}

/** A press on it is its own. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, label') !== null
}
