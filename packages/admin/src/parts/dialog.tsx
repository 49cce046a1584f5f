/**
 * Dialogs. The browser's own element keeps the focus inside, gives it back at the end, and closes on Escape. `confirm` asks a question
 * from anywhere.
 */
import { useId, useLayoutEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { Store, useStore } from '../state/store.ts'
import { TEXTS } from '../texts.ts'
import { Button } from './button.tsx'

/** What takes the focus: one has come to type, or to answer. */
const FIRST = '.dialog-body :is(input:not([readonly]), select, textarea)'

/** What had the focus before the first of the open dialogs. One may take the place of another. */
let opener: HTMLElement | undefined

interface DialogProps {
  readonly title: string
  /** Beside the title: what the dialog is about. */
  readonly subtitle?: ReactNode
  /** `side`: a sheet at the edge of the page, for long forms. */
  readonly place?: 'middle' | 'side'
  /** Escape, the button, or a press outside. It may ask, and close later or never. */
  readonly onClose: () => void
  readonly children: ReactNode
  readonly footer?: ReactNode
  readonly headActions?: ReactNode
}

export function Dialog({
  title,
  subtitle,
  place = 'middle',
  onClose,
  children,
  footer,
  headActions,
}: DialogProps): ReactNode {
  const element = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // In the same step as it is drawn: a key pressed from then on goes to the dialog.
  useLayoutEffect(() => {
    const { current } = element
    const { activeElement } = document
    const isOutside = activeElement instanceof HTMLElement && activeElement.closest('dialog') === null
    if (isOutside && activeElement !== document.body) opener = activeElement
    current?.showModal()
    const first =
      current?.querySelector<HTMLElement>(FIRST) ?? current?.querySelector<HTMLElement>('.dialog-foot button')
    first?.focus()
    return () => {
      current?.close()
      if (document.querySelector('dialog[open]') === null) opener?.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      className={`dialog dialog-${place}`}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        // React decides: the element stays until it is not rendered.
        event.preventDefault()
        event.stopPropagation()
        onClose()
      }}
      onCancel={(event) => {
        // A gesture of going back.
        event.preventDefault()
        if (event.target === event.currentTarget) onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose()
      }}
    >
      <div className="dialog-box">
        <header className="dialog-head">
          <div className="dialog-title">
            <h2 id={titleId}>{title}</h2>
            {subtitle}
          </div>
          {headActions}
          <Button kind="quiet" icon="close" label={TEXTS.actions.close} onPress={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {footer !== undefined && <footer className="dialog-foot">{footer}</footer>}
      </div>
    </dialog>
  )
}

interface Question {
  readonly title: string
  readonly text: string
  /** The name of the button that says yes. */
  readonly yes: string
  readonly isDanger?: boolean
}

interface OpenQuestion extends Question {
  readonly answer: (yes: boolean) => void
}

const question = new Store<OpenQuestion | undefined>(undefined)

/** Resolves with what the user has pressed. */
export function confirm(asked: Question): Promise<boolean> {
  question.get()?.answer(false)
  return new Promise((resolve) => {
    question.set({
      ...asked,
      answer: (yes) => {
        question.set(undefined)
        resolve(yes)
      },
    })
  })
}

/** Where questions are shown; once in the page. */
export function Questions(): ReactNode {
  const open = useStore(question)
  if (open === undefined) return null
  const { title, text, yes, isDanger = false, answer } = open
  return (
    <Dialog
      title={title}
      onClose={() => answer(false)}
      footer={
        <>
          <Button autoFocus onPress={() => answer(false)}>
            {TEXTS.actions.cancel}
          </Button>
          <Button kind={isDanger ? 'danger' : 'primary'} onPress={() => answer(true)}>
            {yes}
          </Button>
        </>
      }
    >
      <p className="question">{text}</p>
    </Dialog>
  )
}
