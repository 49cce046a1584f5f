/** Pages to which mails and providers of OAuth2 send the accounts of any collection. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { claimsOf, confirm } from '../../api/accounts.ts'
import type { Confirmation } from '../../api/accounts.ts'
import { Form } from '../../parts/form.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Loading } from '../../parts/loading.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { TEXTS } from '../../texts.ts'
import { Card } from './card.tsx'

const { mailLink } = TEXTS

export function MailLink({ what, token }: { readonly what: string; readonly token: string }): ReactNode {
  if (what === 'oauth2-redirect-success') return <LoggedIn />
  if (what === 'oauth2-redirect-failure') return <Card title={mailLink.loginFailed} text={mailLink.closeAndRetry} />
  if (what === 'confirm-verification') return <Verification token={token} />
  if (what === 'confirm-password-reset' || what === 'confirm-email-change')
    return <WithPassword what={what} token={token} />
  return <Card title={mailLink.unknown} text={mailLink.unknownText} />
}

function LoggedIn(): ReactNode {
  useEffect(() => window.close(), [])
  return <Card title={mailLink.loggedIn} text={mailLink.close} />
}

/** By the collection that the token names. @throws ApiError */
function confirmBy(what: Confirmation, token: string, body: Readonly<Record<string, string>> = {}): Promise<void> {
  const { collectionId } = claimsOf(token)
  return confirm(what, typeof collectionId === 'string' ? collectionId : '-', { token, ...body })
}

function Verification({ token }: { readonly token: string }): ReactNode {
  const [state, setState] = useState<'asking' | 'done' | { readonly error: unknown }>('asking')
  useEffect(() => {
    confirmBy('confirm-verification', token).then(
      () => setState('done'),
      (error: unknown) => setState({ error }),
    )
  }, [token])
  if (state === 'asking') return <Loading />
  if (state === 'done') return <Card title={mailLink.verified} text={mailLink.close} />
  return <Card title={mailLink.notVerified} text={`${errorText(state.error)} ${mailLink.askAgain}`} />
}

interface WithPasswordProps {
  readonly what: 'confirm-password-reset' | 'confirm-email-change'
  readonly token: string
}

function WithPassword({ what, token }: WithPasswordProps): ReactNode {
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [isDone, setDone] = useState(false)
  const isReset = what === 'confirm-password-reset'
  const texts = isReset ? mailLink.reset : mailLink.emailChange
  if (isDone) return <Card title={texts.done} text={mailLink.close} />
  const submit = async (): Promise<string | undefined> => {
    if (isReset && password !== again) return TEXTS.setup.notTheSame
    await confirmBy(what, token, { password, ...(isReset && { passwordConfirm: again }) })
    setDone(true)
    return undefined
  }
  const secret = {
    type: 'password',
    autoComplete: isReset ? 'new-password' : 'current-password',
    required: true,
  } as const
  return (
    <Card title={texts.title} text={texts.text}>
      <Form isDraft={false} onSubmit={submit} submit={texts.submit}>
        <TextInput label={texts.password} value={password} onValue={setPassword} autoFocus {...secret} />
        {isReset && <TextInput label={TEXTS.setup.again} value={again} onValue={setAgain} {...secret} />}
      </Form>
    </Card>
  )
}
