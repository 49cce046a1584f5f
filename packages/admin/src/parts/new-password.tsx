/** A password that somebody chooses, or that the page makes and shows. */
import { useState } from 'react'
import type { InputHTMLAttributes, ReactNode } from 'react'
import { useEnvironment } from '../environment.ts'
import { newPassword } from '../state/new-password.ts'
import { TEXTS } from '../texts.ts'
import { Button } from './button.tsx'

interface NewPasswordProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  readonly value: string
  readonly onValue: (password: string) => void
}

export function NewPassword({ value, onValue, ...rest }: NewPasswordProps): ReactNode {
  const environment = useEnvironment()
  const [made, setMade] = useState<string>()
  const make = (): void => {
    const password = newPassword(environment)
    setMade(password)
    onValue(password)
  }
  return (
    <span className="new-password">
      <input
        {...rest}
        className="input"
        type={value !== '' && value === made ? 'text' : 'password'}
        autoComplete="new-password"
        value={value}
        onChange={({ target }) => onValue(target.value)}
      />
      <Button onPress={make}>{TEXTS.newPassword}</Button>
    </span>
  )
}
