/** HTML as text, with its toolbar and the switch to the source. */
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ReactNode, RefObject } from 'react'
import { EDITORS as texts } from '../../texts/editors.ts'
import { confirm } from '../../state/question.ts'
import { HtmlSource } from './html-source.tsx'
import type { HtmlEditorProps } from './html-source.tsx'
import { LinkDialog } from './link-dialog.tsx'
import { lossesOf } from './losses.ts'
import type { LinkPlace } from './commands.ts'
import { mount } from './rich-text.ts'
import type { RichText, RichTextProps, ToolStates } from './rich-text.ts'
import { Toolbar } from './toolbar.tsx'

export function RichEditor(props: HtmlEditorProps): ReactNode {
  const { name, value, control } = props
  const [isSource, setSource] = useState(() => lossesOf(value) !== undefined)
  const losses = useMemo(() => (isSource ? lossesOf(value) : undefined), [isSource, value])
  const [tools, setTools] = useState<ToolStates>()
  const [link, setLink] = useState<LinkPlace>()
  const text = useRef<RichText>(undefined)
  const openLink = (): void => setLink(text.current?.link())
  const host = useRichText(props, isSource, text, { onTools: setTools, onLink: openLink })
  const toggle = async (): Promise<void> => {
    const question = { title: texts.lossTitle, text: texts.lossText, yes: texts.lossYes, isDanger: true }
    if (losses !== undefined && !(await confirm(question))) return
    setSource(!isSource)
  }
  const whyId = `${control.id}-why`
  return (
    <div className="rich">
      <Toolbar
        label={texts.toolbar(name)}
        tools={isSource ? undefined : tools}
        onTool={(tool) => (tool === 'link' ? openLink() : text.current?.run(tool))}
        onSource={() => void toggle()}
      />
      {losses !== undefined && (
        <p className="rich-why" id={whyId}>
          {losses.isOtherwise ? texts.otherwise : texts.unknown(losses.unknown)}
        </p>
      )}
      {isSource && <HtmlSource {...props} control={losses === undefined ? control : describedBy(control, whyId)} />}
      <div ref={host} hidden={isSource} />
      {link !== undefined && (
        <LinkDialog
          href={link.href}
          onClose={() => setLink(undefined)}
          onHref={(href) => {
            setLink(undefined)
            text.current?.setLink(link, href)
          }}
        />
      )}
    </div>
  )
}

function describedBy(control: HtmlEditorProps['control'], id: string): HtmlEditorProps['control'] {
  return { ...control, 'aria-describedby': [control['aria-describedby'], id].filter(Boolean).join(' ') }
}

/** Keeps the text in the element that it gives. While the source is shown the text is hidden, with what can be undone. */
function useRichText(
  { value, onValue, control }: HtmlEditorProps,
  isSource: boolean,
  text: RefObject<RichText | undefined>,
  { onTools, onLink }: Pick<RichTextProps, 'onTools' | 'onLink'>,
): RefObject<HTMLDivElement | null> {
  const host = useRef<HTMLDivElement>(null)
  const newest = useRef({ value, props: undefined as RichTextProps | undefined })
  const attributes = attributesOf(control, isSource)
  useEffect(() => {
    const onHtml = (html: string): void => {
      newest.current.value = html
      onValue(html)
    }
    newest.current.props = { attributes, onHtml, onLink, onTools }
  })
  useEffect(() => {
    if (isSource) return
    if (text.current === undefined) text.current = mount(host.current!, value, () => newest.current.props!)
    else if (value !== newest.current.value) text.current.setHtml(value)
    newest.current.value = value
  }, [isSource, value, text])
  useEffect(() => text.current?.refresh(), [attributes['aria-invalid'], attributes['aria-describedby'], isSource, text])
  useEffect(
    () => () => {
      text.current?.destroy()
      text.current = undefined
    },
    [text],
  )
  return host
}

/** The element of the label is the text, unless that is hidden. */
function attributesOf(control: HtmlEditorProps['control'], isSource: boolean): Record<string, string> {
  const { id, 'aria-describedby': described, 'aria-invalid': isInvalid } = control
  return {
    class: 'rich-text input',
    role: 'textbox',
    'aria-multiline': 'true',
    'aria-labelledby': `${id}-label`,
    ...(!isSource && { id }),
    ...(described !== undefined && { 'aria-describedby': described }),
    ...(isInvalid && { 'aria-invalid': 'true' }),
  }
}
