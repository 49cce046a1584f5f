/** Superusers: who may read and change everything. */
import type { ReactNode } from 'react'
import { deleteRecord, listRecords } from '../../api/records.ts'
import type { Row } from '../../api/records.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../state/question.ts'
import { Moment } from '../../parts/figures.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { linkTo } from '../../state/route.ts'
import { session } from '../../state/session.ts'
import { useStore } from '../../state/store.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { access: texts } = OPERATIONS
const SUPERUSERS = '_superusers'
const SHOWN_MAX = 500

export function Superusers(): ReactNode {
  const own = useStore(session)!.record.id
  const { value, error, reload } = useLoaded('superusers', (signal) =>
    listRecords(SUPERUSERS, { page: 1, perPage: SHOWN_MAX, sort: 'email' }, signal),
  )
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  const remove = async ({ id, email }: Row): Promise<void> => {
    const question = { title: texts.deleteSuperuser(String(email)), text: texts.deleteSuperuserText }
    if (!(await confirm({ ...question, yes: texts.deleteSuperuserYes, isDanger: true }))) return
    await deleteRecord(SUPERUSERS, id)
    await reload()
  }
  return (
    <>
      <DataTable
        label={texts.parts.superusers}
        columns={columnsOf(own, remove)}
        rows={value.items}
        keyOf={({ id }) => id}
      />
      <p className="muted">
        <a href={linkTo(['settings', 'addresses'])}>{texts.addresses}</a>
      </p>
    </>
  )
}

function columnsOf(own: string, remove: (row: Row) => Promise<void>): readonly DataColumn<Row>[] {
  return [
    {
      name: 'email',
      title: texts.email,
      cell: ({ id, email }) => (
        <>
          <a href={linkTo(['records', SUPERUSERS], { record: id })}>{String(email)}</a>{' '}
          {id === own && <span className="badge badge-good">{texts.you}</span>}
        </>
      ),
    },
    { name: 'created', title: texts.since, cell: ({ created }) => <Moment text={String(created)} /> },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (row) => (
        <>
          <a
            className="button button-quiet"
            href={linkTo(['access', 'accounts'], { collection: '_superusers', account: row.id })}
          >
            {texts.sessions}
          </a>
          <Button
            kind="quiet"
            icon="trash"
            label={texts.deleteOf(String(row['email']))}
            disabled={row.id === own}
            onPress={() => remove(row)}
          />
        </>
      ),
    },
  ]
}
