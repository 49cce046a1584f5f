/** An editor of rules, filters, SQL and JSON. It is loaded when it is first shown; until then a plain control takes what is typed. */
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import type { MountedEditor } from './code-mirror.ts'
import type { CodeEditorProps } from './contract.ts'
import { onDemand } from '../../state/on-demand.ts'

export function CodeEditor(props: CodeEditorProps): ReactNode {
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const [editor, setEditor] = useState<MountedEditor>()
  const newest = useRef(props)
  useEffect(() => {
    newest.current = props
  })
  useEffect(() => {
    let mounted: MountedEditor | undefined
    let isGone = false
    void onDemand(() => import('./code-mirror.ts')).then(({ mount }) => {
      if (isGone || host.current === null) return
      const hadFocus = document.activeElement === plain.current
      mounted = mount(host.current, () => newest.current)
      setEditor(mounted)
      if (hadFocus) mounted.focus()
    })
    return () => {
      isGone = true
      mounted?.destroy()
    }
  }, [])
  const { value, onValue, label, hint, isSingleLine = false, onSubmit, control } = props
  useEffect(() => editor?.setValue(value), [editor, value])
  useEffect(() => editor?.describe(), [editor, control?.['aria-invalid'], control?.['aria-describedby']])
  return (
    <div className={`code ${isSingleLine ? 'code-line' : ''}`}>
      {editor === undefined && (
        <textarea
          {...control}
          ref={plain}
          className="code-plain"
          rows={1}
          aria-label={label}
          placeholder={hint}
          spellCheck={false}
          value={value}
          onChange={({ target }) => onValue(target.value)}
          onKeyDown={(event) => {
            if (!isSingleLine || event.key !== 'Enter') return
            event.preventDefault()
            onSubmit?.()
          }}
        />
      )}
      <div
        ref={host}
        className="code-host"
        {...(editor !== undefined && control !== undefined && { id: control.id, tabIndex: -1 })}
        onFocus={() => {
          // By its label: what is inside has the focus in any other case.
          if (host.current?.shadowRoot?.activeElement === null) editor?.focus()
        }}
      />
    </div>
  )
}
