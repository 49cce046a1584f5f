/** A record in a sheet at the side: all of its fields, and what the server says about each. */
import { useEffect, useId, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../../api/collections.ts'
import { viewRecord } from '../../../state/device/records.ts'
import type { Row } from '../../../api/records.ts'
import { Button, useBusy } from '../../../parts/button.tsx'
import { copyText } from '../../../parts/copy.ts'
import { CancelButton, Dialog } from '../../../parts/dialog.tsx'
import { FormField } from '../../../parts/form-field.tsx'
import { Failed, Loading } from '../../../parts/loading.tsx'
import { Menu } from '../../../parts/menu.tsx'
import type { MenuItem } from '../../../parts/menu.tsx'
import { showDone } from '../../../parts/toasts.tsx'
import { useIsGone } from '../../../parts/use-is-gone.ts'
import { device } from '../../../state/device/device.ts'
import { useEnvironment } from '../../../environment.ts'
import { askBefore, goTo } from '../../../state/route.ts'
import { TEXTS } from '../../../texts.ts'
import { DEVICE } from '../../../texts/device.ts'
import { kindOf } from '../../kinds.ts'
import { recordAsCurl, recordAsSdk } from '../as-code.ts'
import { deleteWithUndo } from '../edit-records.ts'
import { formFields } from './draft.ts'
import { FieldInput } from './field-input.tsx'
import { useDraft } from './use-draft.ts'
import type { DraftForm } from './use-draft.ts'

const { form: texts } = TEXTS.records

const NEW = 'new'

interface RecordFormProps {
  readonly collection: Collection
  /** The id, or NEW. */
  readonly id: string
  /** With NEW: the record whose values it begins with. */
  readonly copyOf?: string | undefined
  readonly onClose: () => void
  readonly onDuplicate: (id: string) => void
}

/** Loads the record, and shows it. */
export function RecordForm(props: RecordFormProps): ReactNode {
  const { collection, id, copyOf, onClose } = props
  const [row, setRow] = useState<Row>()
  const [error, setError] = useState<unknown>()
  const [tries, setTries] = useState(0)
  const source = id === NEW ? copyOf : id
  useEffect(() => {
    setError(undefined)
    if (source !== undefined) viewRecord(collection.name, source).then(setRow, setError)
  }, [collection, source, tries])
  const reload = (): void => {
    setRow(undefined)
    setTries(tries + 1)
  }
  if (source === undefined || row !== undefined) return <Sheet key={tries} {...props} row={row} onReload={reload} />
  return (
    <Dialog title={texts.edit(collection.name)} place="side" onClose={onClose}>
      {error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />}
    </Dialog>
  )
}

interface SheetProps extends RecordFormProps {
  readonly row: Row | undefined
  readonly onReload: () => void
}

function Sheet(props: SheetProps): ReactNode {
  const { collection, id, row, onClose, onReload } = props
  const isNew = id === NEW
  const formId = useId()
  const form = useDraft(collection, isNew ? undefined : row, isNew ? row : undefined)
  const { isBusy, run } = useBusy()
  const isGone = useIsGone()
  const save = async (): Promise<void> => {
    if (!(await form.save())) return
    showDone(device.get().isAway ? DEVICE.away.stored : isNew ? texts.made : texts.saved)
    // By now the user may have gone to another record, whose form is not to be closed.
    if (!isGone()) onClose()
  }
  const isReadOnly = collection.type === 'view'
  const footer = (
    <>
      <CancelButton />
      <Button kind="primary" type="submit" form={formId} disabled={isBusy || isReadOnly} aria-busy={isBusy}>
        {isNew ? texts.make : texts.save}
      </Button>
    </>
  )
  return (
    <Dialog
      title={isNew ? texts.new(collection.name) : texts.edit(collection.name)}
      subtitle={!isNew && <code className="cell-id">{id}</code>}
      place="side"
      onClose={onClose}
      isUnsaved={form.isChanged}
      headActions={!isNew && row !== undefined && <Actions {...props} row={row} />}
      footer={footer}
    >
      <form
        id={formId}
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void run(save)
        }}
        onKeyDown={(event) => {
          const isSave = (event.ctrlKey || event.metaKey) && (event.key === 's' || event.key === 'Enter')
          if (!isSave || isReadOnly) return
          event.preventDefault()
          void run(save)
        }}
      >
        {form.refusal !== '' && <Refusal text={form.refusal} onReload={form.isStale ? onReload : undefined} />}
        <Fields collection={collection} record={isNew ? undefined : id} form={form} />
      </form>
    </Dialog>
  )
}

function Actions({ collection, row, onClose, onDuplicate }: RecordFormProps & { readonly row: Row }): ReactNode {
  const environment = useEnvironment()
  const remove = (): void => {
    onClose()
    deleteWithUndo(environment, collection, [row.id])
  }
  const showRevisions = (): void => goTo(['couchdb', 'databases', collection.name], { revisions: row.id })
  const showAccount = (): void => goTo(['access', 'accounts'], { collection: collection.name, account: row.id })
  const items: readonly MenuItem[] = [
    { label: texts.duplicate, icon: 'copy', onPress: () => askBefore(() => onDuplicate(row.id)) },
    {
      label: texts.revisions,
      icon: 'relation',
      isDisabled: !hasRevisions(collection),
      onPress: () => askBefore(showRevisions),
    },
    ...(collection.type === 'auth'
      ? [{ label: texts.account, icon: 'users', onPress: () => askBefore(showAccount) } as const]
      : []),
    { label: texts.copyId, icon: 'key', onPress: () => copyText(row.id) },
    { label: texts.copyJson, icon: 'json', onPress: () => copyText(JSON.stringify(row, undefined, 2)) },
    { label: TEXTS.copy.asSdk, icon: 'code', onPress: () => copyText(recordAsSdk(collection, row.id)) },
    { label: TEXTS.copy.asCurl, icon: 'code', onPress: () => copyText(recordAsCurl(collection, row.id)) },
    { label: texts.delete, icon: 'trash', isDanger: true, onPress: remove },
  ]
  return <Menu label={texts.more} icon="more" className="button-quiet" items={items} />
}

/** CouchDB's door has no views, and no collections of the system. */
function hasRevisions({ type, system }: Collection): boolean {
  return type !== 'view' && !system
}

interface RefusalProps {
  readonly text: string
  readonly onReload: (() => void) | undefined
}

function Refusal({ text, onReload }: RefusalProps): ReactNode {
  return (
    <div className="refusal" role="alert">
      <p>{text}</p>
      {onReload !== undefined && (
        <Button kind="quiet" icon="refresh" onPress={onReload}>
          {texts.reload}
        </Button>
      )}
    </div>
  )
}

interface FieldsProps {
  readonly collection: Collection
  readonly record: string | undefined
  readonly form: DraftForm
}

function Fields({ collection, record, form }: FieldsProps): ReactNode {
  return formFields(collection).map((field) => (
    <FormField
      key={field.id}
      label={field.name}
      icon={kindOf(field).icon}
      isRequired={field.required === true && field.primaryKey !== true}
      help={field.help === '' ? undefined : field.help}
      error={form.errors[field.name]}
    >
      {(control) => (
        <FieldInput
          collection={collection}
          field={field}
          record={record}
          value={form.draft[field.name]}
          onValue={(value) => form.change(field.name, value)}
          control={control}
        />
      )}
    </FormField>
  ))
}
