/** The sessions of an account: where it is signed in, and a way to end that. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { endAccountSession, endAccountSessions, listSessions } from '../../api/access.ts'
import type { AccountSession } from '../../api/access.ts'
import { Button, useBusy } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Moment } from '../../parts/figures.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useCollections } from '../../state/collections.ts'
import { changeQuery, useRoute } from '../../state/route.ts'
import { session, signOut } from '../../state/session.ts'
import { useStore } from '../../state/store.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { AccountInput, accountId } from './account-input.tsx'

const { access: texts } = OPERATIONS

export function Sessions(): ReactNode {
  const { query } = useRoute()
  const own = useStore(session)!.record
  const collection = query['collection'] ?? own.collectionName
  const account = query['account'] ?? (collection === own.collectionName ? own.id : '')
  return (
    <>
      <AccountChoice key={`choice ${collection} ${account}`} collection={collection} account={account} />
      {account === '' ? (
        <Notice icon="users" title={texts.noAccount} text={texts.noAccountText} />
      ) : (
        <SessionList key={`list ${collection} ${account}`} collection={collection} account={account} />
      )}
    </>
  )
}

interface AccountProps {
  readonly collection: string
  readonly account: string
}

function AccountChoice({ collection, account }: AccountProps): ReactNode {
  const { list } = useCollections()
  const [text, setText] = useState(account)
  const { run } = useBusy()
  const show = async (): Promise<void> => changeQuery({ account: await accountId(collection, text.trim()) })
  return (
    <form
      className="account-choice"
      onSubmit={(event) => {
        event.preventDefault()
        void run(show)
      }}
    >
      <FormField label={texts.collection}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={collection}
            onChange={({ target }) => changeQuery({ collection: target.value, account: undefined })}
          >
            {list
              .filter(({ type }) => type === 'auth')
              .map(({ id, name }) => (
                <option key={id} value={name}>
                  {name}
                </option>
              ))}
          </select>
        )}
      </FormField>
      <AccountInput collection={collection} value={text} onValue={setText} />
      <Button type="submit">{texts.show}</Button>
    </form>
  )
}

function SessionList({ collection, account }: AccountProps): ReactNode {
  const { value, error, reload } = useLoaded('sessions', (signal) => listSessions(collection, account, signal))
  if (value === undefined) return error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />
  const end = async ({ id, current }: AccountSession): Promise<void> => {
    if (current) return signOut()
    await endAccountSession(collection, account, id)
    showDone(texts.ended)
    await reload()
  }
  const endAll = async (): Promise<void> => {
    const question = { title: texts.endAll, text: texts.endAllText, yes: texts.endAllYes, isDanger: true }
    if (!(await confirm(question))) return
    await endAccountSessions(collection, account)
    showDone(texts.allEnded)
    await reload()
  }
  return (
    <>
      {value.length === 0 ? (
        <Notice icon="lock" title={texts.noSessions} text={texts.noSessionsText} />
      ) : (
        <DataTable label={texts.parts.sessions} columns={columnsOf(end)} rows={value} keyOf={({ id }) => id} />
      )}
      <div>
        <Button kind="danger" onPress={endAll}>
          {texts.endAll}
        </Button>
      </div>
    </>
  )
}

function columnsOf(end: (one: AccountSession) => Promise<void>): readonly DataColumn<AccountSession>[] {
  return [
    {
      name: 'method',
      title: texts.method,
      cell: ({ method, current }) => (
        <>
          {method} {current && <span className="badge badge-good">{texts.thisPage}</span>}
        </>
      ),
    },
    { name: 'address', title: texts.address, cell: ({ address }) => <code>{address}</code> },
    { name: 'userAgent', title: texts.program, cell: ({ userAgent }) => programOf(userAgent) },
    { name: 'created', title: texts.since, cell: ({ created }) => <Moment text={created} /> },
    { name: 'used', title: texts.used, cell: ({ used }) => <Moment text={used} /> },
    {
      name: 'actions',
      title: texts.actions,
      isActions: true,
      cell: (one) => <Button onPress={() => end(one)}>{one.current ? texts.endOwn : texts.end}</Button>,
    },
  ]
}

/** The name of the browser and of the system, if they are known. */
function programOf(userAgent: string): ReactNode {
  const [browser] = /(?:Firefox|Edg|OPR|Chrome|HeadlessChrome|Version)\/[\d]+/.exec(userAgent) ?? []
  const [system] = /Windows|Mac OS X|Android|iPhone|iPad|Linux/.exec(userAgent) ?? []
  const known = [browser?.replace('/', ' ').replace('Version', 'Safari').replace('Edg ', 'Edge '), system]
  const text = known.filter((part) => part !== undefined).join(', ')
  return <span title={userAgent}>{text === '' ? userAgent.slice(0, 60) : text}</span>
}
