/** The draft of a record: what is wrong with it, and how it is saved. */
import { useState } from 'react'
import type { Collection } from '../../../api/collections.ts'
import { createRecord, updateRecord } from '../../../state/device/records.ts'
import type { Row } from '../../../api/records.ts'
import { ApiError } from '../../../api/request.ts'
import { errorText, reportError } from '../../../parts/toasts.tsx'
import { TEXTS } from '../../../texts.ts'
import { DraftError, kindOf } from '../../kinds.ts'
import { changedValues, draftOf, formFields, isChanged } from './draft.ts'
import type { Draft } from './draft.ts'

const { form: texts } = TEXTS.records

export interface DraftForm {
  readonly draft: Draft
  readonly isChanged: boolean
  readonly errors: Readonly<Record<string, string>>
  readonly refusal: string
  /** Somebody has changed the record since it was loaded. */
  readonly isStale: boolean
  readonly change: (name: string, value: unknown) => void
  /** Whether it was saved. */
  readonly save: () => Promise<boolean>
}

/** `row`: what is changed, undefined for a new record. `copied`: what a new one begins with. */
export function useDraft(collection: Collection, row: Row | undefined, copied: Row | undefined): DraftForm {
  const [before] = useState(() => draftOf(collection, row))
  const [draft, setDraft] = useState(() => (copied === undefined ? before : copyOfDraft(collection, copied)))
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [refusal, setRefusal] = useState('')
  const [isStale, setStale] = useState(false)
  const refuse = (error: unknown): void => {
    if (error instanceof DraftError) return setErrors({ [error.field]: error.message })
    if (!(error instanceof ApiError)) return reportError(error)
    const known = new Set(formFields(collection).map(({ name }) => name))
    const wrong = Object.entries(error.fields)
    setErrors(Object.fromEntries(wrong.map(([name, { message }]) => [name, message])))
    setStale(error.status === 409)
    if (error.status === 409) setRefusal(texts.stale)
    else if (wrong.length === 0 || wrong.some(([name]) => !known.has(name))) setRefusal(errorText(error))
  }
  const save = async (): Promise<boolean> => {
    setErrors({})
    setRefusal('')
    try {
      const values = changedValues(collection, before, draft)
      if (row === undefined) await createRecord(collection.name, values)
      else await updateRecord(collection.name, row.id, values, row['_rev'] as string | undefined)
      return true
    } catch (error) {
      refuse(error)
      return false
    }
  }
  const change = (name: string, value: unknown): void => setDraft((now) => ({ ...now, [name]: value }))
  return { draft, isChanged: isChanged(before, draft), errors, refusal, isStale, change, save }
}

/** Files belong to their record, and an id is given once. */
function copyOfDraft(collection: Collection, row: Row): Draft {
  const own = formFields(collection).filter((field) => kindOf(field).holds === 'files' || field.primaryKey === true)
  return draftOf(collection, { ...row, ...Object.fromEntries(own.map(({ name }) => [name, ''])) })
}
