/** The services that an account logs in by: OAuth2 and OpenID Connect. */
import type { ReactNode } from 'react'
import { listProviders } from '../../api/access.ts'
import type { AccountProvider } from '../../api/access.ts'
import { deleteRecord } from '../../api/records.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../state/question.ts'
import { Moment } from '../../parts/figures.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { access: texts } = OPERATIONS

interface ProvidersProps {
  readonly collectionId: string
  readonly account: string
}

export function Providers({ collectionId, account }: ProvidersProps): ReactNode {
  const { value, error, reload } = useLoaded(account, (signal) => listProviders(collectionId, account, signal))
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  if (value.length === 0) return <p className="muted">{texts.noProviders}</p>
  const remove = async ({ id, provider }: AccountProvider): Promise<void> => {
    const question = { title: texts.unlink(provider), text: texts.unlinkText, yes: texts.unlinkYes, isDanger: true }
    if (!(await confirm(question))) return
    await deleteRecord('_externalAuths', id)
    await reload()
  }
  return <DataTable label={texts.providers} columns={columnsOf(remove)} rows={value} keyOf={({ id }) => id} />
}

function columnsOf(remove: (one: AccountProvider) => Promise<void>): readonly DataColumn<AccountProvider>[] {
  return [
    { name: 'provider', title: texts.provider, cell: ({ provider }) => <b>{provider}</b> },
    { name: 'id', title: texts.providerId, cell: ({ providerId }) => <code>{providerId}</code> },
    { name: 'since', title: texts.since, cell: ({ created }) => <Moment text={created} /> },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (one) => (
        <Button kind="quiet" icon="trash" label={texts.unlinkOf(one.provider)} onPress={() => remove(one)} />
      ),
    },
  ]
}
