/** Makes records from a file: all of them, or none. Its columns are matched to fields, and a check says what would be refused. */
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../../api/collections.ts'
import { importRecords } from '../../../api/imports.ts'
import { fieldErrorsOf } from '../../../api/request.ts'
import { Button } from '../../../parts/button.tsx'
import { CancelButton, Dialog } from '../../../parts/dialog.tsx'
import { FormField } from '../../../parts/form-field.tsx'
import { TEXTS } from '../../../texts.ts'
import { TRANSFER } from '../../../texts/transfer.ts'
import { guessMapping, importedFields, readImport, valuesOf } from './import-values.ts'
import type { ImportedFile, Mapping, WrongRow } from './import-values.ts'

const { import: texts } = TRANSFER
const SHOWN_MAX = 20
const SAMPLE_CHARS = 40

interface ImportDialogProps {
  readonly collection: Collection
  readonly onClose: () => void
}

/** The result of a check, or of the import. */
interface Result {
  readonly isDone: boolean
  readonly wrong: readonly WrongRow[]
}

interface Import {
  readonly file: ImportedFile | undefined
  /** Why the chosen file can't be read. */
  readonly error: string | undefined
  readonly mapping: Mapping
  readonly isUpsert: boolean
  readonly result: Result | undefined
  readonly choose: (file: File | undefined) => Promise<void>
  readonly map: (mapping: Mapping) => void
  readonly setUpsert: (isUpsert: boolean) => void
  readonly send: (dryRun: boolean) => Promise<void>
}

/** The state of the import, until the dialog closes. */
function useImport(collection: Collection): Import {
  const [file, setFile] = useState<ImportedFile>()
  const [mapping, setMapping] = useState<Mapping>(new Map())
  const [isUpsert, setUpsert] = useState(false)
  const [error, setError] = useState<string>()
  const [result, setResult] = useState<Result>()
  const stop = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    stop.current = controller
    return () => controller.abort()
  }, [])
  const choose = async (chosen: File | undefined): Promise<void> => {
    setError(undefined)
    setFile(undefined)
    setResult(undefined)
    if (chosen === undefined) return
    try {
      const read = readImport(chosen.name, await chosen.text())
      setFile(read)
      setMapping(guessMapping(collection, read.columns))
    } catch (thrown) {
      setError(texts.unreadable((thrown as Error).message))
    }
  }
  const map = (next: Mapping): void => {
    setResult(undefined)
    setMapping(next)
  }
  const send = async (dryRun: boolean): Promise<void> => {
    setResult(undefined)
    const { values, wrong } = valuesOf(collection, file!, mapping)
    if (wrong.length > 0) return setResult({ isDone: false, wrong })
    const refused = await importRecords(collection.name, values, { upsert: isUpsert, dryRun }, stop.current.signal)
    const said = refused.map(({ index, message, data }) => ({ row: index + 1, message: textOf(message, data) }))
    setResult({ isDone: !dryRun && refused.length === 0, wrong: said })
  }
  return { file, error, mapping, isUpsert, result, choose, map, setUpsert, send }
}

export function ImportDialog({ collection, onClose }: ImportDialogProps): ReactNode {
  const { file, error, mapping, isUpsert, result, choose, map, setUpsert, send } = useImport(collection)
  const isDone = result?.isDone === true
  const count = file?.rows.length ?? 0
  const isReady = count > 0 && mapping.size > 0
  return (
    <Dialog
      title={texts.title(collection.name)}
      onClose={onClose}
      footer={
        <>
          <CancelButton>{isDone ? TEXTS.actions.close : TEXTS.actions.cancel}</CancelButton>
          {file !== undefined && !isDone && (
            <>
              <Button disabled={!isReady} onPress={() => send(true)}>
                {texts.check}
              </Button>
              <Button kind="primary" icon="upload" disabled={!isReady} onPress={() => send(false)}>
                {texts.submit(count)}
              </Button>
            </>
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
        {file !== undefined && !isDone && (
          <Columns collection={collection} file={file} mapping={mapping} onMapping={map} />
        )}
        {!isDone && [...mapping.values()].includes('id') && (
          <label className="check">
            <input type="checkbox" checked={isUpsert} onChange={({ target }) => setUpsert(target.checked)} />
            {texts.upsert}
          </label>
        )}
        {result !== undefined && <Outcome count={count} result={result} />}
      </div>
    </Dialog>
  )
}

function textOf(message: string, data: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(fieldErrorsOf(data)).map(([name, wrong]) => `${name}: ${wrong.message}`)
  return fields.length > 0 ? fields.join(' ') : message
}

interface ColumnsProps {
  readonly collection: Collection
  readonly file: ImportedFile
  readonly mapping: Mapping
  readonly onMapping: (mapping: Mapping) => void
}

/** Which field takes which column. A field takes one. */
function Columns({ collection, file, mapping, onMapping }: ColumnsProps): ReactNode {
  const fields = importedFields(collection)
  const put = (column: string, name: string): void => {
    const next = new Map([...mapping].filter(([one, taken]) => one !== column && taken !== name))
    onMapping(name === '' ? next : next.set(column, name))
  }
  return (
    <fieldset className="import-columns">
      <legend className="field-label">{texts.columns}</legend>
      {file.columns.map((column) => (
        <FormField key={column} label={column} help={sampleOf(file, column)}>
          {(control) => (
            <select
              {...control}
              className="input"
              value={mapping.get(column) ?? ''}
              onChange={({ target }) => put(column, target.value)}
            >
              <option value="">{texts.leaveOut}</option>
              {fields.map(({ id, name }) => (
                <option key={id}>{name}</option>
              ))}
            </select>
          )}
        </FormField>
      ))}
    </fieldset>
  )
}

/** The first value of a column. */
function sampleOf({ rows }: ImportedFile, column: string): string | undefined {
  const value = rows.map((row) => row[column]).find((one) => one !== undefined && one !== '')
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return texts.sample(text.length > SAMPLE_CHARS ? `${text.slice(0, SAMPLE_CHARS)}…` : text)
}

function Outcome({ count, result: { isDone, wrong } }: { readonly count: number; readonly result: Result }): ReactNode {
  if (wrong.length === 0) return <p role="status">{isDone ? texts.made(count) : texts.fits(count)}</p>
  return (
    <div className="refusal" role="alert">
      <p>{texts.refused}</p>
      <ul>
        {wrong.slice(0, SHOWN_MAX).map(({ row, message }, at) => (
          <li key={at}>{texts.refusal(row, message)}</li>
        ))}
        {wrong.length > SHOWN_MAX && <li>{texts.others(wrong.length - SHOWN_MAX)}</li>}
      </ul>
    </div>
  )
}
