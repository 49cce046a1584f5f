/** Asks for the address of a link. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { EDITORS as texts } from '../../texts/editors.ts'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { TextInput } from '../form-field.tsx'
import { isSafeLink } from './schema.ts'

interface LinkDialogProps {
  /** '' before it has one. */
  readonly href: string
  readonly onClose: () => void
  /** Sets the href; '' removes the link. */
  readonly onHref: (href: string) => void
}

export function LinkDialog({ href, onClose, onHref }: LinkDialogProps): ReactNode {
  const [address, setAddress] = useState(href)
  const [error, setError] = useState<string>()
  const set = (): void => {
    const wanted = address.trim()
    if (wanted === '' || isSafeLink(wanted)) onHref(wanted)
    else setError(texts.linkUnsafe(wanted))
  }
  return (
    <Dialog
      title={texts.linkTitle}
      onClose={onClose}
      footer={
        <>
          {href !== '' && <Button onPress={() => onHref('')}>{texts.removeLink}</Button>}
          <Button kind="primary" onPress={set}>
            {texts.setLink}
          </Button>
        </>
      }
    >
      <TextInput
        label={texts.linkAddress}
        help={texts.linkHelp}
        error={error}
        inputMode="url"
        autoComplete="off"
        value={address}
        onValue={setAddress}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          // It would send the form around it.
          event.preventDefault()
          event.stopPropagation()
          set()
        }}
      />
    </Dialog>
  )
}
