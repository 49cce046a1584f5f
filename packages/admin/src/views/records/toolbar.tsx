/** Actions on the records of a collection, and on the selected ones. */
import { lazy, Suspense, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { Menu } from '../../parts/menu.tsx'
import type { MenuItem } from '../../parts/menu.tsx'
import { useEnvironment } from '../../environment.ts'
import { onDemand } from '../../state/on-demand.ts'
import { TEXTS } from '../../texts.ts'
import { TRANSFER } from '../../texts/transfer.ts'
import { listAsCurl, listAsSdk } from './as-code.ts'
import type { RecordTable } from './columns.ts'
import { deleteWithUndo } from './edit-records.ts'
import type { Selection } from './selection.ts'

const { records: texts } = TEXTS
const KeepButton = lazy(async () => ({
  default: (await onDemand(() => import('../device/keep-button.tsx'))).KeepButton,
}))
const ExportDialog = lazy(async () => ({
  default: (await onDemand(() => import('./transfer/export-dialog.tsx'))).ExportDialog,
}))
const BulkEdit = lazy(async () => ({ default: (await onDemand(() => import('./form/bulk-edit.tsx'))).BulkEdit }))
const ImportDialog = lazy(async () => ({
  default: (await onDemand(() => import('./transfer/import-dialog.tsx'))).ImportDialog,
}))

interface ToolbarProps {
  readonly collection: Collection
  readonly table: RecordTable
  readonly filter: string
  readonly sort: string
  /** How many records the list has. */
  readonly count: number | undefined
  readonly onNew: () => void
}

export function Toolbar({ collection, table, filter, sort, count, onNew }: ToolbarProps): ReactNode {
  const columns = table.getAllLeafColumns().filter((column) => column.getCanHide())
  const items = columns.map((column) => ({
    label: String(column.columnDef.header),
    isChecked: column.getIsVisible(),
    onPress: () => column.toggleVisibility(),
  }))
  return (
    <>
      <Suspense>
        <KeepButton collection={collection} filter={filter} count={count} />
      </Suspense>
      <Menu label={texts.columns} icon="columns" items={items} />
      <ListMenu collection={collection} filter={filter} sort={sort} />
      {collection.type !== 'view' && (
        <Button kind="primary" icon="add" onPress={onNew}>
          {texts.new}
        </Button>
      )}
    </>
  )
}

/** Actions on all records of the list. */
function ListMenu({ collection, filter, sort }: Pick<ToolbarProps, 'collection' | 'filter' | 'sort'>): ReactNode {
  const [open, setOpen] = useState<'export' | 'import'>()
  const close = (): void => setOpen(undefined)
  const items: readonly MenuItem[] = [
    { label: TRANSFER.export.action, icon: 'download', onPress: () => setOpen('export') },
    {
      label: TRANSFER.import.action,
      icon: 'upload',
      isDisabled: collection.type === 'view',
      onPress: () => setOpen('import'),
    },
    { label: TEXTS.copy.asSdk, icon: 'code', onPress: () => copyText(listAsSdk(collection, { filter, sort })) },
    { label: TEXTS.copy.asCurl, icon: 'code', onPress: () => copyText(listAsCurl(collection, { filter, sort })) },
  ]
  return (
    <>
      <Menu label={texts.more} icon="more" items={items} />
      <Suspense>
        {open === 'export' && <ExportDialog collection={collection} filter={filter} onClose={close} />}
        {open === 'import' && <ImportDialog collection={collection} onClose={close} />}
      </Suspense>
    </>
  )
}

/** For a list without records. */
export function ImportButton({ collection }: Pick<ToolbarProps, 'collection'>): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon="upload" onPress={() => setOpen(true)}>
        {TRANSFER.import.action}
      </Button>
      <Suspense>{isOpen && <ImportDialog collection={collection} onClose={() => setOpen(false)} />}</Suspense>
    </>
  )
}

interface SelectionBarProps {
  readonly collection: Collection
  readonly selection: Selection
}

export function SelectionBar({ collection, selection }: SelectionBarProps): ReactNode {
  const environment = useEnvironment()
  const [isEditing, setEditing] = useState(false)
  const ids = [...selection.ids]
  if (ids.length === 0) return null
  return (
    <section className="selection" aria-label={texts.selection}>
      <b role="status">{texts.selected(ids.length)}</b>
      <Button kind="quiet" onPress={() => selection.clear()}>
        {texts.unselect}
      </Button>
      {collection.type !== 'view' && (
        <Button icon="edit" onPress={() => setEditing(true)}>
          {texts.editSelected}
        </Button>
      )}
      <Suspense>
        {isEditing && <BulkEdit collection={collection} ids={ids} onClose={() => setEditing(false)} />}
      </Suspense>
      {collection.type !== 'view' && (
        <Button
          kind="danger"
          icon="trash"
          onPress={() => {
            selection.clear()
            deleteWithUndo(environment, collection, ids)
          }}
        >
          {texts.deleteSelected}
        </Button>
      )}
    </section>
  )
}
