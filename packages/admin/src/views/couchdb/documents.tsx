/** The documents of a database in the order of their ids, a page at a time, and each as JSON. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { listDocuments } from '../../api/couchdb.ts'
import type { ViewRow } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { DocumentEditor } from './document-editor.tsx'

const { couchdb: texts } = OPERATIONS
const PAGE = 50
const TEXT_MAX = 160

export function Documents({ database }: { readonly database: string }): ReactNode {
  const { query } = useRoute()
  const { from = '', doc } = query
  const [text, setText] = useState(from)
  // One more: the begin of the next page.
  const { value, error, reload } = useLoaded(`${database} ${from}`, (signal) =>
    listDocuments(database, from, PAGE + 1, signal),
  )
  const next = value?.rows[PAGE]?.id
  return (
    <>
      <div className="part-actions">
        <form
          className="from-form"
          onSubmit={(event) => {
            event.preventDefault()
            changeQuery({ from: text.trim() })
          }}
        >
          <input
            className="input"
            type="search"
            aria-label={texts.fromId}
            placeholder={texts.fromId}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <Button type="submit">{texts.go}</Button>
        </form>
        <Button kind="primary" icon="add" onPress={() => changeQuery({ doc: NEW })}>
          {texts.newDocument}
        </Button>
      </div>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value?.rows.length === 0 && <Notice icon="file" title={texts.noDocuments} />}
      {value !== undefined && value.rows.length > 0 && (
        <DataTable
          label={texts.documents}
          columns={columnsOf(database)}
          rows={value.rows.slice(0, PAGE)}
          keyOf={({ id }) => String(id)}
        />
      )}
      {next !== undefined && (
        <div>
          <Button
            onPress={() => {
              setText(next)
              changeQuery({ from: next })
            }}
          >
            {texts.next}
          </Button>
        </div>
      )}
      {doc !== undefined && (
        <DocumentEditor
          database={database}
          id={doc === NEW ? undefined : doc}
          onClose={() => changeQuery({ doc: undefined })}
          onChanged={reload}
        />
      )}
    </>
  )
}

/** No id of a document begins so. */
const NEW = '_new'

function columnsOf(database: string): readonly DataColumn<ViewRow>[] {
  return [
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
