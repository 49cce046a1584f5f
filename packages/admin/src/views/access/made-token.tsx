/** A token that was just made. Nothing else in the page has it. */
import type { ReactNode } from 'react'
import { apiUrl } from '../../api/request.ts'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TEXTS } from '../../texts.ts'
import { OPERATIONS } from '../../texts/operations.ts'

const { access: texts } = OPERATIONS

interface MadeTokenProps {
  readonly token: string
  readonly text: string
  /** The word before the token in the header: `Bearer ` for API tokens. */
  readonly scheme: string
  readonly onClose: () => void
}

export function MadeToken({ token, text, scheme, onClose }: MadeTokenProps): ReactNode {
  const curl = `curl -H "Authorization: ${scheme}${token}" '${apiUrl('/collections/…/records')}'`
  return (
    <Dialog
      title={texts.tokenMade}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{TEXTS.actions.close}</Button>
          <Button icon="code" onPress={() => copyText(curl)}>
            {TEXTS.copy.asCurl}
          </Button>
          <Button kind="primary" icon="copy" onPress={() => copyText(token)}>
            {texts.copyToken}
          </Button>
        </>
      }
    >
      <p className="dialog-text">{text}</p>
      <pre className="facts-json token" tabIndex={0} role="region" aria-label={texts.token}>
        {token}
      </pre>
    </Dialog>
  )
}
