/** The contract of an editor of code: the text, its language, and help for writing it. */

import type { ControlProps } from '../form-field.tsx'

/** A place in the text that is wrong. */
export interface Mistake {
  /** The position at which, in characters from the start. */
  readonly at: number
  readonly message: string
}

export interface Completions {
  /** Where the word begins that an option replaces. */
  readonly from: number
  readonly options: readonly { readonly label: string; readonly detail?: string; readonly apply?: string }[]
  /** Shown without a word too. */
  readonly isOffered?: boolean
}

export interface CodeEditorProps {
  readonly language: 'rule' | 'json' | 'sql'
  /** The name of the control. */
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** Attributes of the editor as the control of a form's field. */
  readonly control?: ControlProps
  /** Shown while it is empty. */
  readonly hint?: string
  readonly isSingleLine?: boolean
  /** Enter, on a single line. */
  readonly onSubmit?: () => void
  readonly complete?: (text: string, position: number) => Completions | undefined
  readonly check?: (text: string) => readonly Mistake[]
}
