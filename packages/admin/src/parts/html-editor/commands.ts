/** Commands of the toolbar and the keys. */
import { chainCommands, exitCode, lift, setBlockType, toggleMark, wrapIn } from 'prosemirror-commands'
import { redo, redoDepth, undo, undoDepth } from 'prosemirror-history'
import type { MarkType, NodeType } from 'prosemirror-model'
import { liftListItem, wrapInList } from 'prosemirror-schema-list'
import type { Command, EditorState } from 'prosemirror-state'
import { schema } from './schema.ts'

interface Tool {
  readonly run: Command
  /** Undefined: it has no state. */
  readonly isActive?: (state: EditorState) => boolean
  readonly isEnabled?: (state: EditorState) => boolean
}

export type ToolName =
  | 'bold'
  | 'italic'
  | 'underline'
  | 'strike'
  | 'code'
  | 'heading1'
  | 'heading2'
  | 'heading3'
  | 'bullets'
  | 'numbers'
  | 'quote'
  | 'codeBlock'
  | 'undo'
  | 'redo'

const { marks, nodes } = schema
const paragraph = nodes['paragraph']!

/** By name. A link has a dialog of its own. */
export const TOOLS: Readonly<Record<ToolName, Tool>> = {
  bold: markTool(marks['bold']!),
  italic: markTool(marks['italic']!),
  underline: markTool(marks['underline']!),
  strike: markTool(marks['strike']!),
  code: markTool(marks['code']!),
  heading1: blockTool(nodes['heading']!, { level: 1 }),
  heading2: blockTool(nodes['heading']!, { level: 2 }),
  heading3: blockTool(nodes['heading']!, { level: 3 }),
  bullets: listTool(nodes['bullets']!),
  numbers: listTool(nodes['numbers']!),
  quote: wrapTool(nodes['blockquote']!),
  codeBlock: blockTool(nodes['codeBlock']!),
  undo: { run: undo, isEnabled: (state) => undoDepth(state) > 0 },
  redo: { run: redo, isEnabled: (state) => redoDepth(state) > 0 },
}

/** In a block of code Enter would not leave it. */
export const breakLine: Command = chainCommands(exitCode, (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(nodes['break']!.create()).scrollIntoView())
  return true
})

export interface LinkPlace {
  readonly from: number
  readonly to: number
  readonly href: string
}

/** The link at the cursor as a whole, or what is selected. */
export function linkAt({ selection, doc }: EditorState): LinkPlace {
  const { $from, from, to, empty } = selection
  const link = marks['link']!
  const mark = link.isInSet($from.marks()) ?? link.isInSet(doc.nodeAt(from)?.marks ?? [])
  const href = String(mark?.attrs['href'] ?? '')
  if (mark === undefined || !empty) return { from, to, href }
  const start = $from.start()
  const range = { from, to }
  $from.parent.forEach((child, offset) => {
    if (!mark.isInSet(child.marks)) return
    const [first, last] = [start + offset, start + offset + child.nodeSize]
    if (last >= from && first <= from) Object.assign(range, { from: first, to: last })
  })
  return { ...range, href }
}

/** '' removes it. An address without a text becomes the text. */
export function setLink({ from, to }: LinkPlace, href: string): Command {
  return (state, dispatch) => {
    const link = marks['link']!
    const tr = state.tr.removeMark(from, to, link)
    if (href !== '' && from === to) tr.insert(from, schema.text(href, [link.create({ href })]))
    else if (href !== '') tr.addMark(from, to, link.create({ href }))
    dispatch?.(tr.scrollIntoView())
    return true
  }
}

function markTool(type: MarkType): Tool {
  return {
    run: toggleMark(type),
    isActive: ({ selection: { $from, from, to, empty }, storedMarks, doc }) =>
      empty ? type.isInSet(storedMarks ?? $from.marks()) !== undefined : doc.rangeHasMark(from, to, type),
  }
}

function blockTool(type: NodeType, attrs: Readonly<Record<string, unknown>> = {}): Tool {
  const isActive = ({ selection: { $from } }: EditorState): boolean => $from.parent.hasMarkup(type, attrs)
  return {
    run: (state, dispatch) => (isActive(state) ? setBlockType(paragraph) : setBlockType(type, attrs))(state, dispatch),
    isActive,
  }
}

function wrapTool(type: NodeType): Tool {
  const isActive = (state: EditorState): boolean => isInside(state, type)
  return { run: (state, dispatch) => (isActive(state) ? lift : wrapIn(type))(state, dispatch), isActive }
}

function listTool(type: NodeType): Tool {
  const isActive = (state: EditorState): boolean => isInside(state, type)
  return {
    run: (state, dispatch) => (isActive(state) ? liftListItem(nodes['item']!) : wrapInList(type))(state, dispatch),
    isActive,
  }
}

function isInside({ selection: { $from } }: EditorState, type: NodeType): boolean {
  for (let depth = $from.depth; depth > 0; depth--) if ($from.node(depth).type === type) return true
  return false
}
