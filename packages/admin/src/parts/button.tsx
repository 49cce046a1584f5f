/** Buttons. One that works shows so, and can't be pressed twice. */
import { useRef, useState } from 'react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'
import { reportError } from './toasts.tsx'

type Kind = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick' | 'children'> {
  readonly kind?: Kind | undefined
  readonly icon?: IconName | undefined
  /** The children beside the icon. Without it `label` names the button. */
  readonly children?: ReactNode
  readonly label?: string | undefined
  /** The action of a press. While its promise is open, the button is busy. What it throws is shown in a toast. */
  readonly onPress?: (() => unknown) | undefined
}

export function Button({
  kind = 'plain',
  icon,
  children,
  label,
  onPress,
  disabled,
  className = '',
  type = 'button',
  ...rest
}: ButtonProps): ReactNode {
  const { isBusy, run } = useBusy()
  const isIcon = children === undefined
  return (
    <button
      {...rest}
      type={type}
      className={`button button-${kind} ${isIcon ? 'button-icon' : ''} ${className}`}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      aria-label={label}
      title={isIcon ? label : rest.title}
      onClick={onPress && (() => void run(onPress))}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children !== undefined && <span className="button-text">{children}</span>}
    </button>
  )
}

/** Runs one work at a time. What it throws is shown in a toast. */
export function useBusy(): {
  readonly isBusy: boolean
  readonly run: (work: () => unknown) => Promise<void>
} {
  const [isBusy, setBusy] = useState(false)
  const running = useRef(false)
  const run = async (work: () => unknown): Promise<void> => {
    if (running.current) return
    running.current = true
    const result = work()
    if (result instanceof Promise) {
      setBusy(true)
      await result.catch(reportError)
      setBusy(false)
    }
    running.current = false
  }
  return { isBusy, run }
}
