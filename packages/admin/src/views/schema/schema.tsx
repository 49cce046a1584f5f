/** Definitions as JSON: exported as a file, and imported from one after what it changes was shown. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { importCollections } from '../../api/definitions.ts'
import { listReports } from '../../api/reports.ts'
import { Button } from '../../parts/button.tsx'
import { copyText, useDownload } from '../../parts/copy.ts'
import { FormField } from '../../parts/form-field.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { reloadCollections, useCollections } from '../../state/collections.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { ChangeList } from '../definition/review-dialog.tsx'
import { importedChanges, readDefinitions } from './imported.ts'
import type { ImportedDefinition } from './imported.ts'
import sheet from '../definition/definition.css'

const { schema: texts } = TEXTS

export function View(): ReactNode {
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <header className="view-head">
        <h1>{texts.title}</h1>
      </header>
      <div className="definition">
        <Export />
        <Import />
      </div>
    </>
  )
}

function Export(): ReactNode {
  const download = useDownload()
  const { list } = useCollections()
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const { value: reports = [] } = useLoaded('reports', listReports)
  const chosen = list.filter(({ id }) => !left.has(id))
  const collections = chosen.map(exported)
  const hasReports = reports.length > 0 && !left.has(REPORTS)
  const text = JSON.stringify(hasReports ? { collections, reports: reports.map(exported) } : collections, undefined, 2)
  const toggle = (id: string): void =>
    setLeft(left.has(id) ? new Set([...left].filter((one) => one !== id)) : new Set([...left, id]))
  return (
    <section className="rule-card" aria-labelledby="schema-export">
      <h2 id="schema-export">{texts.export}</h2>
      <p className="def-text">{texts.exportText}</p>
      <div className="choices" role="group" aria-label={texts.collections}>
        {list.map(({ id, name }) => (
          <label key={id} className="choice">
            <input type="checkbox" checked={!left.has(id)} onChange={() => toggle(id)} />
            {name}
          </label>
        ))}
        {reports.length > 0 && (
          <label className="choice">
            <input type="checkbox" checked={hasReports} onChange={() => toggle(REPORTS)} />
            {texts.reports(reports.length)}
          </label>
        )}
      </div>
      <div className="schema-actions">
        <Button
          icon="download"
          disabled={chosen.length === 0}
          onPress={() => download(new Blob([text], { type: 'application/json' }), 'collections.json')}
        >
          {texts.download(chosen.length)}
        </Button>
        <Button icon="copy" disabled={chosen.length === 0} onPress={() => copyText(text)}>
          {texts.copy}
        </Button>
      </div>
    </section>
  )
}

/** No collection has this id. */
const REPORTS = '$reports'

/** A definition as it is exported, without the server's own dates. */
function exported(definition: object): object {
  const { created: _created, updated: _updated, ...values } = definition as Readonly<Record<string, unknown>>
  return values
}

function Import(): ReactNode {
  const { list } = useCollections()
  const [text, setText] = useState('')
  const [deletes, setDeletes] = useState(false)
  const [refusal, setRefusal] = useState<string>()
  const read = text.trim() === '' ? undefined : readDefinitions(text)
  const given = typeof read === 'string' ? undefined : read
  const run = async (): Promise<void> => {
    setRefusal(undefined)
    try {
      await importCollections(given!, deletes)
      await reloadCollections()
      showDone(texts.imported(given!.collections.length + (given!.reports?.length ?? 0)))
      setText('')
    } catch (error) {
      setRefusal(errorText(error))
    }
  }
  return (
    <section className="rule-card" aria-labelledby="schema-import">
      <h2 id="schema-import">{texts.import}</h2>
      <p className="def-text">{texts.importText}</p>
      <FormField label={texts.file}>
        {(control) => (
          <input
            {...control}
            type="file"
            className="input"
            accept=".json,application/json"
            onChange={({ target }) => void target.files?.[0]?.text().then(setText)}
          />
        )}
      </FormField>
      <FormField label={texts.json} error={typeof read === 'string' ? read : undefined}>
        {(control) => (
          <textarea
            {...control}
            className="input input-code"
            rows={8}
            spellCheck={false}
            value={text}
            placeholder='[{ "name": "posts", "type": "base", "fields": [] }]'
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </FormField>
      <label className="flag">
        <input type="checkbox" checked={deletes} onChange={({ target }) => setDeletes(target.checked)} />
        <span>
          {texts.deletes}
          <small>{texts.deletesHelp}</small>
        </span>
      </label>
      {given !== undefined && <Planned list={list} given={given.collections} deletes={deletes} />}
      {given?.reports !== undefined && (
        <p className="def-text">{texts.bringsReports(given.reports.map(({ name }) => String(name)).join(', '))}</p>
      )}
      {refusal !== undefined && (
        <p className="refusal" role="alert">
          {refusal}
        </p>
      )}
      <Button kind={deletes ? 'danger' : 'primary'} icon="upload" disabled={given === undefined} onPress={run}>
        {texts.submit}
      </Button>
    </section>
  )
}

interface PlannedProps {
  readonly list: readonly Collection[]
  readonly given: readonly ImportedDefinition[]
  readonly deletes: boolean
}

/** The changes of the import, by collection. */
function Planned({ list, given, deletes }: PlannedProps): ReactNode {
  const planned = importedChanges(list, given, deletes)
  return (
    <div className="review" role="status">
      <h3>{planned.length === 0 ? texts.same : texts.plan}</h3>
      {planned.map(({ name, changes }) => (
        <section key={name} aria-label={name}>
          <h4>{name}</h4>
          <ChangeList changes={changes} />
        </section>
      ))}
    </div>
  )
}
