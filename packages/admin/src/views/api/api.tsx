/** How an app talks to the collection: each operation with the SDK, with curl, and with the types of TypeScript. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { loadTypes } from '../../api/definitions.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { FormField } from '../../parts/form-field.tsx'
import { changeQuery, useRoute } from '../../state/route.ts'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'
import { CollectionHead } from '../collection-head.tsx'
import type { CollectionViewProps } from '../view.ts'
import { clientOf, curlOf, operationsOf, sdkOf, typesOf } from './examples.ts'
import type { Operation } from './examples.ts'
import sheet from '../definition/definition.css'

const { api: texts } = TEXTS

export function View({ collection }: CollectionViewProps): ReactNode {
  const { query } = useRoute()
  const operations = operationsOf(collection)
  const operation = operations.find((one) => one === query['operation']) ?? operations[0]!
  const client = clientOf(collection, operation)
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <CollectionHead collection={collection} />
      <div className="definition">
        <p className="def-text">{texts.text}</p>
        <FormField label={texts.operation}>
          {(control) => (
            <select
              {...control}
              className="input api-operation"
              value={operation}
              onChange={({ target }) => changeQuery({ operation: target.value })}
            >
              {operations.map((one) => (
                <option key={one} value={one}>
                  {texts.operations[one]}
                </option>
              ))}
            </select>
          )}
        </FormField>
        <RuleOf collection={collection} operation={operation} />
        {client !== undefined && <Example title={texts.client} code={client} />}
        <Example title={texts.sdk} code={sdkOf(collection, operation)} />
        <Example title={texts.curl} code={curlOf(collection, operation)} />
        <Types collection={collection} />
      </div>
    </>
  )
}

/** The rule that says who may do it. */
function RuleOf({ collection, operation }: CollectionPart & { readonly operation: Operation }): ReactNode {
  const name = texts.ruleOf[operation]
  if (name === undefined) return null
  const rule = collection[name]
  if (rule === null || rule === undefined) return <p>{texts.nobody}</p>
  if (rule === '') return <p>{texts.everybody}</p>
  return (
    <p>
      {texts.thoseWho} <code>{rule}</code>
    </p>
  )
}

type CollectionPart = Pick<CollectionViewProps, 'collection'>

function Example({ title, code }: { readonly title: string; readonly code: string }): ReactNode {
  return (
    <section className="example" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Button kind="quiet" icon="copy" label={texts.copy(title)} onPress={() => copyText(code)} />
      </header>
      <pre tabIndex={0}>{code}</pre>
    </section>
  )
}

/** The server writes them: those of this collection are a part. */
function Types({ collection }: CollectionPart): ReactNode {
  const [types, setTypes] = useState<string>()
  const { name, updated } = collection
  useEffect(() => {
    // Without them the examples are still there.
    loadTypes().then(
      (text) => setTypes(typesOf(text, name)),
      () => setTypes(undefined),
    )
  }, [name, updated])
  return types === undefined ? null : <Example title={texts.types} code={types} />
}
