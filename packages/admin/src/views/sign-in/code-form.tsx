/** Sends a one-time password by mail, and signs in with it. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { logInWithCode, requestCode } from '../../api/accounts.ts'
import type { Login, SecondFactor } from '../../api/accounts.ts'
import { ApiError } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { TEXTS } from '../../texts.ts'

const { signIn } = TEXTS

interface CodeFormProps {
  readonly email: string
  readonly mfaId: string | undefined
  readonly onDone: (result: Login | SecondFactor) => void
  readonly onBack: () => void
}

export function CodeForm({ email: known, mfaId, onDone, onBack }: CodeFormProps): ReactNode {
  const [email, setEmail] = useState(known)
  const [code, setCode] = useState('')
  const [otpId, setOtpId] = useState<string>()
  const submit = async (): Promise<string | undefined> => {
    try {
      if (otpId === undefined) setOtpId(await requestCode(email))
      else onDone(await logInWithCode(otpId, code.trim(), mfaId))
      return undefined
    } catch (error) {
      if (otpId !== undefined && error instanceof ApiError && error.status === 400) return signIn.wrongCode
      throw error
    }
  }
  const back = (
    <Button kind="quiet" icon="back" onPress={onBack}>
      {TEXTS.actions.back}
    </Button>
  )
  return (
    <Form isDraft={false} onSubmit={submit} submit={otpId === undefined ? signIn.sendCode : signIn.submit} links={back}>
      {mfaId !== undefined && <p>{signIn.alsoCode}</p>}
      {otpId === undefined ? (
        <TextInput
          key="email"
          label={signIn.email}
          value={email}
          onValue={setEmail}
          type="email"
          autoComplete="username"
          required
          autoFocus
        />
      ) : (
        <TextInput
          key="code"
          label={signIn.code}
          help={signIn.codeSent(email)}
          value={code}
          onValue={setCode}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          autoFocus
        />
      )}
    </Form>
  )
}
