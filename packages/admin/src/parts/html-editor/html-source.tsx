/** The source of a field of HTML. */
import type { ReactNode, Ref } from 'react'
import type { ControlProps } from '../form-field.tsx'

export interface HtmlEditorProps {
  /** The name of the field. */
  readonly name: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly control: ControlProps
}

interface SourceProps extends HtmlEditorProps {
  readonly ref?: Ref<HTMLTextAreaElement>
}

export function HtmlSource({ value, onValue, control, ref }: SourceProps): ReactNode {
  return (
    <textarea
      {...control}
      ref={ref}
      className="input input-code"
      rows={6}
      spellCheck={false}
      value={value}
      onChange={({ target }) => onValue(target.value)}
    />
  )
}
