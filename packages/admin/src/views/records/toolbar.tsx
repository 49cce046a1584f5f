/** What can be done with the records of a collection, and with those that are selected. */
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { TEXTS } from '../../texts.ts'
import type { RecordTable } from './columns.ts'
import { deleteWithUndo } from './delete-records.ts'
import type { Selection } from './selection.ts'

const { records: texts } = TEXTS

interface ToolbarProps {
  readonly collection: Collection
  readonly table: RecordTable
  readonly onNew: () => void
}

export function Toolbar({ collection, table, onNew }: ToolbarProps): ReactNode {
  const columns = table.getAllLeafColumns().filter((column) => column.getCanHide())
  const items = columns.map((column) => ({
    label: String(column.columnDef.header),
    isChecked: column.getIsVisible(),
    onPress: () => column.toggleVisibility(),
  }))
  return (
    <>
      <Menu label={texts.columns} icon="columns" items={items} />
      {collection.type !== 'view' && (
        <Button kind="primary" icon="add" onPress={onNew}>
          {texts.new}
        </Button>
      )}
    </>
  )
}

interface SelectionBarProps {
  readonly collection: Collection
  readonly selection: Selection
}

export function SelectionBar({ collection, selection }: SelectionBarProps): ReactNode {
  const ids = [...selection.ids]
  if (ids.length === 0) return null
  return (
    <section className="selection" aria-label={texts.selection}>
      <b role="status">{texts.selected(ids.length)}</b>
      <Button kind="quiet" onPress={() => selection.clear()}>
        {texts.unselect}
      </Button>
      {collection.type !== 'view' && (
        <Button
          kind="danger"
          icon="trash"
          onPress={() => {
            selection.clear()
            deleteWithUndo(collection, ids)
          }}
        >
          {texts.deleteSelected}
        </Button>
      )}
    </section>
  )
}
