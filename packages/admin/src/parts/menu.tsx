/** A button that opens a list of actions. Arrow keys move, Escape closes, and the focus goes back to the button. */
import { useEffect, useId, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { Icon } from './icon.tsx'
import type { IconName } from './icon.tsx'
import { reportError } from './toasts.tsx'

export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  readonly isDanger?: boolean
  readonly isDisabled?: boolean
  /** A choice among others that is made, or is not. */
  readonly isChecked?: boolean
  readonly onPress: () => unknown
}

interface MenuProps {
  readonly label: string
  readonly icon?: IconName
  /** Shown in the button; `label` names it otherwise. */
  readonly children?: ReactNode
  readonly items: readonly MenuItem[]
  readonly className?: string
  /** The side on which it opens if there is room. */
  readonly side?: 'below' | 'above'
}

const GAP = 6

export function Menu({ label, icon, children, items, className = '', side = 'below' }: MenuProps): ReactNode {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button ${children === undefined ? 'button-icon' : ''} ${className}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={children === undefined ? label : undefined}
        title={children === undefined ? label : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {icon !== undefined && <Icon name={icon} />}
        {children !== undefined && <span className="button-text">{children}</span>}
      </button>
      {isOpen && <MenuList id={id} label={label} items={items} anchor={button.current!} side={side} onClose={close} />}
    </>
  )
}

interface MenuListProps {
  readonly id: string
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly anchor: HTMLElement
  readonly side: 'below' | 'above'
  readonly onClose: () => void
}

function MenuList({ id, label, items, anchor, side, onClose }: MenuListProps): ReactNode {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = list.current!
    element.showPopover()
    place(element, anchor, side)
    element.querySelector<HTMLElement>('[role^=menuitem]:not(:disabled)')?.focus()
    const closeOutside = (event: Event): void => {
      if (!element.contains(event.target as Node) && !anchor.contains(event.target as Node)) onClose()
    }
    document.addEventListener('pointerdown', closeOutside)
    return () => document.removeEventListener('pointerdown', closeOutside)
    // The list lives as long as it is open.
  }, [])
  return (
    <div
      ref={list}
      id={id}
      className="menu"
      role="menu"
      aria-label={label}
      popover="manual"
      onKeyDown={(event) => onKey(event, onClose)}
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role={item.isChecked === undefined ? 'menuitem' : 'menuitemcheckbox'}
          aria-checked={item.isChecked}
          disabled={item.isDisabled}
          tabIndex={-1}
          className={item.isDanger === true ? 'menu-danger' : ''}
          onClick={() => {
            onClose()
            const result = item.onPress()
            if (result instanceof Promise) result.catch(reportError)
          }}
        >
          {item.isChecked === undefined ? (
            item.icon !== undefined && <Icon name={item.icon} />
          ) : (
            <Tick isOn={item.isChecked} />
          )}
          <span>{item.label}</span>
        </button>
      ))}
    </div>
  )
}

function Tick({ isOn }: { readonly isOn: boolean }): ReactNode {
  return isOn ? <Icon name="check" /> : <span className="icon" />
}

function onKey(event: KeyboardEvent<HTMLElement>, onClose: () => void): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]:not(:disabled)')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault()
    event.stopPropagation()
    return onClose()
  }
  const next = steps[event.key] ?? items.findIndex(({ textContent }) => startsWith(textContent, event.key))
  if (next < 0) return
  event.preventDefault()
  event.stopPropagation()
  items[next]?.focus()
}

function startsWith(text: string, key: string): boolean {
  return key.length === 1 && key !== ' ' && text.toLowerCase().startsWith(key.toLowerCase())
}

/** Places the element at its anchor, inside the window. */
function place(element: HTMLElement, anchor: HTMLElement, side: 'below' | 'above'): void {
  const { left, right, top, bottom } = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = element
  const fitsBelow = bottom + GAP + height <= innerHeight
  const isBelow = side === 'below' ? fitsBelow || top < height + GAP : fitsBelow && top < height + GAP
  const x = left + width + GAP <= innerWidth ? left : right - width
  element.style.left = `${Math.max(GAP, x)}px`
  element.style.top = `${Math.max(GAP, isBelow ? bottom + GAP : top - GAP - height)}px`
}
