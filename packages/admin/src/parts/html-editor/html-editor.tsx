/**
 * The editor of HTML: as text with a toolbar, or as its source. The text is loaded when it is first shown; until then the source takes what
 * is typed. HTML that the text would change is shown as source, with the reason.
 */
import { useEffect, useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { preinit } from 'react-dom'
import { onDemand } from '../../state/on-demand.ts'
import sheet from './html-editor.css'
import { HtmlSource } from './html-source.tsx'
import type { HtmlEditorProps } from './html-source.tsx'
import type { RichEditor as RichEditorView } from './rich-editor.tsx'

export function HtmlEditor(props: HtmlEditorProps): ReactNode {
  const source = useRef<HTMLTextAreaElement>(null)
  const [RichEditor, setRichEditor] = useState<typeof RichEditorView>()
  useEffect(() => {
    let isGone = false
    preinit(sheet, { as: 'style', precedence: 'page' })
    void onDemand(() => import('./rich-editor.tsx')).then((loaded) => {
      // Nothing is taken away from under the hands of a person who types.
      if (!isGone && document.activeElement !== source.current) setRichEditor(() => loaded.RichEditor)
    })
    return () => {
      isGone = true
    }
  }, [])
  if (RichEditor !== undefined) return <RichEditor {...props} />
  return <HtmlSource {...props} ref={source} />
}
