/** The fields of a definition: added, renamed, moved, changed and removed in a draft. */
import { useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { flushSync } from 'react-dom'
import type { Collection, Field } from '../../api/collections.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { allErrors, errorAt, errorsBelow, isNewField, newField, withField } from '../definition/drafts.ts'
import { readsColumn } from '../definition/index-statement.ts'
import { FIELD_TYPES, kindOf } from '../kinds.ts'
import { FieldOptions } from './field-options.tsx'

const { fields: texts } = TEXTS

interface FieldListProps {
  readonly collection: Collection
  /** As they are stored; none of a new collection. */
  readonly stored: readonly Field[]
  readonly errors: unknown
  readonly onChange: (part: Partial<Collection>) => void
}

export function FieldList({ collection, stored, errors, onChange }: FieldListProps): ReactNode {
  const { fields, indexes } = collection
  const removed = stored.filter(({ id }) => !fields.some((field) => field.id === id))
  const put = (next: readonly Field[]): void => onChange({ fields: next })
  const change = (id: string, part: Partial<Field>): void =>
    put(fields.map((field) => (field.id === id ? { ...field, ...part } : field)))
  const move = (place: number, by: number): void => {
    const next = [...fields]
    const [field] = next.splice(place, 1)
    next.splice(place + by, 0, field!)
    put(next)
  }
  const remove = ({ id, name }: Field): void =>
    onChange({
      fields: fields.filter((field) => field.id !== id),
      indexes: indexes.filter((statement) => !readsColumn(statement, name)),
    })
  return (
    <section aria-labelledby="fields-title">
      <h2 id="fields-title">{texts.title}</h2>
      {errorAt(errors, 'fields') !== undefined && <p className="refusal">{errorAt(errors, 'fields')}</p>}
      <ol className="def-fields">
        {fields.map((field, place) => (
          <FieldRow
            key={field.id}
            collection={collection}
            field={field}
            errors={errorsBelow(errors, 'fields', place)}
            onChange={(part) => change(field.id, part)}
            onUp={place === 0 ? undefined : () => keepingFocus(() => move(place, -1))}
            onDown={place === fields.length - 1 ? undefined : () => keepingFocus(() => move(place, 1))}
            onRemove={() => remove(field)}
          />
        ))}
      </ol>
      <AddField onAdd={(type) => put(withField(fields, newField({ type, name: '', ...kindOf({ type }).defaults })))} />
      <Removed fields={removed} onKeep={(field) => put([...fields, field])} />
    </section>
  )
}

function AddField({ onAdd }: { readonly onAdd: (type: string) => void }): ReactNode {
  const items = FIELD_TYPES.map((type) => {
    const { label, icon } = kindOf({ type })
    return { label, icon, onPress: () => onAdd(type) }
  })
  return (
    <Menu label={texts.add} icon="add" items={items}>
      {texts.add}
    </Menu>
  )
}

interface FieldRowProps {
  readonly collection: Collection
  readonly field: Field
  readonly errors: unknown
  readonly onChange: (part: Partial<Field>) => void
  readonly onUp: (() => void) | undefined
  readonly onDown: (() => void) | undefined
  readonly onRemove: () => void
}

function FieldRow(props: FieldRowProps): ReactNode {
  const { collection, field, errors, onChange, onUp, onDown, onRemove } = props
  const { name, system } = field
  const { label, icon, needsOptions = false } = kindOf(field)
  const isWrong = allErrors(errors).length > 0
  const [isOpen, setOpen] = useState(isNewField(field) && needsOptions)
  const shown = name === '' ? texts.unnamed : name
  return (
    <li
      className={`def-field ${isWrong ? 'def-field-wrong' : ''}`}
      onKeyDown={(event) => moveByKeys(event, onUp, onDown)}
    >
      <div className="def-field-head">
        <Icon name={icon} />
        <NameInput field={field} error={errorAt(errors, 'name') ?? errorAt(errors)} onChange={onChange} />
        <span className="def-field-type">{label}</span>
        <span className="def-field-badges">
          {(['required', 'hidden', 'searchable'] as const).map(
            (flag) =>
              field[flag] === true && (
                <span key={flag} className="badge">
                  {texts.badges[flag]}
                </span>
              ),
          )}
        </span>
        <span className="def-field-actions">
          <Button kind="quiet" icon="arrowUp" label={texts.up(shown)} disabled={onUp === undefined} onPress={onUp} />
          <Button
            kind="quiet"
            icon="arrowDown"
            label={texts.down(shown)}
            disabled={onDown === undefined}
            onPress={onDown}
          />
          <Button kind="quiet" icon="trash" label={texts.remove(shown)} disabled={system} onPress={onRemove} />
          <Button
            kind="quiet"
            icon={isOpen || isWrong ? 'chevronDown' : 'chevronRight'}
            label={texts.optionsOf(shown)}
            aria-expanded={isOpen || isWrong}
            onPress={() => setOpen(!isOpen)}
          />
        </span>
      </div>
      {(isOpen || isWrong) && (
        <FieldOptions collection={collection} field={field} errors={errors} onChange={onChange} />
      )}
    </li>
  )
}

function NameInput({
  field,
  error,
  onChange,
}: Pick<FieldRowProps, 'field' | 'onChange'> & { readonly error: string | undefined }): ReactNode {
  const { id, name, system } = field
  return (
    <span className="def-field-name">
      <input
        className="input"
        aria-label={name === '' ? texts.name : texts.nameOf(name)}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        value={name}
        readOnly={system}
        autoFocus={isNewField(field) && name === ''}
        placeholder={texts.name}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        onChange={({ target }) => onChange({ name: target.value })}
      />
      {error !== undefined && (
        <span className="field-error" id={`${id}-error`} role="alert">
          {error}
        </span>
      )}
    </span>
  )
}

/** A row that moves loses the focus in browsers. At an end its button can't have it: then its name has it. */
function keepingFocus(move: () => void): void {
  const { activeElement } = document
  flushSync(move)
  if (!(activeElement instanceof HTMLElement)) return
  if (activeElement instanceof HTMLButtonElement && activeElement.disabled)
    activeElement.closest('.def-field')?.querySelector('input')?.focus()
  else activeElement.focus()
}

/** Alt with an arrow moves the field. */
function moveByKeys(
  event: KeyboardEvent<HTMLElement>,
  onUp: (() => void) | undefined,
  onDown: (() => void) | undefined,
): void {
  if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return
  event.preventDefault()
  if (event.key === 'ArrowUp') onUp?.()
  else onDown?.()
}

function Removed({
  fields,
  onKeep,
}: {
  readonly fields: readonly Field[]
  readonly onKeep: (field: Field) => void
}): ReactNode {
  if (fields.length === 0) return null
  return (
    <div className="def-removed" role="status">
      <p>{texts.removed}</p>
      <ul>
        {fields.map((field) => (
          <li key={field.id}>
            <del>{field.name}</del>
            <Button kind="quiet" icon="undo" onPress={() => onKeep(field)}>
              {texts.keep(field.name)}
            </Button>
          </li>
        ))}
      </ul>
    </div>
  )
}
