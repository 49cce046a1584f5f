/** The values of a refused change, to be mended and sent again. */
import type { RejectedWrite } from '@pannier/client'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import type { Row } from '../../api/records.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { findCollection, useCollections } from '../../state/collections.ts'
import { DEVICE } from '../../texts/device.ts'
import { DraftError, kindOf } from '../kinds.ts'
import { draftOf, formFields } from '../records/form/draft.ts'
import { FieldInput } from '../records/form/field-input.tsx'
import { messageOf } from './write-parts.tsx'

const { refused: texts } = DEVICE

interface MendProps {
  readonly rejected: RejectedWrite
  readonly onClose: () => void
}

export function MendDialog({ rejected, onClose }: MendProps): ReactNode {
  const { list } = useCollections()
  const write = rejected.writes[rejected.at]
  const collection = write && findCollection(list, write.collection)
  if (collection === undefined) return null
  return (
    <Dialog title={texts.mendTitle(collection.name)} place="side" onClose={onClose}>
      <Mend collection={collection} rejected={rejected} onClose={onClose} />
    </Dialog>
  )
}

function Mend({ collection, rejected, onClose }: MendProps & { readonly collection: Collection }): ReactNode {
  const write = rejected.writes[rejected.at]!
  const { mine } = write
  const fields = formFields(collection).filter(({ name }) => Object.hasOwn(mine, name) && name !== 'id')
  const [draft, setDraft] = useState(() => draftOf(collection, mine as Row))
  const [errors, setErrors] = useState<Readonly<Record<string, unknown>>>(rejected.data)
  const save = async (): Promise<string | undefined> => {
    try {
      const values = Object.fromEntries(
        fields.map((field) => [field.name, kindOf(field).sent(field, draft[field.name])]),
      )
      await rejected.retry((one) => (one === write ? { ...mine, ...values } : one.mine))
    } catch (error) {
      if (!(error instanceof DraftError)) throw error
      setErrors({ [error.field]: { message: error.message } })
      return undefined
    }
    showDone(texts.sent)
    onClose()
    return undefined
  }
  return (
    <Form onSubmit={save} submit={texts.save}>
      {fields.map((field) => (
        <FormField
          key={field.id}
          label={field.name}
          icon={kindOf(field).icon}
          help={
            field.name in (rejected.theirs ?? {})
              ? `${texts.theirs}: ${String(rejected.theirs![field.name])}`
              : undefined
          }
          error={messageOf(errors[field.name])}
        >
          {(control) => (
            <FieldInput
              collection={collection}
              field={field}
              record={write.action === 'create' ? undefined : write.id}
              value={draft[field.name]}
              onValue={(value) => setDraft({ ...draft, [field.name]: value })}
              control={control}
            />
          )}
        </FormField>
      ))}
    </Form>
  )
}
