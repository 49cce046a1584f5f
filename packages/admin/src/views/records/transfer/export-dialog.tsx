/** Exports the records of the list to a file. */
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../../api/collections.ts'
import { Button } from '../../../parts/button.tsx'
import { CancelButton, Dialog } from '../../../parts/dialog.tsx'
import { useDownload } from '../../../parts/copy.ts'
import { FormField } from '../../../parts/form-field.tsx'
import { TRANSFER } from '../../../texts/transfer.ts'
import { exportRecords } from './export-records.ts'
import type { Format } from './export-records.ts'

const { export: texts } = TRANSFER
const FORMATS = ['csv', 'json'] as const

interface ExportDialogProps {
  readonly collection: Collection
  readonly filter: string
  readonly onClose: () => void
}

export function ExportDialog({ collection, filter, onClose }: ExportDialogProps): ReactNode {
  const download = useDownload()
  const [format, setFormat] = useState<Format>('csv')
  const [done, setDone] = useState<number>()
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const start = async (): Promise<void> => {
    setDone(0)
    const { signal } = stop.current
    try {
      const blob = await exportRecords(collection, { filter, format, onProgress: setDone, signal })
      download(blob, `${collection.name}.${format}`)
      onClose()
    } finally {
      setDone(undefined)
    }
  }
  return (
    <Dialog
      title={texts.title(collection.name)}
      onClose={onClose}
      footer={
        <>
          <CancelButton />
          <Button kind="primary" icon="download" onPress={start}>
            {texts.submit}
          </Button>
        </>
      }
    >
      <div className="form">
        <p>{filter === '' ? texts.all : texts.filtered}</p>
        <FormField label={texts.format}>
          {(control) => (
            <select
              {...control}
              className="input"
              value={format}
              onChange={({ target }) => setFormat(target.value as Format)}
            >
              {FORMATS.map((option) => (
                <option key={option} value={option}>
                  {texts.formats[option]}
                </option>
              ))}
            </select>
          )}
        </FormField>
        <p role="status">{done === undefined ? '' : texts.progress(done)}</p>
      </div>
    </Dialog>
  )
}
