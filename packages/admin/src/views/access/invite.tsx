/** Makes an account for somebody, who gets a mail to choose a password by. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { sendPasswordReset } from '../../api/access.ts'
import { createRecord } from '../../api/records.ts'
import { ApiError } from '../../api/request.ts'
import { useEnvironment } from '../../environment.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useCollections } from '../../state/collections.ts'
import { newPassword } from '../../state/new-password.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { invite: texts, email: emailLabel, collection: collectionLabel } = OPERATIONS.access

interface InviteProps {
  /** The name of the collection that is chosen at first. */
  readonly collection: string
  readonly onClose: () => void
}

export function Invite({ collection, onClose }: InviteProps): ReactNode {
  const { list } = useCollections()
  const environment = useEnvironment()
  // Others take no password, so nobody could choose one.
  const collections = list.filter(({ type, passwordAuth }) => type === 'auth' && passwordAuth?.enabled === true)
  const [chosen, setName] = useState(collection)
  const { name } = collections.find((one) => one.name === chosen) ?? collections[0] ?? { name: chosen }
  const [email, setEmail] = useState('')
  const [error, setError] = useState<string>()
  const send = async (): Promise<string | undefined> => {
    setError(undefined)
    const address = email.trim()
    const password = newPassword(environment)
    try {
      await createRecord(name, { email: address, password, passwordConfirm: password })
    } catch (failure) {
      const ofEmail = failure instanceof ApiError ? failure.fields['email'] : undefined
      if (ofEmail === undefined) return errorText(failure)
      setError(ofEmail.message)
      return undefined
    }
    await sendPasswordReset(name, address)
    showDone(texts.sent(address))
    onClose()
    return undefined
  }
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p className="dialog-text">{texts.text}</p>
      <Form onSubmit={send} submit={texts.submit}>
        <FormField label={collectionLabel}>
          {(control) => (
            <select {...control} className="input" value={name} onChange={({ target }) => setName(target.value)}>
              {collections.map((one) => (
                <option key={one.id}>{one.name}</option>
              ))}
            </select>
          )}
        </FormField>
        <TextInput
          label={emailLabel}
          type="email"
          autoComplete="off"
          value={email}
          onValue={setEmail}
          error={error}
          required
        />
      </Form>
    </Dialog>
  )
}
