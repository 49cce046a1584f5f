/** What a collection is: its name, and its fields; of a view, the query that makes them. */
import type { ReactNode } from 'react'
import { TextInput } from '../../parts/form-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { TEXTS as ALL } from '../../texts.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { DefinitionView } from '../definition/definition-view.tsx'
import { errorAt } from '../definition/drafts.ts'
import { FIELD_ICONS } from '../field-types.ts'
import type { CollectionViewProps } from '../view.ts'
import { FieldList } from './field-list.tsx'
import { ViewQuery } from './view-query.tsx'

const { fields: texts } = TEXTS

export function View({ collection }: CollectionViewProps): ReactNode {
  return (
    <DefinitionView collection={collection}>
      {({ value, base, errors, change }) => (
        <>
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
        </>
      )}
    </DefinitionView>
  )
}

/** They follow from the query. */
function FieldsOfView({ collection: { fields } }: CollectionViewPropsOnly): ReactNode {
  return (
    <section aria-labelledby="fields-title">
      <h2 id="fields-title">{texts.title}</h2>
      <p>{texts.ofQuery}</p>
      <ul className="def-fields">
        {fields.map(({ id, name, type }) => (
          <li key={id} className="def-field">
            <div className="def-field-head">
              <Icon name={FIELD_ICONS[type]} />
              <b>{name}</b>
              <span className="def-field-type">{ALL.fieldTypes[type]}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

type CollectionViewPropsOnly = Pick<CollectionViewProps, 'collection'>
