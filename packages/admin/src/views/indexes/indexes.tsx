/** The indexes of a collection: those that are declared, those that the server keeps by itself, and what requests would gain by. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { Button } from '../../parts/button.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { Notice } from '../../parts/loading.tsx'
import { useCollections } from '../../state/collections.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { DefinitionView } from '../definition/definition-view.tsx'
import { errorAt } from '../definition/drafts.ts'
import type { DefinitionDraft } from '../definition/drafts.ts'
import { indexParts, indexStatement, newIndexName } from '../definition/index-statement.ts'
import { kindOf } from '../kinds.ts'
import type { CollectionViewProps } from '../view.ts'
import { Suggestions } from './suggestions.tsx'

const { indexes: texts } = TEXTS

export function View({ collection }: CollectionViewProps): ReactNode {
  return (
    <DefinitionView collection={collection}>
      {(draft) =>
        collection.type === 'view' ? (
          <Notice icon="view" title={texts.ofView} text={texts.ofViewText} />
        ) : (
          <Indexes draft={draft} />
        )
      }
    </DefinitionView>
  )
}

function Indexes({ draft }: { readonly draft: DefinitionDraft }): ReactNode {
  const { value, base, errors, change } = draft
  const { list } = useCollections()
  const taken = [...list.flatMap((one) => one.indexes), ...value.indexes]
  const add = (columns: readonly string[], isUnique: boolean): void => {
    const name = newIndexName(base.name, columns, taken)
    change({ indexes: [...value.indexes, indexStatement(base.name, name, isUnique, columns)] })
  }
  const put = (place: number, statement: string | undefined): void =>
    change({ indexes: value.indexes.flatMap((one, at) => (at === place ? (statement ?? []) : one)) })
  return (
    <>
      <section aria-labelledby="indexes-title">
        <h2 id="indexes-title">{texts.title}</h2>
        <p className="def-text">{texts.text}</p>
        {errorAt(errors, 'indexes') !== undefined && <p className="refusal">{errorAt(errors, 'indexes')}</p>}
        {value.indexes.length === 0 && <p>{texts.none}</p>}
        <ul className="def-fields">
          {value.indexes.map((statement, place) => (
            <IndexRow
              key={place}
              statement={statement}
              error={errorAt(errors, 'indexes', place)}
              onStatement={(next) => put(place, next)}
            />
          ))}
        </ul>
      </section>
      <NewIndex collection={value} onAdd={add} />
      <Suggestions collection={base} indexes={value.indexes} onAdd={(columns) => add(columns, false)} />
    </>
  )
}

interface IndexRowProps {
  readonly statement: string
  readonly error: string | undefined
  /** Undefined removes it. */
  readonly onStatement: (statement: string | undefined) => void
}

function IndexRow({ statement, error, onStatement }: IndexRowProps): ReactNode {
  const [isEditing, setEditing] = useState(false)
  const parts = indexParts(statement)
  const name = parts?.name ?? texts.unnamed
  const isOpen = isEditing || error !== undefined || parts === undefined
  return (
    <li className={`def-field ${error === undefined ? '' : 'def-field-wrong'}`}>
      <div className="def-field-head">
        <b className="def-index-name">{name}</b>
        <span className="def-field-badges">
          {parts?.isUnique === true && <span className="badge">{texts.unique}</span>}
          {parts?.columns.map((column) => (
            <code key={column}>{column}</code>
          ))}
          {parts !== undefined && parts.where !== '' && <code>{texts.where(parts.where)}</code>}
        </span>
        <span className="def-field-actions">
          <Button
            kind="quiet"
            icon="edit"
            label={texts.edit(name)}
            aria-expanded={isOpen}
            onPress={() => setEditing(!isEditing)}
          />
          <Button kind="quiet" icon="trash" label={texts.remove(name)} onPress={() => onStatement(undefined)} />
        </span>
      </div>
      {isOpen && (
        <FormField label={texts.statement} error={error}>
          {(control) => (
            <textarea
              {...control}
              className="input input-code"
              rows={3}
              spellCheck={false}
              value={statement}
              onChange={({ target }) => onStatement(target.value)}
            />
          )}
        </FormField>
      )}
    </li>
  )
}

interface NewIndexProps {
  readonly collection: Collection
  readonly onAdd: (columns: readonly string[], isUnique: boolean) => void
}

/** The order of the choices is that of the columns. */
function NewIndex({ collection, onAdd }: NewIndexProps): ReactNode {
  const [columns, setColumns] = useState<readonly string[]>([])
  const [isUnique, setUnique] = useState(false)
  const names = collection.fields
    .filter((field) => kindOf(field).isIndexable && field.name !== '')
    .map(({ name }) => name)
  const toggle = (name: string): void =>
    setColumns(columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name])
  return (
    <section className="new-index" aria-labelledby="new-index">
      <h2 id="new-index">{texts.new}</h2>
      <p className="def-text">{texts.newText}</p>
      <div className="choices" role="group" aria-label={texts.columns}>
        {names.map((name) => (
          <label key={name} className="choice">
            <input type="checkbox" checked={columns.includes(name)} onChange={() => toggle(name)} />
            {name}
            {columns.includes(name) && <span className="badge">{columns.indexOf(name) + 1}</span>}
          </label>
        ))}
      </div>
      <label className="flag">
        <input type="checkbox" checked={isUnique} onChange={({ target }) => setUnique(target.checked)} />
        {texts.uniqueHelp}
      </label>
      <Button
        icon="add"
        disabled={columns.length === 0}
        onPress={() => {
          onAdd(columns, isUnique)
          setColumns([])
          setUnique(false)
        }}
      >
        {texts.add}
      </Button>
    </section>
  )
}
