/** The options of a field, by its type. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Collection, Field } from '../../api/collections.ts'
import { Button } from '../../parts/button.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { useCollections } from '../../state/collections.ts'
import { changeQuery } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { errorAt } from '../definition/drafts.ts'
import { kindOf, type OptionKind, type OptionName } from '../kinds.ts'
import { RuleInput } from '../rule-input.tsx'

const { fields: texts } = TEXTS

interface FieldOptionsProps {
  readonly collection: Collection
  readonly field: Field
  /** Errors of the field, by option. */
  readonly errors: unknown
  readonly onChange: (part: Partial<Field>) => void
}

export function FieldOptions({ collection, field, errors, onChange }: FieldOptionsProps): ReactNode {
  const { primaryKey = false } = field
  const { options = {}, flags: own = [], isAutomatic, isHashed } = kindOf(field)
  const flags: readonly OptionName[] = [
    ...(isAutomatic ? [] : ['required' as const]),
    ...own.filter((name) => !primaryKey || name !== 'searchable'),
    'hidden',
    'presentable',
  ]
  return (
    <div className="field-options">
      <div className="field-grid">
        {(Object.entries(options) as [OptionName, OptionKind][]).map(([name, kind]) => (
          <OptionInput
            key={name}
            field={field}
            name={name}
            kind={kind}
            error={errorAt(errors, name)}
            onChange={onChange}
          />
        ))}
        {!isAutomatic && (
          <TextInput
            label={texts.options.help}
            value={field.help ?? ''}
            error={errorAt(errors, 'help')}
            onValue={(help) => onChange({ help })}
          />
        )}
      </div>
      <fieldset className="flags">
        <legend className="hidden-text">{texts.flags(field.name)}</legend>
        {flags.map((name) => (
          <Flag key={name} field={field} name={name} error={errorAt(errors, name)} onChange={onChange} />
        ))}
      </fieldset>
      {/* Everybody who sees a record sees its id, and nobody sees a password. */}
      {!primaryKey && !isHashed && !isAutomatic && collection.type !== 'view' && (
        <FieldRules collection={collection} field={field} errors={errors} onChange={onChange} />
      )}
    </div>
  )
}

interface OptionProps {
  readonly field: Field
  readonly name: OptionName
  readonly error: string | undefined
  readonly onChange: (part: Partial<Field>) => void
}

function Flag({ field, name, error, onChange }: OptionProps): ReactNode {
  // The server fixes these of its own fields.
  const isFixed = field.system && (name === 'required' || name === 'hidden')
  return (
    <label className="flag">
      <input
        type="checkbox"
        checked={field[name as 'required'] === true}
        disabled={isFixed}
        onChange={({ target }) => onChange({ [name]: target.checked })}
      />
      <span>
        {texts.options[name]}
        {Object.hasOwn(texts.flagHelp, name) && <small>{texts.flagHelp[name as keyof typeof texts.flagHelp]}</small>}
        {error !== undefined && <small className="field-error">{error}</small>}
      </span>
    </label>
  )
}

function OptionInput({ field, name, kind, error, onChange }: OptionProps & { readonly kind: OptionKind }): ReactNode {
  const value = field[name as keyof Field]
  const change = (next: unknown): void => onChange({ [name]: next })
  const label = texts.options[name]
  const help = Object.hasOwn(texts.optionHelp, name)
    ? texts.optionHelp[name as keyof typeof texts.optionHelp]
    : undefined
  if (kind === 'list')
    return (
      <ListInput
        label={label}
        help={help ?? texts.oneEachLine}
        value={(value as readonly string[] | null | undefined) ?? []}
        error={error}
        onValue={change}
      />
    )
  if (kind === 'collection')
    return <CollectionInput label={label} value={String(value ?? '')} error={error} onValue={change} />
  if (kind === 'text')
    return (
      <TextInput
        label={label}
        help={help}
        value={String(value ?? '')}
        error={error}
        onValue={change}
        spellCheck={false}
      />
    )
  const isCount = kind === 'count'
  const shown = value === undefined || value === null || (isCount && value === 0) ? '' : String(value as number)
  return (
    <TextInput
      label={label}
      help={help}
      type="number"
      step={isCount ? 1 : 'any'}
      value={shown}
      error={error}
      placeholder={texts.byItself}
      onValue={(text) => change(text === '' ? (isCount ? 0 : null) : Number(text))}
    />
  )
}

interface ListInputProps {
  readonly label: string
  readonly help: string
  readonly value: readonly string[]
  readonly error: string | undefined
  readonly onValue: (value: readonly string[]) => void
}

/** One text each line. Empty lines are none, while the control shows what is typed. */
function ListInput({ label, help, value, error, onValue }: ListInputProps): ReactNode {
  const [text, setText] = useState(value.join('\n'))
  const linesOf = (typed: string): string[] =>
    typed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  const shown = linesOf(text).join('\n') === value.join('\n') ? text : value.join('\n')
  return (
    <FormField label={label} help={help} error={error}>
      {(control) => (
        <textarea
          {...control}
          className="input"
          rows={Math.min(8, Math.max(2, shown.split('\n').length))}
          value={shown}
          spellCheck={false}
          onChange={({ target }) => {
            setText(target.value)
            onValue(linesOf(target.value))
          }}
        />
      )}
    </FormField>
  )
}

function CollectionInput({
  label,
  value,
  error,
  onValue,
}: Omit<ListInputProps, 'help' | 'value' | 'onValue'> & {
  readonly value: string
  readonly onValue: (id: string) => void
}): ReactNode {
  const { list } = useCollections()
  return (
    <FormField label={label} error={error}>
      {(control) => (
        <select {...control} className="input" value={value} onChange={({ target }) => onValue(target.value)}>
          <option value="">{texts.chooseCollection}</option>
          {list.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </FormField>
  )
}

function FieldRules({ collection, field, errors, onChange }: FieldOptionsProps): ReactNode {
  const { list } = useCollections()
  const isStored = list.some(({ id, fields }) => id === collection.id && fields.some((one) => one.id === field.id))
  return (
    <details className="field-rules" open={field.viewRule !== undefined || field.updateRule !== undefined}>
      <summary>{texts.rules}</summary>
      {(['viewRule', 'updateRule'] as const).map((name) => (
        <div key={name} className="field">
          <div className="field-rule-head">
            <p className="field-label">{texts[name]}</p>
            {isStored && (
              <Button
                icon="view"
                kind="quiet"
                onPress={() => changeQuery({ preview: name === 'viewRule' ? 'view' : 'update', field: field.id })}
              >
                {texts.preview[name]}
              </Button>
            )}
          </div>
          <RuleInput
            collection={collection}
            label={texts.ruleOf(name, field.name)}
            value={field[name]}
            inherits={texts.inherited[name]}
            error={errorAt(errors, name)}
            onValue={(rule) => onChange({ [name]: rule })}
          />
        </div>
      ))}
    </details>
  )
}
