/** Apple's client secret is a token, signed by a key that Apple has given. The server makes it, and keeps no key. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { makeAppleSecret } from '../../api/definitions.ts'
import { ApiError } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { FormField, TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { DEFINITION_TEXTS as TEXTS } from '../../texts/definitions.ts'

const { apple: texts } = TEXTS.oauth2
/** The lifetime in seconds: some six months, the most that Apple takes. */
const SECONDS = 15_777_000

interface AppleSecretProps {
  readonly clientId: string
  readonly onMade: (clientId: string, secret: string) => void
  readonly onClose: () => void
}

export function AppleSecret({ clientId: given, onMade, onClose }: AppleSecretProps): ReactNode {
  const [clientId, setClientId] = useState(given)
  const [teamId, setTeamId] = useState('')
  const [keyId, setKeyId] = useState('')
  const [privateKey, setPrivateKey] = useState('')
  const [errors, setErrors] = useState<ApiError['fields']>({})
  const make = async (): Promise<string | undefined> => {
    setErrors({})
    try {
      onMade(clientId, await makeAppleSecret({ clientId, teamId, keyId, privateKey, duration: SECONDS }))
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError) || Object.keys(error.fields).length === 0) return errorText(error)
      setErrors(error.fields)
      return undefined
    }
  }
  const one = (name: 'clientId' | 'teamId' | 'keyId', value: string, onValue: (value: string) => void): ReactNode => (
    <TextInput
      label={texts[name]}
      value={value}
      error={errors[name]?.message}
      spellCheck={false}
      autoComplete="off"
      onValue={onValue}
    />
  )
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <Form onSubmit={make} submit={texts.make}>
        <p className="dialog-text">{texts.text}</p>
        {one('clientId', clientId, setClientId)}
        {one('teamId', teamId, setTeamId)}
        {one('keyId', keyId, setKeyId)}
        <FormField label={texts.privateKey} error={errors['privateKey']?.message}>
          {(control) => (
            <textarea
              {...control}
              className="input input-code"
              rows={5}
              spellCheck={false}
              placeholder="-----BEGIN PRIVATE KEY-----"
              value={privateKey}
              onChange={({ target }) => setPrivateKey(target.value)}
            />
          )}
        </FormField>
      </Form>
    </Dialog>
  )
}
