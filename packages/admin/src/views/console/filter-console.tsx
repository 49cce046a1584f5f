/** How the server answers a list with a filter and a sort: the plan, drawn. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { explainList } from '../../api/inspection.ts'
import { Button } from '../../parts/button.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import type { Collection } from '../../api/collections.ts'
import { findCollection, useCollections } from '../../state/collections.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { CONSOLE } from '../../texts/console.ts'
import { RuleEditor } from '../rule-editor.tsx'
import { PlanTree } from './plan.tsx'

const texts = CONSOLE

export function FilterConsole(): ReactNode {
  const { query } = useRoute()
  const { list } = useCollections()
  const own = list.filter(({ system }) => !system)
  const collection = findCollection(list, query['collection'] ?? '') ?? own[0] ?? list[0]!
  return (
    <>
      <FormField label={texts.collection}>
        {(control) => (
          <select
            {...control}
            className="input narrow-input"
            value={collection.name}
            onChange={({ target }) => changeQuery({ collection: target.value, filter: undefined, sort: undefined })}
          >
            {list.map(({ id, name }) => (
              <option key={id} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <FilterForm
        key={collection.id}
        collection={collection}
        filter={query['filter'] ?? ''}
        sort={query['sort'] ?? ''}
      />
    </>
  )
}

interface FilterFormProps {
  readonly collection: Collection
  readonly filter: string
  readonly sort: string
}

function FilterForm({ collection, filter, sort }: FilterFormProps): ReactNode {
  const [text, setText] = useState(filter)
  const [order, setOrder] = useState(sort)
  const { value, error, reload } = useLoaded(`${collection.id} ${sort} ${filter}`, () =>
    explainList(collection.name, filter, sort),
  )
  const explain = (): void => changeQuery({ filter: text.trim(), sort: order.trim() })
  return (
    <>
      <div className="field">
        <span className="field-label">{texts.filter}</span>
        <div className="code-panel">
          <RuleEditor collection={collection} label={texts.filter} value={text} onValue={setText} onSubmit={explain} />
        </div>
      </div>
      <TextInput label={texts.sort} help={texts.sortHelp} value={order} onValue={setOrder} spellCheck={false} />
      <div className="form-foot">
        <Button kind="primary" onPress={explain}>
          {texts.explain}
        </Button>
        <a className="button" href={linkTo(['records', collection.name], { filter: text.trim(), sort: order.trim() })}>
          {texts.toRecords}
        </a>
      </div>
      {value === undefined && error === undefined && <Loading />}
      {error !== undefined && <Failed error={error} onRetry={reload} />}
      {value !== undefined && error === undefined && <PlanTree plan={value.plan} />}
    </>
  )
}
