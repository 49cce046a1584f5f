/** The head of a column: sorts, and has a menu and a handle for its width. */
import type { CSSProperties, KeyboardEvent, ReactNode } from 'react'
import type { Field } from '../../api/collections.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import type { MenuItem } from '../../parts/menu.tsx'
import { TEXTS } from '../../texts.ts'
import { kindOf } from '../kinds.ts'
import { WIDTH_MAX, WIDTH_MIN } from './columns.ts'
import type { RecordColumn, RecordTable } from './columns.ts'
import type { GridKeys } from './grid-keys.ts'

const STEP_PX = 24
const { column: texts } = TEXTS.records

interface ColumnHeadProps {
  readonly table: RecordTable
  readonly column: RecordColumn
  readonly field: Field
  readonly at: number
  readonly style: CSSProperties
  readonly isPinned: boolean
  readonly keys: GridKeys
  readonly sort: string
  readonly onSort: (sort: string) => void
}

export function ColumnHead(props: ColumnHeadProps): ReactNode {
  const { table, column, field, at, style, isPinned, keys, sort, onSort } = props
  const { icon, isUnsorted } = kindOf(field)
  const isSortable = !isUnsorted
  const direction = sort === field.name ? 'ascending' : sort === `-${field.name}` ? 'descending' : 'none'
  return (
    <div
      role="columnheader"
      aria-colindex={at + 1}
      aria-sort={direction}
      className={`cell cell-head ${isPinned ? 'cell-pinned' : ''}`}
      style={style}
    >
      <button
        type="button"
        className="head-sort"
        {...keys.cellProps(-1, at)}
        title={field.help === undefined || field.help === '' ? undefined : field.help}
        aria-disabled={!isSortable}
        onClick={() => isSortable && onSort(direction === 'ascending' ? `-${field.name}` : field.name)}
        onKeyDown={(event) => resizeByKeys(event, table, column)}
      >
        <Icon name={icon} />
        <span className="head-name">{field.name}</span>
        {direction !== 'none' && (
          <Icon name={direction === 'ascending' ? 'arrowUp' : 'arrowDown'} className="head-arrow" />
        )}
      </button>
      <Menu
        label={texts.menu(field.name)}
        icon="more"
        items={itemsOf(props, isSortable)}
        className="button-quiet head-menu"
      />
      <ResizeHandle table={table} column={column} />
    </div>
  )
}

function itemsOf(
  { column, field, onSort, isPinned, table }: ColumnHeadProps,
  isSortable: boolean,
): readonly MenuItem[] {
  return [
    { label: texts.ascending, icon: 'arrowUp', isDisabled: !isSortable, onPress: () => onSort(field.name) },
    { label: texts.descending, icon: 'arrowDown', isDisabled: !isSortable, onPress: () => onSort(`-${field.name}`) },
    { label: isPinned ? texts.unpin : texts.pin, icon: 'pin', onPress: () => column.pin(isPinned ? false : 'start') },
    { label: texts.hide, icon: 'view', onPress: () => column.toggleVisibility(false) },
    { label: texts.wider, icon: 'add', onPress: () => resize(table, column, 4 * STEP_PX) },
    { label: texts.narrower, icon: 'close', onPress: () => resize(table, column, -4 * STEP_PX) },
  ]
}

/** By mouse and by finger; keys have Shift with the arrows, and the menu. */
function ResizeHandle({ table, column }: { readonly table: RecordTable; readonly column: RecordColumn }): ReactNode {
  const header = table.getFlatHeaders().find(({ id }) => id === column.id)
  const handler = header?.getResizeHandler()
  return (
    <span
      className={`head-handle ${column.getIsResizing() ? 'head-resizing' : ''}`}
      aria-hidden="true"
      onMouseDown={handler}
      onTouchStart={handler}
      onDoubleClick={() => column.resetSize()}
    />
  )
}

function resizeByKeys(event: KeyboardEvent, table: RecordTable, column: RecordColumn): void {
  if (!event.shiftKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
  event.preventDefault()
  event.stopPropagation()
  resize(table, column, event.key === 'ArrowRight' ? STEP_PX : -STEP_PX)
}

function resize(table: RecordTable, column: RecordColumn, by: number): void {
  const size = Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, column.getSize() + by))
  table.setColumnSizing((before) => ({ ...before, [column.id]: size }))
}
