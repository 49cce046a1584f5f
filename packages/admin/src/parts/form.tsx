/** A form with one button that sends it, and what the last try has failed with. */
import { useState } from 'react'
import type { ReactNode } from 'react'
import { Button, useBusy } from './button.tsx'
import { errorText } from './toasts.tsx'
import { useUnsaved } from './use-unsaved.ts'

interface FormProps {
  /** Submits the form. The message of an error is shown above the button. A text that it returns is shown so too. */
  readonly onSubmit: () => Promise<string | undefined>
  /** The name of the button. */
  readonly submit: string
  readonly children: ReactNode
  /** The links below the button. */
  readonly links?: ReactNode
  /** True for a draft: leaving it asks first, once something was typed. Those that stay after success are not drafts. */
  readonly isDraft?: boolean
}

export function Form({ onSubmit, submit, children, links, isDraft = true }: FormProps): ReactNode {
  const [isTyped, setTyped] = useState(false)
  useUnsaved(isTyped && isDraft)
  const [refusal, setRefusal] = useState('')
  const { isBusy, run } = useBusy()
  const send = async (): Promise<void> => {
    setRefusal('')
    setRefusal((await onSubmit().catch(errorText)) ?? '')
  }
  return (
    <form
      className="form"
      onInput={() => setTyped(true)}
      onSubmit={(event) => {
        event.preventDefault()
        void run(send)
      }}
    >
      {children}
      <p className="refusal" role="alert" hidden={refusal === ''}>
        {refusal}
      </p>
      <Button kind="primary" type="submit" className="button-wide" disabled={isBusy} aria-busy={isBusy}>
        {submit}
      </Button>
      {links !== undefined && <div className="card-links">{links}</div>}
    </form>
  )
}
