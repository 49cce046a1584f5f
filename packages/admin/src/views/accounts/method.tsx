/** A way to log in, which is on or off, with its options. */
import type { ReactNode } from 'react'
import type { AuthOptions, Collection } from '../../api/collections.ts'

export interface OptionsProps {
  readonly collection: Collection & AuthOptions
  readonly errors: unknown
  readonly onChange: (part: Partial<AuthOptions>) => void
}

interface MethodProps {
  readonly title: string
  readonly text: string
  readonly isOn: boolean
  readonly onOn: (isOn: boolean) => void
  readonly error?: string | undefined
  readonly children?: ReactNode
}

/** A way to log in, which is on or off. Its options are there while it is on. */
export function Method({ title, text, isOn, onOn, error, children }: MethodProps): ReactNode {
  return (
    <section className="rule-card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span className="switch">
          <input
            type="checkbox"
            role="switch"
            aria-label={title}
            checked={isOn}
            onChange={({ target }) => onOn(target.checked)}
          />
        </span>
      </header>
      <p className="def-text">{text}</p>
      {error !== undefined && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      {isOn && children}
    </section>
  )
}
