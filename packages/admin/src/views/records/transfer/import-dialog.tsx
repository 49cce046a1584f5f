/** Makes records from a file. What the server refuses is listed; all others are made. */
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../../api/collections.ts'
import { createRecord } from '../../../state/device/records.ts'
import { ApiError } from '../../../api/request.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { FormField } from '../../../parts/form-field.tsx'
import { errorText } from '../../../parts/toasts.tsx'
import { TEXTS } from '../../../texts.ts'
import { TRANSFER } from '../../../texts/transfer.ts'
import { readImport } from './import-values.ts'
import type { ImportedFile } from './import-values.ts'

const { import: texts } = TRANSFER
const AT_ONCE = 6
const SHOWN_MAX = 20

interface Refused {
  /** The place in the file; the first is 1. */
  readonly row: number
  readonly message: string
}

interface Progress {
  readonly done: number
  readonly refused: readonly Refused[]
}

interface ImportDialogProps {
  readonly collection: Collection
  readonly onClose: () => void
}

export function ImportDialog({ collection, onClose }: ImportDialogProps): ReactNode {
  const [file, setFile] = useState<ImportedFile>()
  const [error, setError] = useState<string>()
  const [progress, setProgress] = useState<Progress>()
  const isClosed = useRef(false)
  useEffect(
    () => () => {
      isClosed.current = true
    },
    [],
  )
  const choose = async (chosen: File | undefined): Promise<void> => {
    setError(undefined)
    setFile(undefined)
    setProgress(undefined)
    if (chosen === undefined) return
    try {
      setFile(readImport(collection, chosen.name, await chosen.text()))
    } catch (thrown) {
      setError(texts.unreadable((thrown as Error).message))
    }
  }
  const start = async (): Promise<void> => importAll(collection, file!, setProgress, () => isClosed.current)
  const isOver = progress !== undefined && progress.done === file?.rows.length
  return (
    <Dialog
      title={texts.title(collection.name)}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{isOver ? TEXTS.actions.close : TEXTS.actions.cancel}</Button>
          {file !== undefined && !isOver && (
            <Button kind="primary" icon="upload" disabled={file.rows.length === 0} onPress={start}>
              {texts.submit(file.rows.length)}
            </Button>
          )}
        </>
      }
    >
      <div className="form">
        <FormField label={texts.file} help={texts.fileHelp} error={error}>
          {(control) => (
            <input
              {...control}
              className="input"
              type="file"
              accept=".csv,.json"
              onChange={({ target }) => void choose(target.files?.[0])}
            />
          )}
        </FormField>
        {file !== undefined && file.leftOut.length > 0 && <p>{texts.leftOut(file.leftOut)}</p>}
        {file !== undefined && progress !== undefined && <Result all={file.rows.length} progress={progress} />}
      </div>
    </Dialog>
  )
}

function Result({ all, progress }: { readonly all: number; readonly progress: Progress }): ReactNode {
  const { done, refused } = progress
  return (
    <>
      <p role="status">{done < all ? texts.progress(done, all) : texts.made(all - refused.length)}</p>
      {refused.length > 0 && (
        <div className="refusal" role="alert">
          <p>{texts.refused(refused.length)}</p>
          <ul>
            {refused.slice(0, SHOWN_MAX).map(({ row, message }) => (
              <li key={row}>{texts.refusal(row, message)}</li>
            ))}
            {refused.length > SHOWN_MAX && <li>{texts.others(refused.length - SHOWN_MAX)}</li>}
          </ul>
        </div>
      )}
    </>
  )
}

/** @throws ApiError what is no fault of a record, as a server that is away; the records before are made */
async function importAll(
  collection: Collection,
  { rows }: ImportedFile,
  onProgress: (progress: Progress) => void,
  isStopped: () => boolean,
): Promise<void> {
  const waiting = [...rows.entries()]
  const refused: Refused[] = []
  let done = 0
  onProgress({ done, refused: [] })
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !isStopped(); next = waiting.shift()) {
      const [at, values] = next
      try {
        await createRecord(collection.name, values)
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 400) {
          waiting.length = 0
          throw error
        }
        refused.push({ row: at + 1, message: errorText(error) })
        refused.sort((a, b) => a.row - b.row)
      }
      onProgress({ done: ++done, refused: [...refused] })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
