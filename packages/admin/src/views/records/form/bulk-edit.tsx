/** One field of all records that are selected. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection, Field } from '../../../api/collections.ts'
import { ApiError } from '../../../api/request.ts'
import { Button } from '../../../parts/button.tsx'
import { CancelButton, Dialog } from '../../../parts/dialog.tsx'
import { FormField } from '../../../parts/form-field.tsx'
import { errorText, showDone } from '../../../parts/toasts.tsx'
import { TEXTS } from '../../../texts.ts'
import { DraftError, kindOf } from '../../kinds.ts'
import { editRecords } from '../edit-records.ts'
import { draftOf, formFields } from './draft.ts'
import { FieldInput } from './field-input.tsx'

const { bulk: texts } = TEXTS.records

interface BulkEditProps {
  readonly collection: Collection
  readonly ids: readonly string[]
  readonly onClose: () => void
}

/** Files and passwords belong to one record. */
function bulkFields(collection: Collection): readonly Field[] {
  return formFields(collection).filter((field) => {
    const { holds, isHashed } = kindOf(field)
    return holds !== 'files' && !isHashed && field.primaryKey !== true
  })
}

export function BulkEdit({ collection, ids, onClose }: BulkEditProps): ReactNode {
  const fields = bulkFields(collection)
  const [name, setName] = useState(fields[0]?.name ?? '')
  const [draft, setDraft] = useState(() => draftOf(collection, undefined))
  const [done, setDone] = useState<number>()
  const [error, setError] = useState<string>()
  const field = fields.find((one) => one.name === name)
  const save = async (): Promise<void> => {
    setError(undefined)
    try {
      const value = kindOf(field!).sent(field!, draft[name])
      setDone(0)
      const { edited, error: failure, undo } = await editRecords(collection, ids, field!, value, setDone)
      if (edited.length > 0) showDone(texts.changed(edited.length), undo)
      if (failure !== undefined) throw failure
      onClose()
    } catch (thrown) {
      setDone(undefined)
      if (thrown instanceof DraftError) setError(thrown.message)
      else if (thrown instanceof ApiError) setError(thrown.fields[name]?.message ?? errorText(thrown))
      else throw thrown
    }
  }
  return (
    <Dialog
      title={texts.title(ids.length)}
      onClose={onClose}
      footer={
        <>
          <CancelButton />
          <Button kind="primary" disabled={field === undefined} onPress={save}>
            {texts.save}
          </Button>
        </>
      }
    >
      <div className="form">
        <FormField label={texts.field}>
          {(control) => (
            <select {...control} className="input" value={name} onChange={({ target }) => setName(target.value)}>
              {fields.map((one) => (
                <option key={one.id}>{one.name}</option>
              ))}
            </select>
          )}
        </FormField>
        {field !== undefined && (
          <FormField label={texts.value} error={error}>
            {(control) => (
              <FieldInput
                key={field.id}
                collection={collection}
                field={field}
                record={undefined}
                value={draft[name]}
                onValue={(value) => setDraft((now) => ({ ...now, [name]: value }))}
                control={control}
              />
            )}
          </FormField>
        )}
        <p role="status">{done === undefined ? '' : texts.progress(done, ids.length)}</p>
      </div>
    </Dialog>
  )
}
