/** Makes a collection with simple fields. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { createCollection } from '../../api/collections.ts'
import type { NewCollection, NewField } from '../../api/collections.ts'
import { ApiError, BAD_FORMAT } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { reloadCollections } from '../../state/collections.ts'
import { goTo } from '../../state/route.ts'
import { START } from '../../texts/start.ts'
import { FIELD_TYPES, kindOf } from '../kinds.ts'

const TYPES = FIELD_TYPES.filter((type) => {
  const { needsOptions, isAutomatic, isHashed } = kindOf({ type })
  return !needsOptions && !isAutomatic && !isHashed
})
const ACCESS = ['nobody', 'read', 'accounts'] as const
const LOGGED_IN = '@request.auth.id != ""'

type Access = (typeof ACCESS)[number]

interface CollectionDraft {
  readonly id: number
  readonly name: string
  readonly type: string
}

const RULES: Readonly<Record<Access, Partial<NewCollection>>> = {
  nobody: {},
  read: { listRule: '', viewRule: '' },
  accounts: {
    listRule: LOGGED_IN,
    viewRule: LOGGED_IN,
    createRule: LOGGED_IN,
    updateRule: LOGGED_IN,
    deleteRule: LOGGED_IN,
  },
}
/** When a record was made and changed, which nearly every app asks for. */
const DATES: readonly NewField[] = [
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
]

export function NewCollectionForm(): ReactNode {
  const [name, setName] = useState('')
  const [type, setType] = useState<'base' | 'auth'>('base')
  const [access, setAccess] = useState<Access>('nobody')
  const [fields, setFields] = useState<readonly CollectionDraft[]>([{ id: 0, name: 'title', type: 'text' }])
  const [nameError, setNameError] = useState<string>()
  const submit = async (): Promise<string | undefined> => {
    setNameError(undefined)
    try {
      const own = fields
        .filter((field) => field.name.trim() !== '')
        .map((field) => ({ name: field.name, type: field.type }))
      const dates = type === 'auth' ? [] : DATES
      const made = await createCollection({ name: name.trim(), type, fields: [...own, ...dates], ...RULES[access] })
      await reloadCollections()
      showDone(START.made(made.name))
      goTo(['records', made.name])
      return undefined
    } catch (error) {
      const ofName = error instanceof ApiError ? error.fields['name'] : undefined
      if (ofName === undefined) return errorText(error)
      setNameError(ofName.code === BAD_FORMAT ? START.badName : ofName.message)
      return undefined
    }
  }
  return (
    <Form onSubmit={submit} submit={START.submit}>
      <TextInput
        label={START.name}
        help={START.nameHelp}
        error={nameError}
        value={name}
        onValue={setName}
        required
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
      />
      <Choice label={START.type} value={type} options={['base', 'auth']} names={START.types} onValue={setType} />
      <FieldRows fields={fields} onFields={setFields} />
      <Choice label={START.rules} value={access} options={ACCESS} names={START.access} onValue={setAccess} />
    </Form>
  )
}

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly options: readonly T[]
  readonly names: Readonly<Record<T, string>>
  readonly onValue: (value: T) => void
}

function Choice<T extends string>({ label, value, options, names, onValue }: ChoiceProps<T>): ReactNode {
  return (
    <FormField label={label}>
      {(control) => (
        <select {...control} className="input" value={value} onChange={({ target }) => onValue(target.value as T)}>
          {options.map((option) => (
            <option key={option} value={option}>
              {names[option]}
            </option>
          ))}
        </select>
      )}
    </FormField>
  )
}

interface FieldRowsProps {
  readonly fields: readonly CollectionDraft[]
  readonly onFields: (fields: readonly CollectionDraft[]) => void
}

function FieldRows({ fields, onFields }: FieldRowsProps): ReactNode {
  const change = (id: number, changes: Partial<CollectionDraft>): void =>
    onFields(fields.map((field) => (field.id === id ? { ...field, ...changes } : field)))
  const add = (): void =>
    onFields([...fields, { id: Math.max(0, ...fields.map(({ id }) => id)) + 1, name: '', type: 'text' }])
  return (
    <fieldset className="rows">
      <legend className="field-label">{START.fields}</legend>
      {fields.map(({ id, name, type }) => (
        <div className="rows-row" key={id}>
          <input
            className="input"
            aria-label={START.fieldName}
            value={name}
            spellCheck={false}
            onChange={({ target }) => change(id, { name: target.value })}
          />
          <select
            className="input"
            aria-label={START.fieldType}
            value={type}
            onChange={({ target }) => change(id, { type: target.value })}
          >
            {TYPES.map((option) => (
              <option key={option} value={option}>
                {kindOf({ type: option }).label}
              </option>
            ))}
          </select>
          <Button
            kind="quiet"
            icon="trash"
            label={START.removeField(name)}
            onPress={() => onFields(fields.filter((field) => field.id !== id))}
          />
        </div>
      ))}
      <Button kind="quiet" icon="add" onPress={add}>
        {START.addField}
      </Button>
    </fieldset>
  )
}
