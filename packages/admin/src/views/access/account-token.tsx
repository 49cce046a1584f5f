/** A token that acts as an account, for a while. It is not refreshed, and is shown once. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { impersonate } from '../../api/access.ts'
import { ApiError } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText } from '../../parts/toasts.tsx'
import { OPERATIONS } from '../../texts/operations.ts'
import { MadeToken } from './made-token.tsx'

const { access: texts } = OPERATIONS

interface AccountTokenProps {
  readonly collection: string
  readonly id: string
  /** The name of the account. */
  readonly name: string
  readonly onClose: () => void
}

export function AccountToken({ collection, id, name, onClose }: AccountTokenProps): ReactNode {
  const [token, setToken] = useState<string>()
  const [seconds, setSeconds] = useState('')
  const [error, setError] = useState<string>()
  if (token !== undefined) return <MadeToken token={token} text={texts.actAsOnce(name)} scheme="" onClose={onClose} />
  const make = async (): Promise<string | undefined> => {
    setError(undefined)
    try {
      setToken(await impersonate(collection, id, seconds.trim() === '' ? 0 : Number(seconds)))
      return undefined
    } catch (failure) {
      const wrong = failure instanceof ApiError ? failure.fields['duration'] : undefined
      setError(wrong?.message)
      return wrong === undefined ? errorText(failure) : undefined
    }
  }
  return (
    <Dialog title={texts.actAsTitle(name)} onClose={onClose}>
      <Form onSubmit={make} submit={texts.makeToken}>
        <p className="dialog-text">{texts.actAsText}</p>
        <TextInput
          label={texts.duration}
          help={texts.durationHelp}
          value={seconds}
          onValue={setSeconds}
          error={error}
          type="number"
          inputMode="numeric"
        />
      </Form>
    </Dialog>
  )
}
