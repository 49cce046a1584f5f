/** Indexes that queries of Mango use. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { createIndex, deleteIndex, listIndexes } from '../../api/couchdb.ts'
import type { MangoIndex } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { couchdb: texts } = OPERATIONS

export function Indexes({ database }: { readonly database: string }): ReactNode {
  const { value, error, reload } = useLoaded(database, (signal) => listIndexes(database, signal))
  const [fields, setFields] = useState('')
  const make = async (): Promise<undefined> => {
    const names = fields.split(',').flatMap((field) => (field.trim() === '' ? [] : [field.trim()]))
    await createIndex(database, names)
    showDone(texts.indexMade)
    setFields('')
    await reload()
    return undefined
  }
  const remove = async (index: MangoIndex): Promise<void> => {
    await deleteIndex(database, index)
    await reload()
  }
  return (
    <>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value !== undefined && (
        <DataTable
          label={texts.databaseParts.indexes}
          columns={columnsOf(remove)}
          rows={value}
          keyOf={({ ddoc, name }) => `${ddoc ?? ''} ${name}`}
        />
      )}
      <section className="panel narrow" aria-labelledby="new-index">
        <h2 id="new-index">{texts.newIndex}</h2>
        <Form isDraft={false} onSubmit={make} submit={texts.makeIndex}>
          <TextInput
            label={texts.fields}
            help={texts.fieldsHelp}
            value={fields}
            onValue={setFields}
            spellCheck={false}
            required
          />
        </Form>
      </section>
    </>
  )
}

function columnsOf(remove: (index: MangoIndex) => Promise<void>): readonly DataColumn<MangoIndex>[] {
  return [
    { name: 'name', title: texts.name, cell: ({ name }) => <code>{name}</code> },
    {
      name: 'fields',
      title: texts.fields,
      cell: ({ def: { fields } }) => fields.flatMap((field) => Object.keys(field)).join(', '),
    },
    {
      name: 'design',
      title: texts.design,
      cell: ({ ddoc }) => (ddoc === null ? <span className="muted">–</span> : <code>{ddoc}</code>),
    },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (index) =>
        index.ddoc !== null && (
          <Button kind="quiet" icon="trash" label={texts.deleteOf(index.name)} onPress={() => remove(index)} />
        ),
    },
  ]
}
