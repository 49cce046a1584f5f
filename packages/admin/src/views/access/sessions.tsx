/** The sessions of an account: where it is signed in, and a way to end that. */
import type { ReactNode } from 'react'
import { endAccountSession, endAccountSessions, listSessions } from '../../api/access.ts'
import type { AccountSession } from '../../api/access.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import type { DataColumn } from '../../parts/data-table.tsx'
import { confirm } from '../../state/question.ts'
import { Moment } from '../../parts/figures.tsx'
import { Failed, Loading } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { signOut } from '../../state/session.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { access: texts } = OPERATIONS

interface SessionsProps {
  readonly collection: string
  readonly account: string
}

export function Sessions({ collection, account }: SessionsProps): ReactNode {
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
        <p className="muted">{texts.noSessions}</p>
      ) : (
        <DataTable label={texts.sessions} columns={columnsOf(end)} rows={value} keyOf={({ id }) => id} />
      )}
      {value.some(({ current }) => !current) && (
        <div>
          <Button kind="danger" onPress={endAll}>
            {texts.endAll}
          </Button>
        </div>
      )}
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
