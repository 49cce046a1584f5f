/** One account: where it is signed in, the services that it logs in by, a token to act as it, and mails to it. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { sendPasswordReset, sendVerification } from '../../api/access.ts'
import { viewRecord } from '../../api/records.ts'
import type { Row } from '../../api/records.ts'
import { Button } from '../../parts/button.tsx'
import { Failed, Loading, Notice } from '../../parts/loading.tsx'
import { showDone } from '../../parts/toasts.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { changeQuery, linkTo, useRoute } from '../../state/route.ts'
import { session } from '../../state/session.ts'
import { useStore } from '../../state/store.ts'
import { OPERATIONS } from '../../texts/operations.ts'
import { AccountChoice } from '../account-choice.tsx'
import { AccountToken } from './account-token.tsx'
import { Providers } from './providers.tsx'
import { Sessions } from './sessions.tsx'

const { access: texts } = OPERATIONS

export function Accounts(): ReactNode {
  const { query } = useRoute()
  const own = useStore(session)!.record
  const collection = query['collection'] ?? own.collectionName
  const account = query['account'] ?? (collection === own.collectionName ? own.id : '')
  const { value, error, reload } = useLoaded(`${collection} ${account}`, async () =>
    account === '' ? undefined : viewRecord(collection, account),
  )
  // While another one is loaded, the one before is still there.
  const row = value?.id === account ? value : undefined
  return (
    <>
      <AccountChoice
        label={texts.collection}
        collection={collection}
        chosen={row && { collection, row }}
        onChoose={(chosen, name) => changeQuery({ collection: name, account: chosen?.row.id })}
      />
      {account === '' && <Notice icon="users" title={texts.noAccount} text={texts.noAccountText} />}
      {account !== '' &&
        row === undefined &&
        (error === undefined ? <Loading /> : <Failed error={error} onRetry={reload} />)}
      {row !== undefined && <Account key={`${collection} ${row.id}`} collection={collection} row={row} />}
    </>
  )
}

interface AccountProps {
  readonly collection: string
  readonly row: Row
}

function Account({ collection, row }: AccountProps): ReactNode {
  const [hasToken, setHasToken] = useState(false)
  /** Each makes a session. */
  const [tokens, setTokens] = useState(0)
  const email = String(row['email'])
  const name = email === '' ? row.id : email
  const mail = async (send: (collection: string, email: string) => Promise<void>): Promise<void> => {
    await send(collection, email)
    showDone(texts.mailSent(email))
  }
  return (
    <>
      <div className="account-actions">
        <a className="button" href={linkTo(['records', collection], { record: row.id })}>
          {texts.record}
        </a>
        <Button icon="key" onPress={() => setHasToken(true)}>
          {texts.actAs}
        </Button>
        <Button icon="email" disabled={email === '' || row['verified'] === true} onPress={() => mail(sendVerification)}>
          {texts.mailVerification}
        </Button>
        <Button icon="email" disabled={email === ''} onPress={() => mail(sendPasswordReset)}>
          {texts.mailPassword}
        </Button>
      </div>
      <div className="view-part">
        <h2>{texts.sessions}</h2>
        <Sessions key={tokens} collection={collection} account={row.id} />
      </div>
      <div className="view-part">
        <h2>{texts.providers}</h2>
        <Providers collectionId={String(row['collectionId'])} account={row.id} />
      </div>
      {hasToken && (
        <AccountToken
          collection={collection}
          id={row.id}
          name={name}
          onClose={() => {
            setHasToken(false)
            setTokens(tokens + 1)
          }}
        />
      )}
    </>
  )
}
