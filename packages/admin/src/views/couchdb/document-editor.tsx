/** A document as JSON, in a sheet at the side. A write that has met another one is refused, and what was typed stays. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { deleteDocument, readDocument, saveDocument } from '../../api/couchdb.ts'
import type { Document } from '../../api/couchdb.ts'
import { isObject } from '../../api/request.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { CodeEditor } from '../../parts/code-editor/code-editor.tsx'
import { CancelButton, Dialog } from '../../parts/dialog.tsx'
import { confirm } from '../../state/question.ts'
import { Failed, Loading } from '../../parts/loading.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useIsGone } from '../../parts/use-is-gone.ts'
import { useLoaded } from '../../parts/use-loaded.ts'
import { askBefore, changeQuery } from '../../state/route.ts'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { Attachments } from './attachments.tsx'

const { couchdb: texts } = OPERATIONS

/** The address of a new one. No id of a document begins so. */
export const NEW_DOCUMENT = '_new'

interface DocumentEditorProps {
  readonly database: string
  /** Undefined: a new one. */
  readonly id: string | undefined
  /** The content with which a new document begins. */
  readonly draft?: Readonly<Record<string, unknown>>
  readonly onClose: () => void
  readonly onChanged: () => Promise<void>
}

export function DocumentEditor({ database, id, draft, onClose, onChanged }: DocumentEditorProps): ReactNode {
  const { value, error, reload } = useLoaded(`${database} ${id ?? ''}`, (signal) =>
    id === undefined ? Promise.resolve(undefined) : readDocument(database, id, signal),
  )
  const [text, setText] = useText(value, id === undefined ? jsonOf(draft ?? { _id: '' }) : undefined)
  const [refusal, setRefusal] = useState('')
  const { isBusy, run } = useBusy()
  const isChanged = text !== undefined && text !== jsonOf(value ?? draft ?? { _id: '' })
  const isGone = useIsGone()
  const changed = async (): Promise<void> => {
    // By now the user may have gone to another document, whose editor is not to be closed.
    if (!isGone()) onClose()
    await onChanged()
  }
  const save = async (): Promise<void> => {
    setRefusal('')
    try {
      await saveDocument(database, documentIn(text ?? ''))
      showDone(texts.saved)
      await changed()
    } catch (failure) {
      setRefusal(failure instanceof SyntaxError ? texts.malformed(failure.message) : errorText(failure))
    }
  }
  const footer = (
    <>
      {value !== undefined && <Actions database={database} document={value} onDeleted={changed} />}
      <CancelButton />
      <Button kind="primary" disabled={isBusy || (id !== undefined && !isChanged)} onPress={() => run(save)}>
        {TEXTS.records.form.save}
      </Button>
    </>
  )
  return (
    <Dialog
      title={id === undefined ? texts.newDocument : texts.document}
      subtitle={id !== undefined && <code className="cell-id">{id}</code>}
      place="side"
      onClose={onClose}
      isUnsaved={isChanged}
      footer={footer}
    >
      {text === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {text !== undefined && (
        <div className="code-panel">
          <CodeEditor language="json" label={texts.json} value={text} onValue={setText} />
        </div>
      )}
      <p className="refusal" role="alert" hidden={refusal === ''}>
        {refusal}
      </p>
      {value !== undefined && (
        <Attachments
          database={database}
          document={value}
          isChanged={isChanged}
          onChanged={async () => {
            await reload()
            await onChanged()
          }}
        />
      )}
    </Dialog>
  )
}

/** The text in the editor: `first`, until a loaded document takes its place. */
function useText(
  loaded: Document | undefined,
  first: string | undefined,
): readonly [text: string | undefined, setText: (text: string) => void] {
  const [text, setText] = useState(first)
  useEffect(() => {
    if (loaded !== undefined) setText(jsonOf(loaded))
  }, [loaded])
  return [text, setText]
}

interface ActionsProps {
  readonly database: string
  readonly document: Document
  readonly onDeleted: () => Promise<void>
}

function Actions({ database, document, onDeleted }: ActionsProps): ReactNode {
  const remove = async (): Promise<void> => {
    const question = { title: texts.deleteDocument(document._id), text: texts.deleteDocumentText, isDanger: true }
    if (!(await confirm({ ...question, yes: texts.deleteYes }))) return
    await deleteDocument(database, document)
    await onDeleted()
  }
  const compare = (): void => changeQuery({ doc: undefined, edit: undefined, revisions: document._id })
  const duplicate = (): void => changeQuery({ doc: NEW_DOCUMENT, edit: undefined, copyOf: document._id })
  return (
    <>
      <Button icon="copy" onPress={() => askBefore(duplicate)}>
        {texts.duplicate}
      </Button>
      <Button icon="relation" onPress={() => askBefore(compare)}>
        {texts.revisions}
      </Button>
      <Button kind="danger" icon="trash" onPress={remove}>
        {texts.delete}
      </Button>
    </>
  )
}

/** The content with which a copy of a document begins. Attachments stay with the first one. */
export function draftOf({
  _id,
  _rev,
  _attachments,
  _conflicts,
  ...content
}: Document): Readonly<Record<string, unknown>> {
  return { _id: `${_id}-copy`, ...content }
}

/** @throws SyntaxError for what is no document */
function documentIn(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new SyntaxError(texts.noObject)
  const { _conflicts, ...document } = value
  if (typeof document['_id'] !== 'string' || document['_id'] === '') throw new SyntaxError(texts.noId)
  return document
}

function jsonOf(document: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(document, undefined, 2)
}
