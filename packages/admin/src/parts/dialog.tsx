/**
 * Dialogs. The browser's own element keeps the focus inside, gives it back at the end, and closes on Escape. One with something unsaved
 * asks before it closes.
 */
import { createContext, useContext, useId, useLayoutEffect, useState, useRef } from 'react'
import type { Context, ReactNode, RefObject } from 'react'
import { confirmDiscard, question } from '../state/question.ts'
import { useStore } from '../state/store.ts'
import { TEXTS } from '../texts.ts'
import { Button } from './button.tsx'
import { UnsavedParts, useUnsaved } from './use-unsaved.ts'

/** The first control, which takes the focus: people come to type, or to answer. */
const FIRST = '.dialog-body :is(input:not([readonly]), select, textarea)'

/** The element that had the focus before the first of the open dialogs. One may take the place of another. */
let opener: HTMLElement | undefined

interface DialogProps {
  readonly title: string
  /** Beside the title: what the dialog is about. */
  readonly subtitle?: ReactNode
  /** `side`: a sheet at the edge of the page, for long forms. */
  readonly place?: 'middle' | 'side'
  /** Escape, a button, or a press outside; what is unsaved was asked for before. */
  readonly onClose: () => void
  /** Beside what forms in it know: whether something in it is not saved. */
  readonly isUnsaved?: boolean
  readonly children: ReactNode
  readonly footer?: ReactNode
  readonly headActions?: ReactNode
}

/** The element of a dialog, which is open as long as it is rendered. */
function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null)
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
  return element
}

export function Dialog({
  title,
  subtitle,
  place = 'middle',
  onClose,
  isUnsaved = false,
  children,
  footer,
  headActions,
}: DialogProps): ReactNode {
  const element = useModal()
  const [parts] = useState(() => new Set<object>())
  useUnsaved(isUnsaved)
  const close = async (): Promise<void> => {
    if ((!isUnsaved && parts.size === 0) || (await confirmDiscard())) onClose()
  }
  const titleId = useId()
  return (
    <Close value={close}>
      <UnsavedParts value={parts}>
        <dialog
          ref={element}
          className={`dialog dialog-${place}`}
          aria-labelledby={titleId}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || event.defaultPrevented) return
            // React decides: the element stays until it is not rendered.
            event.preventDefault()
            event.stopPropagation()
            void close()
          }}
          onCancel={(event) => {
            // A gesture of going back.
            event.preventDefault()
            if (event.target === event.currentTarget) void close()
          }}
          onMouseDown={(event) => {
            if (event.target === event.currentTarget) void close()
          }}
        >
          <div className="dialog-box">
            <header className="dialog-head">
              <div className="dialog-title">
                <h2 id={titleId}>{title}</h2>
                {subtitle}
              </div>
              {headActions}
              <Button kind="quiet" icon="close" label={TEXTS.actions.close} onPress={close} />
            </header>
            <div className="dialog-body">{children}</div>
            {footer !== undefined && <footer className="dialog-foot">{footer}</footer>}
          </div>
        </dialog>
      </UnsavedParts>
    </Close>
  )
}

/** Closes the dialog that it stands in. */
const Close: Context<() => Promise<void>> = createContext(async () => {})

export function CancelButton({ children = TEXTS.actions.cancel }: { readonly children?: string }): ReactNode {
  return <Button onPress={useContext(Close)}>{children}</Button>
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
