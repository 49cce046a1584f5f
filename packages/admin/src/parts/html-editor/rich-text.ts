/** ProseMirror with what the page needs of it. It shows its own elements for what it has read: no stored HTML is ever in the page. */
import { baseKeymap } from 'prosemirror-commands'
import { history, redo, undo } from 'prosemirror-history'
import { keymap } from 'prosemirror-keymap'
import type { Node } from 'prosemirror-model'
import { liftListItem, sinkListItem, splitListItem } from 'prosemirror-schema-list'
import { EditorState } from 'prosemirror-state'
import type { Command, Transaction } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import type { MarkViewConstructor, NodeViewConstructor } from 'prosemirror-view'
import { breakLine, linkAt, setLink, TOOLS } from './commands.ts'
import type { LinkPlace, ToolName } from './commands.ts'
import { htmlOf, parseHtml, schema, withoutInline } from './schema.ts'

/** The contract of the editor with the page around it; attributes may change while the editor stays. */
export interface RichTextProps {
  readonly attributes: Readonly<Record<string, string>>
  readonly onHtml: (html: string) => void
  readonly onLink: () => void
  readonly onTools: (tools: ToolStates) => void
}

export type ToolStates = Readonly<Record<ToolName | 'link', ToolState>>

interface ToolState {
  readonly isActive: boolean | undefined
  readonly isEnabled: boolean
}

export interface RichText {
  /** Sets the text, as a step that can be undone. */
  setHtml(html: string): void
  run(tool: ToolName): void
  link(): LinkPlace
  setLink(place: LinkPlace, href: string): void
  /** The properties have changed. */
  refresh(): void
  focus(): void
  destroy(): void
}

const FROM_PAGE = 'fromPage'

/** `current` gives the newest properties. */
export function mount(host: HTMLElement, html: string, current: () => RichTextProps): RichText {
  const first = parseHtml(html)
  // What came from outside: undoing back to it gives the same HTML, to the character.
  const given = [{ html, doc: first }]
  const view: EditorView = new EditorView(host, {
    state: EditorState.create({ doc: first, plugins: [history(), ...keymaps(() => current().onLink())] }),
    attributes: () => current().attributes,
    transformPastedHTML: (pasted) => withoutInline(pasted).html,
    nodeViews: { image: imageView },
    markViews: { link: linkView },
    // Escape is for the dialog around it.
    handleDOMEvents: { beforeinput: typeOverSelection, keydown: (_view, { key }) => key === 'Escape' },
    dispatchTransaction(transaction: Transaction) {
      view.updateState(view.state.apply(transaction))
      current().onTools(toolStates(view.state))
      if (!transaction.docChanged || transaction.getMeta(FROM_PAGE) === true) return
      const { doc } = view.state
      current().onHtml(given.findLast((one) => one.doc.eq(doc))?.html ?? htmlOf(doc))
    },
  })
  current().onTools(toolStates(view.state))
  const run = (command: Command): void => {
    command(view.state, (transaction) => view.dispatch(transaction), view)
    view.focus()
  }
  return {
    setHtml(next) {
      const doc = parseHtml(next)
      given.push({ html: next, doc })
      if (doc.eq(view.state.doc)) return
      const { tr } = view.state
      view.dispatch(tr.replaceWith(0, tr.doc.content.size, doc.content).setMeta(FROM_PAGE, true))
    },
    run: (tool) => run(TOOLS[tool].run),
    link: () => linkAt(view.state),
    setLink: (place, href) => run(setLink(place, href)),
    refresh: () => view.setProps({}),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}

function keymaps(onLink: () => void): ReturnType<typeof keymap>[] {
  const item = schema.nodes['item']!
  // Tab leaves the text, and Ctrl with Enter saves the form.
  const { 'Mod-Enter': _save, ...others } = baseKeymap
  return [
    keymap({
      'Mod-b': TOOLS.bold.run,
      'Mod-i': TOOLS.italic.run,
      'Mod-u': TOOLS.underline.run,
      'Mod-z': undo,
      'Shift-Mod-z': redo,
      'Mod-y': redo,
      'Mod-[': liftListItem(item),
      'Mod-]': sinkListItem(item),
      'Mod-k': () => {
        onLink()
        return true
      },
      Enter: splitListItem(item),
      'Shift-Enter': breakLine,
    }),
    keymap(others),
  ]
}

function toolStates(state: EditorState): ToolStates {
  const states = Object.entries(TOOLS).map(([name, { run, isActive, isEnabled }]) => {
    return [name, { isActive: isActive?.(state), isEnabled: isEnabled?.(state) ?? run(state) }]
  })
  const link = { isActive: linkAt(state).href !== '', isEnabled: true }
  return { ...Object.fromEntries(states), link } as ToolStates
}

/**
 * Types over a selection. Browsers would keep its look by a style in the markup, which the policy of the page forbids, and says so in the
 * console.
 */
function typeOverSelection(view: EditorView, event: InputEvent): boolean {
  const { inputType, data, isComposing } = event
  if (inputType !== 'insertText' || data === null || isComposing || view.state.selection.empty) return false
  event.preventDefault()
  view.dispatch(view.state.tr.insertText(data).scrollIntoView())
  return true
}

/** Shows a link with its address as the title. The link leads nowhere, because its text is edited here. */
const linkView: MarkViewConstructor = ({ attrs }) => {
  const dom = document.createElement('span')
  dom.className = 'rich-link'
  dom.title = String(attrs['href'])
  return { dom }
}

/** The policy of the page admits pictures of its own origin alone. Others are their description. */
const imageView: NodeViewConstructor = (node: Node) => {
  const { src, alt } = node.attrs as { readonly src: string; readonly alt: string | null }
  const isOwn =
    src.startsWith('data:image/') || (URL.canParse(src, location.href) && isHere(new URL(src, location.href)))
  const dom = document.createElement(isOwn ? 'img' : 'span')
  dom.className = 'rich-image'
  dom.title = src
  if (dom instanceof HTMLImageElement) Object.assign(dom, { src, alt: alt ?? '' })
  else dom.textContent = alt === null || alt === '' ? src : alt
  return { dom }
}

function isHere({ origin }: URL): boolean {
  return origin === location.origin
}
