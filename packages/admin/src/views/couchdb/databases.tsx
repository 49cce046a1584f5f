/** All databases of CouchDB's door. Collections are among them: they are dropped as collections. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { createDatabase, deleteDatabase, listDatabases } from '../../api/couchdb.ts'
import type { DatabaseInfo } from '../../api/couchdb.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { confirm } from '../../state/question.ts'
import { numberText, storedText } from '../../parts/figures.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { findCollection, useCollections } from '../../state/collections.ts'
import { goTo, linkTo } from '../../state/route.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { couchdb: texts } = OPERATIONS

export function Databases(): ReactNode {
  const { value, error, reload } = useLoaded('databases', listDatabases)
  const { list } = useCollections()
  const [isMaking, setMaking] = useState(false)
  const remove = async (name: string): Promise<void> => {
    const question = { title: texts.deleteDatabase(name), text: texts.deleteDatabaseText, yes: texts.deleteYes }
    if (!(await confirm({ ...question, isDanger: true }))) return
    await deleteDatabase(name)
    await reload()
  }
  const isFixed = (name: string): boolean => name.startsWith('_') || findCollection(list, name) !== undefined
  return (
    <>
      <div className="part-actions">
        <p className="muted">{texts.databasesText}</p>
        <Button kind="primary" icon="add" onPress={() => setMaking(true)}>
          {texts.newDatabase}
        </Button>
      </div>
      {value === undefined && (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {value !== undefined && (
        <DataTable
          label={texts.parts.databases}
          columns={columnsOf(isFixed, remove)}
          rows={value}
          keyOf={({ db_name }) => db_name}
        />
      )}
      {isMaking && <NewDatabase onClose={() => setMaking(false)} />}
    </>
  )
}

function columnsOf(
  isFixed: (name: string) => boolean,
  remove: (name: string) => Promise<void>,
): readonly DataColumn<DatabaseInfo>[] {
  return [
    {
      name: 'name',
      title: texts.name,
      cell: ({ db_name: name }) => <a href={linkTo(['couchdb', 'databases', name])}>{name}</a>,
    },
    {
      name: 'size',
      title: texts.size,
      isNumber: true,
      cell: ({ sizes, doc_count: count }) => storedText(sizes.file, count),
    },
    { name: 'count', title: texts.documents, isNumber: true, cell: ({ doc_count: count }) => numberText(count) },
    {
      name: 'seq',
      title: texts.sequence,
      isNumber: true,
      cell: ({ update_seq: seq }) => <span title={seq}>{numberText(Number.parseInt(seq))}</span>,
    },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: ({ db_name: name }) =>
        isFixed(name) ? (
          <span className="badge">{name.startsWith('_') ? texts.ofSystem : texts.isCollection}</span>
        ) : (
          <Button kind="quiet" icon="trash" label={texts.deleteOf(name)} onPress={() => remove(name)} />
        ),
    },
  ]
}

function NewDatabase({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [name, setName] = useState('')
  const make = async (): Promise<undefined> => {
    await createDatabase(name.trim())
    goTo(['couchdb', 'databases', name.trim()])
    return undefined
  }
  return (
    <Dialog title={texts.newDatabase} onClose={onClose}>
      <Form onSubmit={make} submit={texts.makeDatabase}>
        <TextInput
          label={texts.name}
          help={texts.databaseNameHelp}
          value={name}
          onValue={setName}
          spellCheck={false}
          autoComplete="off"
          required
        />
      </Form>
    </Dialog>
  )
}
