/** Sends a mail with a link that sets another password. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { requestPasswordReset } from '../../api/accounts.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { TEXTS } from '../../texts.ts'

const { signIn } = TEXTS

interface ForgottenPasswordProps {
  readonly email: string
  readonly onBack: () => void
}

export function ForgottenPassword({ email: known, onBack }: ForgottenPasswordProps): ReactNode {
  const [email, setEmail] = useState(known)
  const [isSent, setSent] = useState(false)
  const submit = async (): Promise<undefined> => {
    await requestPasswordReset(email)
    setSent(true)
  }
  const back = (
    <Button kind="quiet" icon="back" onPress={onBack}>
      {TEXTS.actions.back}
    </Button>
  )
  if (isSent)
    return (
      <>
        <p role="status">{signIn.linkSent(email)}</p>
        <div className="card-links">{back}</div>
      </>
    )
  return (
    <Form isDraft={false} onSubmit={submit} submit={signIn.sendLink} links={back}>
      <TextInput
        label={signIn.email}
        help={signIn.linkHelp}
        value={email}
        onValue={setEmail}
        type="email"
        required
        autoFocus
      />
    </Form>
  )
}
