/** The sign-in: by password, by a code from a mail, or by both where superusers need two factors. */
import { useEffect, useState } from 'react'
import type { ReactNode } from 'react'
import { authMethods, logInWithPassword } from '../../api/accounts.ts'
import type { AuthMethods, Login, SecondFactor } from '../../api/accounts.ts'
import { ApiError } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { signedIn } from '../../state/session.ts'
import { TEXTS } from '../../texts.ts'
import { Card } from './card.tsx'
import { CodeForm } from './code-form.tsx'
import { ForgottenPassword } from './forgotten-password.tsx'

const { signIn } = TEXTS

export function SignIn(): ReactNode {
  return (
    <Card title={signIn.title} text={signIn.text}>
      <SignInForms />
    </Card>
  )
}

type Step =
  | { readonly name: 'password' | 'forgotten' }
  | { readonly name: 'code' | 'second-password'; readonly mfaId?: string }

/** Without the card around it: the page asks so too when a session has ended. `known`: whose session it was. */
export function SignInForms({ known = '' }: { readonly known?: string }): ReactNode {
  const [email, setEmail] = useState(known)
  const [step, setStep] = useState<Step>({ name: 'password' })
  const methods = useMethods()
  const done = (result: Login | SecondFactor): void => {
    if ('token' in result) return signedIn(result)
    setStep({ name: step.name === 'code' ? 'second-password' : 'code', mfaId: result.mfaId })
  }
  const back = (): void => setStep({ name: 'password' })
  if (step.name === 'forgotten') return <ForgottenPassword email={email} onBack={back} />
  const mfaId = 'mfaId' in step ? step.mfaId : undefined
  if (step.name === 'code') return <CodeForm email={email} mfaId={mfaId} onDone={done} onBack={back} />
  const links = (
    <>
      {methods?.otp.enabled === true && mfaId === undefined && (
        <Button kind="quiet" icon="email" onPress={() => setStep({ name: 'code' })}>
          {signIn.byCode}
        </Button>
      )}
      <Button kind="quiet" onPress={() => setStep({ name: 'forgotten' })}>
        {signIn.forgotten}
      </Button>
    </>
  )
  return <PasswordForm email={email} onEmail={setEmail} mfaId={mfaId} onDone={done} links={links} />
}

/** Undefined until the server has said so. The password can be typed meanwhile. */
function useMethods(): AuthMethods | undefined {
  const [methods, setMethods] = useState<AuthMethods>()
  useEffect(() => {
    authMethods().then(setMethods, () => undefined)
  }, [])
  return methods
}

interface PasswordFormProps {
  readonly email: string
  readonly onEmail: (email: string) => void
  readonly mfaId: string | undefined
  readonly onDone: (result: Login | SecondFactor) => void
  readonly links: ReactNode
}

function PasswordForm({ email, onEmail, mfaId, onDone, links }: PasswordFormProps): ReactNode {
  const [password, setPassword] = useState('')
  const submit = async (): Promise<string | undefined> => {
    try {
      onDone(await logInWithPassword(email, password, mfaId))
      return undefined
    } catch (error) {
      if (error instanceof ApiError && error.status === 400) return signIn.wrong
      throw error
    }
  }
  return (
    <Form isDraft={false} onSubmit={submit} submit={signIn.submit} links={links}>
      {mfaId !== undefined && <p>{signIn.alsoPassword}</p>}
      <TextInput
        label={signIn.email}
        value={email}
        onValue={onEmail}
        type="email"
        autoComplete="username"
        required
        autoFocus={email === ''}
      />
      <TextInput
        label={signIn.password}
        value={password}
        onValue={setPassword}
        type="password"
        autoComplete="current-password"
        required
        autoFocus={email !== ''}
      />
    </Form>
  )
}
