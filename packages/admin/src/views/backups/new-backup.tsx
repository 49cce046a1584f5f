/** Makes a backup. The server answers when it is made. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { makeBackup } from '../../api/operations.ts'
import { ApiError } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextInput } from '../../parts/form-field.tsx'
import { Form } from '../../parts/form.tsx'
import { errorText, showDone } from '../../parts/toasts.tsx'
import { OPERATIONS } from '../../texts/operations.ts'

const { backups: texts } = OPERATIONS

interface NewBackupProps {
  readonly onClose: () => void
  readonly onMade: () => Promise<void>
}

export function NewBackup({ onClose, onMade }: NewBackupProps): ReactNode {
  const [name, setName] = useState('')
  const [nameError, setNameError] = useState<string>()
  const [isMaking, setMaking] = useState(false)
  const make = async (): Promise<string | undefined> => {
    setNameError(undefined)
    setMaking(true)
    try {
      await makeBackup(name.trim())
      showDone(texts.isMade)
      onClose()
      await onMade()
      return undefined
    } catch (error) {
      const ofName = error instanceof ApiError ? error.fields['name'] : undefined
      if (ofName === undefined) return errorText(error)
      setNameError(ofName.message)
      return undefined
    } finally {
      setMaking(false)
    }
  }
  return (
    <Dialog title={texts.newTitle} onClose={onClose}>
      <p className="dialog-text">{texts.newText}</p>
      <Form onSubmit={make} submit={texts.make}>
        <TextInput
          label={texts.nameOptional}
          help={texts.nameHelp}
          error={nameError}
          value={name}
          onValue={setName}
          placeholder="before_update.zip"
          spellCheck={false}
          autoComplete="off"
        />
        <p role="status">{isMaking ? texts.isMaking : ''}</p>
      </Form>
    </Dialog>
  )
}
