/** Makes a superuser. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { createRecord } from '../../api/records.ts'
import { ApiError } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { NewPassword } from '../../parts/new-password.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { access: texts } = OPERATIONS
const { setup } = TEXTS

export function NewSuperuser({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [errors, setErrors] = useState<ApiError['fields']>({})
  const make = async (): Promise<string | undefined> => {
    setErrors({})
    try {
      await createRecord('_superusers', { email: email.trim(), password, passwordConfirm: password })
      showDone(texts.superuserMade(email.trim()))
      onClose()
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError) || Object.keys(error.fields).length === 0) return errorText(error)
      setErrors(error.fields)
      return undefined
    }
  }
  return (
    <Dialog title={texts.newSuperuser} onClose={onClose}>
      <p className="dialog-text">{setup.text}</p>
      <Form onSubmit={make} submit={texts.makeSuperuser}>
        <TextInput
          label={texts.email}
          type="email"
          autoComplete="off"
          value={email}
          onValue={setEmail}
          error={errors['email']?.message}
          required
        />
        <FormField label={TEXTS.signIn.password} help={setup.passwordHelp} error={errors['password']?.message}>
          {(control) => <NewPassword {...control} value={password} onValue={setPassword} required />}
        </FormField>
      </Form>
    </Dialog>
  )
}
