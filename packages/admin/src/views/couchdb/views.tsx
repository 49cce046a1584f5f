/** Design documents and their views: run one, with keys and a reduction, and edit what it is. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { listDesigns, runView } from '../../api/couchdb.ts'
import type { Document, ViewRow } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { DocumentEditor } from './document-editor.tsx'

const { couchdb: texts } = OPERATIONS
const ROWS_MAX = 100
/** The content with which a new design document begins. */
const NEW_DESIGN = {
  _id: '_design/example',
  views: { by_type: { map: 'function (doc) {\n  emit(doc.type, 1)\n}', reduce: '_count' } },
}

interface NamedView {
  readonly design: string
  readonly view: string
  readonly map: string
  readonly reduce: string
}

export function Views({ database }: { readonly database: string }): ReactNode {
  const { query } = useRoute()
  const { value, error, reload } = useLoaded(database, (signal) => listDesigns(database, signal))
  const edited = query['edit']
  const views = value?.flatMap(viewsOf) ?? []
  const chosen = views.find(({ design, view }) => `${design}/${view}` === query['view']) ?? views[0]
  return (
    <>
      <div className="part-actions">
        <p className="muted">{texts.viewsText}</p>
        <Button kind="primary" icon="add" onPress={() => changeQuery({ edit: 'new' })}>
          {texts.newDesign}
        </Button>
      </div>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value?.length === 0 && <Notice icon="view" title={texts.noViews} text={texts.noViewsText} />}
      {value !== undefined && value.length > 0 && (
        <div className="split">
          <DesignList database={database} designs={value} chosen={chosen} />
          {chosen !== undefined && (
            <ViewRun key={`${chosen.design}/${chosen.view}`} database={database} chosen={chosen} />
          )}
        </div>
      )}
      {edited !== undefined && (
        <DocumentEditor
          key={edited}
          database={database}
          id={edited === 'new' ? undefined : edited}
          draft={NEW_DESIGN}
          onClose={() => changeQuery({ edit: undefined })}
          onChanged={reload}
        />
      )}
    </>
  )
}

function viewsOf({ _id: design, views }: Document): readonly NamedView[] {
  return Object.entries((views ?? {}) as Readonly<Record<string, { map?: unknown; reduce?: unknown }>>).map(
    ([view, { map, reduce }]) => ({ design, view, map: textOf(map), reduce: textOf(reduce) }),
  )
}

/** The view of an index of Mango is an object. */
function textOf(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

interface DesignListProps {
  readonly database: string
  readonly designs: readonly Document[]
  readonly chosen: NamedView | undefined
}

function DesignList({ database, designs, chosen }: DesignListProps): ReactNode {
  const path = ['couchdb', 'databases', database, 'views']
  return (
    <nav className="designs" aria-label={texts.designs}>
      {designs.map((design) => (
        <section key={design._id} aria-label={design._id}>
          <div className="design-head">
            <code>{design._id}</code>
            <Button
              kind="quiet"
              icon="edit"
              label={texts.edit(design._id)}
              onPress={() => changeQuery({ edit: design._id })}
            />
          </div>
          <ul className="links">
            {viewsOf(design).map(({ view }) => (
              <li key={view}>
                <a
                  href={linkTo(path, { view: `${design._id}/${view}` })}
                  aria-current={chosen?.design === design._id && chosen.view === view ? 'page' : undefined}
                >
                  <span>{view}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

interface ViewRunProps {
  readonly database: string
  readonly chosen: NamedView
}

function ViewRun({ database, chosen: { design, view, map, reduce } }: ViewRunProps): ReactNode {
  const [key, setKey] = useState('')
  const [group, setGroup] = useState('rows')
  const [asked, setAsked] = useState<Readonly<Record<string, string | number | boolean>>>(queryOf('', 'rows'))
  const { value, error, reload } = useLoaded(JSON.stringify(asked), (signal) =>
    runView(database, design, view, asked, signal),
  )
  return (
    <section className="view-run" aria-labelledby="view-run">
      <h2 id="view-run">{view}</h2>
      <pre className="facts-json" tabIndex={0} role="region" aria-label={texts.map}>
        {map}
        {reduce !== '' && `\n\n${texts.reduction(reduce)}`}
      </pre>
      <form
        className="view-query"
        onSubmit={(event) => {
          event.preventDefault()
          setAsked(queryOf(key, group))
        }}
      >
        <TextInput label={texts.key} help={texts.keyHelp} value={key} onValue={setKey} spellCheck={false} />
        {reduce !== '' && (
          <FormField label={texts.rows}>
            {(control) => (
              <select {...control} className="input" value={group} onChange={({ target }) => setGroup(target.value)}>
                {Object.entries(texts.groups).map(([name, title]) => (
                  <option key={name} value={name}>
                    {title}
                  </option>
                ))}
              </select>
            )}
          </FormField>
        )}
        <Button kind="primary" type="submit">
          {texts.run}
        </Button>
      </form>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value !== undefined && (
        <>
          <p role="status" className="muted">
            {texts.shownRows(value.rows.length, value.total_rows)}
          </p>
          <DataTable
            label={texts.rows}
            columns={columnsOf(database)}
            rows={value.rows.map((row, at) => ({ ...row, at }))}
            keyOf={({ at }) => String(at)}
          />
        </>
      )}
    </section>
  )
}

function queryOf(key: string, group: string): Readonly<Record<string, string | number | boolean>> {
  return {
    limit: ROWS_MAX,
    ...(key.trim() !== '' && { key: jsonOf(key.trim()) }),
    ...(group === 'rows' ? { reduce: false } : { group: group === 'groups' }),
  }
}

/** A value for the server: text that is no JSON becomes a string. */
function jsonOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return JSON.stringify(text)
  }
}

function columnsOf(database: string): readonly DataColumn<ViewRow>[] {
  return [
    { name: 'key', title: texts.key, cell: ({ key }) => <code>{JSON.stringify(key)}</code> },
    { name: 'value', title: texts.value, cell: ({ value }) => <code>{JSON.stringify(value)}</code> },
    {
      name: 'id',
      title: texts.id,
      cell: ({ id }) =>
        id === undefined ? (
          <span className="muted">–</span>
        ) : (
          <a href={linkTo(['couchdb', 'databases', database, 'documents'], { doc: id })}>
            <code>{id}</code>
          </a>
        ),
    },
  ]
}
