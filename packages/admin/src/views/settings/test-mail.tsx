/** Sends a mail by the settings that are stored. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/request.ts'
import { sendTestMail } from '../../api/settings.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { useCollections } from '../../state/collections.ts'
import { session } from '../../state/session.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { settings: texts } = OPERATIONS
const TEMPLATES = ['verification', 'password-reset', 'email-change', 'otp', 'login-alert'] as const

export function TestMail({ isSaved }: { readonly isSaved: boolean }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="settings-test">
      <Button icon="email" disabled={!isSaved} onPress={() => setOpen(true)}>
        {texts.testMail}
      </Button>
      {!isSaved && <p className="field-help">{texts.saveFirst}</p>}
      {isOpen && (
        <Dialog title={texts.testMailTitle} onClose={() => setOpen(false)}>
          <TestMailForm onSent={() => setOpen(false)} />
        </Dialog>
      )}
    </div>
  )
}

function TestMailForm({ onSent }: { readonly onSent: () => void }): ReactNode {
  const { list } = useCollections()
  const accounts = list.filter(({ type }) => type === 'auth')
  const [email, setEmail] = useState(session.get()?.record.email ?? '')
  const [collection, setCollection] = useState(accounts.find(({ system }) => !system)?.name ?? '_superusers')
  const [template, setTemplate] = useState<string>(TEMPLATES[0])
  const [emailError, setEmailError] = useState<string>()
  const send = async (): Promise<string | undefined> => {
    setEmailError(undefined)
    try {
      await sendTestMail({ email, collection, template })
      showDone(texts.mailSent(email))
      onSent()
      return undefined
    } catch (error) {
      const ofEmail = error instanceof ApiError ? error.fields['email'] : undefined
      if (ofEmail === undefined) return errorText(error)
      setEmailError(ofEmail.message)
      return undefined
    }
  }
  return (
    <Form onSubmit={send} submit={texts.sendMail}>
      <TextInput label={texts.mailTo} type="email" value={email} onValue={setEmail} error={emailError} required />
      <FormField label={texts.mailTemplate}>
        {(control) => (
          <select {...control} className="input" value={template} onChange={({ target }) => setTemplate(target.value)}>
            {TEMPLATES.map((name) => (
              <option key={name} value={name}>
                {texts.templates[name]}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <FormField label={texts.mailCollection} help={texts.mailCollectionHelp}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={collection}
            onChange={({ target }) => setCollection(target.value)}
          >
            {accounts.map(({ id, name }) => (
              <option key={id} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </FormField>
    </Form>
  )
}
