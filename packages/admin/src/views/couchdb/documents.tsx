/** The documents of a database in the order of their ids, a page at a time, and each as JSON. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { deleteDocuments, listDocuments, readDocument } from '../../api/couchdb.ts'
import type { ViewRow } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../state/question.ts'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { showError } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { DocumentEditor, draftOf, NEW_DOCUMENT } from './document-editor.tsx'
import { IdForm } from './id-form.tsx'

const { couchdb: texts } = OPERATIONS
const PAGE = 50
const TEXT_MAX = 160

export function Documents({ database }: { readonly database: string }): ReactNode {
  const { from = '', doc } = useRoute().query
  // One more: the begin of the next page.
  const { value, error, reload } = useLoaded(`${database} ${from}`, (signal) =>
    listDocuments(database, from, PAGE + 1, signal),
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string): void =>
    setChosen((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    )
  const next = value?.rows[PAGE]?.id
  const rows = value?.rows.slice(0, PAGE) ?? []
  const chosenRows = rows.flatMap(({ doc: one }) => (one && chosen.has(one._id) ? [one] : []))
  const remove = async (): Promise<void> => {
    const question = { title: texts.deleteChosen(chosenRows.length), text: texts.deleteDocumentText, isDanger: true }
    if (!(await confirm({ ...question, yes: texts.deleteYes }))) return
    const left = await deleteDocuments(database, chosenRows)
    setChosen(new Set())
    if (left.length > 0) showError(texts.notDeleted(left))
    await reload()
  }
  return (
    <>
      <div className="part-actions">
        <IdForm label={texts.fromId} id={from} onId={(id) => changeQuery({ from: id })} />
        {chosenRows.length > 0 && (
          <Button kind="danger" icon="trash" onPress={remove}>
            {texts.deleteOfChosen(chosenRows.length)}
          </Button>
        )}
        <Button kind="primary" icon="add" onPress={() => changeQuery({ doc: NEW_DOCUMENT })}>
          {texts.newDocument}
        </Button>
      </div>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value?.rows.length === 0 && <Notice icon="file" title={texts.noDocuments} />}
      {rows.length > 0 && (
        <DataTable
          label={texts.documents}
          columns={columnsOf(database, chosen, toggle)}
          rows={rows}
          keyOf={({ id }) => String(id)}
        />
      )}
      {next !== undefined && (
        <div>
          <Button onPress={() => changeQuery({ from: next })}>{texts.next}</Button>
        </div>
      )}
      {doc !== undefined && <OpenDocument key={doc} database={database} id={doc} onChanged={reload} />}
    </>
  )
}

interface OpenDocumentProps {
  readonly database: string
  /** The id as the address has it. */
  readonly id: string
  readonly onChanged: () => Promise<void>
}

/** A copy begins with what the other document has. */
function OpenDocument({ database, id, onChanged }: OpenDocumentProps): ReactNode {
  const { copyOf } = useRoute().query
  const { value: copied } = useLoaded(`${database} ${copyOf ?? ''}`, async (signal) =>
    copyOf === undefined ? undefined : readDocument(database, copyOf, signal),
  )
  if (copyOf !== undefined && copied === undefined) return null
  return (
    <DocumentEditor
      database={database}
      id={id === NEW_DOCUMENT ? undefined : id}
      {...(copied !== undefined && { draft: draftOf(copied) })}
      onClose={() => changeQuery({ doc: undefined, copyOf: undefined })}
      onChanged={onChanged}
    />
  )
}

function columnsOf(
  database: string,
  chosen: ReadonlySet<string>,
  onToggle: (id: string) => void,
): readonly DataColumn<ViewRow>[] {
  return [
    {
      name: 'choose',
      title: texts.choose,
      isActions: true,
      cell: ({ id = '' }) => (
        <label className="scope">
          <input
            type="checkbox"
            aria-label={texts.chooseOf(id)}
            checked={chosen.has(id)}
            onChange={() => onToggle(id)}
          />
        </label>
      ),
    },
    {
      name: 'id',
      title: texts.id,
      cell: ({ id = '' }) => (
        <a href={linkTo(['couchdb', 'databases', database, 'documents'], { doc: id })}>
          <code className="short-id" title={id}>
            {id}
          </code>
        </a>
      ),
    },
    {
      name: 'rev',
      title: texts.revision,
      cell: ({ doc }) => <code className="short-id muted">{shortRev(doc?._rev)}</code>,
    },
    { name: 'content', title: texts.content, cell: ({ doc }) => <code className="one-line">{contentOf(doc)}</code> },
  ]
}

function shortRev(rev = ''): string {
  return rev.replace(/^(\d+-.{6}).*$/, '$1…')
}

function contentOf(doc: ViewRow['doc']): string {
  const { _id, _rev, ...rest } = doc ?? {}
  const text = JSON.stringify(rest)
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text
}
