/** The toolbar of a text: one stop for Tab, arrows from button to button. */
import { useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { EDITORS as texts } from '../../texts/editors.ts'
import { Icon } from '../icon.tsx'
import type { ToolStates } from './rich-text.ts'

interface ToolbarProps {
  readonly label: string
  /** Undefined: the source is shown. */
  readonly tools: ToolStates | undefined
  readonly onTool: (tool: keyof ToolStates) => void
  readonly onSource: () => void
}

/** In the order of the toolbar. */
const LOOKS: Readonly<Record<keyof ToolStates, ReactNode>> = {
  bold: <b>B</b>,
  italic: <i>I</i>,
  underline: <u>U</u>,
  strike: <s>S</s>,
  code: <Icon name="code" />,
  link: <Icon name="url" />,
  heading1: 'H1',
  heading2: 'H2',
  heading3: 'H3',
  bullets: <Icon name="list" />,
  numbers: (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M10 6h10M10 12h10M10 18h10M3 4.500l2-1v6M3 14.500h3l-3 5h3" />
    </svg>
  ),
  quote: '❝',
  codeBlock: '{ }',
  undo: <Icon name="undo" />,
  redo: <Icon name="undo" className="rich-redo" />,
}

const NAMES = Object.keys(LOOKS) as (keyof ToolStates)[]

export function Toolbar({ label, tools, onTool, onSource }: ToolbarProps): ReactNode {
  const bar = useRef<HTMLDivElement>(null)
  const [stop, setStop] = useState(0)
  const names = tools === undefined ? [] : NAMES
  const count = names.length + 1
  const move = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: (stop + 1) % count,
      ArrowLeft: (stop + count - 1) % count,
      Home: 0,
      End: count - 1,
    }
    const next = moves[event.key]
    if (next === undefined || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    setStop(next)
    bar.current?.querySelectorAll('button')[next]?.focus()
  }
  const place = (at: number): { readonly tabIndex: 0 | -1; readonly onFocus: () => void } => ({
    tabIndex: at === Math.min(stop, count - 1) ? 0 : -1,
    onFocus: () => setStop(at),
  })
  return (
    <div ref={bar} role="toolbar" aria-label={label} className="rich-bar" onKeyDown={move}>
      {names.map((name, at) => (
        <Tool
          key={name}
          label={texts.tools[name]}
          isActive={tools![name].isActive}
          isEnabled={tools![name].isEnabled}
          onPress={() => onTool(name)}
          {...place(at)}
        >
          {LOOKS[name]}
        </Tool>
      ))}
      <Tool label={texts.source} isActive={tools === undefined} isEnabled onPress={onSource} {...place(count - 1)}>
        {texts.source}
      </Tool>
    </div>
  )
}

interface ToolProps {
  readonly label: string
  readonly isActive: boolean | undefined
  /** A button that is not enabled stays in reach of the keys: else the focus would be lost with the last undo. */
  readonly isEnabled: boolean
  readonly tabIndex: 0 | -1
  readonly onFocus: () => void
  readonly onPress: () => void
  readonly children: ReactNode
}

function Tool({ label, isActive, isEnabled, onPress, children, ...place }: ToolProps): ReactNode {
  return (
    <button
      {...place}
      type="button"
      className="rich-tool"
      aria-label={label}
      title={label}
      aria-pressed={isActive}
      aria-disabled={isEnabled ? undefined : true}
      // The text keeps its selection.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => isEnabled && onPress()}
    >
      {children}
    </button>
  )
}
