/** The view of a collection's name and its fields; for a view, also of the query that makes them. */
import type { ReactNode } from 'react'
import type { Collection, Field } from '../../api/collections.ts'
import { TextInput } from '../../parts/form-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { changeQuery, useRoute } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { DefinitionView } from '../definition/definition-view.tsx'
import { errorAt } from '../definition/drafts.ts'
import { kindOf } from '../kinds.ts'
import { RuleInput } from '../rule-input.tsx'
import rulesSheet from '../rules/rules.css'
import { WhoSees } from '../rules/who-sees.tsx'
import type { CollectionViewProps } from '../view.ts'
import { FieldList } from './field-list.tsx'
import sheet from './fields.css'
import { ViewQuery } from './view-query.tsx'

const { fields: texts } = TEXTS

export function View({ collection }: CollectionViewProps): ReactNode {
  return (
    <DefinitionView collection={collection}>
      {({ value, base, errors, change }) => (
        <>
          <link rel="stylesheet" href={sheet} precedence="page" />
          <link rel="stylesheet" href={rulesSheet} precedence="page" />
          <div className="def-name">
            <TextInput
              label={texts.collectionName}
              value={value.name}
              error={errorAt(errors, 'name')}
              readOnly={base.system}
              spellCheck={false}
              autoComplete="off"
              onValue={(name) => change({ name })}
            />
            <p>{texts.types[base.type]}</p>
          </div>
          {value.type === 'view' ? (
            <>
              <ViewQuery
                query={value.viewQuery ?? ''}
                error={errorAt(errors, 'viewQuery')}
                onQuery={(viewQuery) => change({ viewQuery })}
              />
              <FieldsOfView collection={base} />
            </>
          ) : (
            <FieldList collection={value} stored={base.fields} errors={errors} onChange={change} />
          )}
          <FieldPreview stored={base} draft={value} onFields={(fields) => change({ fields })} />
        </>
      )}
    </DefinitionView>
  )
}

interface FieldPreviewProps {
  readonly stored: Collection
  readonly draft: Collection
  readonly onFields: (fields: readonly Field[]) => void
}

/** The preview of the field that the address names. The server knows it by the name that is stored. */
function FieldPreview({ stored, draft, onFields }: FieldPreviewProps): ReactNode {
  const { query } = useRoute()
  const known = stored.fields.find(({ id }) => id === query['field'])
  const field = draft.fields.find(({ id }) => id === query['field'])
  const action = query['preview']
  if (known === undefined || field === undefined || (action !== 'view' && action !== 'update')) return null
  const rule = action === 'view' ? 'viewRule' : 'updateRule'
  const { viewRule = '', updateRule = viewRule } = field
  const change = (part: Partial<Field>): void =>
    onFields(draft.fields.map((one) => (one.id === field.id ? { ...one, ...part } : one)))
  return (
    <WhoSees
      key={`${field.id} ${action}`}
      collection={draft}
      asked={{ action, field: known.name, rule: action === 'view' ? viewRule : updateRule }}
      title={texts.previewOf(rule, field.name)}
      ruleInput={
        <RuleInput
          collection={draft}
          label={texts.ruleOf(rule, field.name)}
          value={field[rule]}
          inherits={texts.inherited[rule]}
          onValue={(next) => change({ [rule]: next })}
        />
      }
      onClose={() => changeQuery({ preview: undefined, field: undefined })}
    />
  )
}

/** Fields of a view, which follow from its query. */
function FieldsOfView({ collection: { fields } }: CollectionViewPropsOnly): ReactNode {
  return (
    <section aria-labelledby="fields-title">
      <h2 id="fields-title">{texts.title}</h2>
      <p>{texts.ofQuery}</p>
      <ul className="def-fields">
        {fields.map(({ id, name, type }) => (
          <li key={id} className="def-field">
            <div className="def-field-head">
              <Icon name={kindOf({ type }).icon} />
              <b>{name}</b>
              <span className="def-field-type">{kindOf({ type }).label}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

type CollectionViewPropsOnly = Pick<CollectionViewProps, 'collection'>
