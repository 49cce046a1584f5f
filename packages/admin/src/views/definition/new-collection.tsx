/** Makes a collection of any type, with all that its fields and its query can be. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { createCollection } from '../../api/collections.ts'
import type { Collection } from '../../api/collections.ts'
import { loadScaffolds } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useUnsaved } from '../../parts/use-unsaved.ts'
import { reloadCollections } from '../../state/collections.ts'
import { goTo, linkTo } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { START } from '../../texts/start.ts'
import { FieldList } from '../fields/field-list.tsx'
import { ViewQuery } from '../fields/view-query.tsx'
import { allErrors, errorAt, errorsIn, newField, sentFields } from './drafts.ts'
import fieldsSheet from '../fields/fields.css'
import sheet from './definition.css'

const { newCollection: texts } = TEXTS
const TYPES = ['base', 'auth', 'view'] as const

export function View(): ReactNode {
  const [scaffolds, setScaffolds] = useState<Readonly<Record<Collection['type'], Collection>>>()
  const [error, setError] = useState<unknown>()
  const load = (): void => void loadScaffolds().then(setScaffolds, setError)
  useEffect(load, [])
  if (scaffolds !== undefined) return <NewCollection scaffolds={scaffolds} />
  return error === undefined ? <Loading /> : <Failed error={error} onRetry={load} />
}

function NewCollection({
  scaffolds,
}: {
  readonly scaffolds: Readonly<Record<Collection['type'], Collection>>
}): ReactNode {
  const [first] = useState<Collection>(() => begun(scaffolds.base))
  const [draft, setDraft] = useState(first)
  useUnsaved(draft !== first)
  const [errors, setErrors] = useState<unknown>()
  const [refusal, setRefusal] = useState('')
  const change = (part: Partial<Collection>): void => setDraft((before) => ({ ...before, ...part }))
  const choose = (type: Collection['type']): void => setDraft({ ...begun(scaffolds[type]), name: draft.name })
  const make = async (): Promise<void> => {
    setRefusal('')
    try {
      const { name, type, viewQuery = '', fields } = draft
      const made = await createCollection({
        name: name.trim(),
        type,
        ...(type === 'view' ? { viewQuery, fields: [] } : { fields: sentFields(fields) }),
      })
      await reloadCollections()
      showDone(START.made(made.name))
      goTo(['rules', made.name])
    } catch (failure) {
      const found = errorsIn(failure)
      setErrors(found)
      setRefusal(allErrors(found).length === 0 ? errorText(failure) : texts.refused)
    }
  }
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <link rel="stylesheet" href={fieldsSheet} precedence="page" />
      <header className="view-head">
        <h1>{texts.title}</h1>
        <div className="view-actions">
          <a className="button" href={linkTo(['start'])}>
            {START.example}
          </a>
        </div>
      </header>
      <form
        className="definition"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <NameAndType draft={draft} errors={errors} onName={(name) => change({ name })} onType={choose} />
        {draft.type === 'view' ? (
          <ViewQuery
            query={draft.viewQuery ?? ''}
            error={errorAt(errors, 'viewQuery')}
            onQuery={(viewQuery) => change({ viewQuery })}
          />
        ) : (
          <FieldList collection={draft} stored={[]} errors={errors} onChange={change} />
        )}
        <p className="refusal" role="alert" hidden={refusal === ''}>
          {refusal}
        </p>
        <Button kind="primary" icon="add" onPress={make}>
          {START.submit}
        </Button>
      </form>
    </>
  )
}

interface NameAndTypeProps {
  readonly draft: Collection
  readonly errors: unknown
  readonly onName: (name: string) => void
  readonly onType: (type: Collection['type']) => void
}

function NameAndType({ draft: { name, type }, errors, onName, onType }: NameAndTypeProps): ReactNode {
  return (
    <div className="field-grid">
      <TextInput
        label={START.name}
        help={START.nameHelp}
        value={name}
        error={errorAt(errors, 'name')}
        onValue={onName}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
      />
      <FormField label={START.type} help={texts.typeHelp[type]}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={type}
            onChange={({ target }) => onType(target.value as Collection['type'])}
          >
            {TYPES.map((one) => (
              <option key={one} value={one}>
                {texts.types[one]}
              </option>
            ))}
          </select>
        )}
      </FormField>
    </div>
  )
}

/** With the dates that nearly every app asks for. */
function begun(scaffold: Collection): Collection {
  if (scaffold.type === 'view') return scaffold
  const has = (name: string): boolean => scaffold.fields.some((field) => field.name === name)
  const dates = [
    newField({ name: 'created', type: 'autodate', onCreate: true }),
    newField({ name: 'updated', type: 'autodate', onCreate: true, onUpdate: true }),
  ]
  return { ...scaffold, fields: [...scaffold.fields, ...dates.filter(({ name }) => !has(name))] }
}
