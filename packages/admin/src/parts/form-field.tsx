/** A labelled control with its help and its error, which screen readers read with it. */
import { useId } from 'react'
import type { InputHTMLAttributes, ReactNode } from 'react'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'

/** Attributes of the control inside. */
export interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

interface FormFieldProps {
  readonly label: ReactNode
  readonly icon?: IconName | undefined
  readonly help?: ReactNode
  readonly error?: string | undefined
  readonly isRequired?: boolean | undefined
  readonly children: (control: ControlProps) => ReactNode
}

export function FormField({ label, icon, help, error, isRequired = false, children }: FormFieldProps): ReactNode {
  const id = useId()
  const described = [help !== undefined && `${id}-help`, error !== undefined && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={`field ${error === undefined ? '' : 'field-wrong'}`}>
      {/* An editor is no control of HTML, so its label does not lead there by itself. */}
      <label
        className="field-label"
        id={`${id}-label`}
        htmlFor={id}
        onClick={() => document.getElementById(id)?.focus()}
      >
        {icon !== undefined && <Icon name={icon} />}
        <span>{label}</span>
        {isRequired && (
          <span className="field-required" aria-hidden="true">
            *
          </span>
        )}
      </label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {help !== undefined && (
        <p className="field-help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

interface TextInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly help?: ReactNode
  readonly error?: string | undefined
}

/** A field with one line of text. */
export function TextInput({ label, value, onValue, help, error, required, ...rest }: TextInputProps): ReactNode {
  return (
    <FormField label={label} help={help} error={error}>
      {(control) => (
        <input
          {...rest}
          {...control}
          className="input"
          value={value}
          required={required}
          onChange={({ target }) => onValue(target.value)}
        />
      )}
    </FormField>
  )
}
