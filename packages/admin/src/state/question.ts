/** `confirm` asks a question from anywhere. `parts/dialog.tsx` shows it. */
import { TEXTS } from '../texts.ts'
import { Store } from './store.ts'

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

export const question: Store<OpenQuestion | undefined> = new Store<OpenQuestion | undefined>(undefined)

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

/** Asks to confirm that typed text may be discarded. */
export function confirmDiscard(): Promise<boolean> {
  const { title, text, yes } = TEXTS.discard
  return confirm({ title, text, yes, isDanger: true })
}
