/**
 * CodeMirror with what the page needs of it. It stands in a shadow root: there it takes its styles as objects, which the policy of the
 * page allows. It sees the colours of the page, as those are variables.
 */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting, syntaxTree } from '@codemirror/language'
import { linter } from '@codemirror/lint'
import type { Diagnostic } from '@codemirror/lint'
import { Annotation, EditorState } from '@codemirror/state'
import type { Extension, Transaction } from '@codemirror/state'
import { EditorView, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { CodeEditorProps, Mistake } from './contract.ts'

export interface MountedEditor {
  setValue(value: string): void
  focus(): void
  /** The description of the control has changed. */
  describe(): void
  destroy(): void
}

type Current = () => CodeEditorProps

const LINT_MS = 200
const fromPage = Annotation.define<true>()

/** `current` gives the newest properties: they change while the editor stays. */
export function mount(host: HTMLElement, current: Current): MountedEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const { value } = current()
  const state = EditorState.create({ doc: value, extensions: extensionsOf(current) })
  const view = new EditorView({ state, root, parent: root })
  return {
    setValue: (next) => {
      if (view.state.doc.toString() === next) return
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: next },
        annotations: fromPage.of(true),
      })
    },
    focus: () => {
      view.focus()
      view.dispatch({ selection: { anchor: view.state.doc.length } })
    },
    describe: () => view.dispatch({}),
    destroy: () => view.destroy(),
  }
}

function extensionsOf(current: Current): Extension[] {
  const { language, isSingleLine = false, label, hint = '' } = current()
  return [
    history(),
    bracketMatching(),
    closeBrackets(),
    language === 'json' ? json() : language === 'sql' ? SQL : RULES,
    syntaxHighlighting(COLOURS),
    THEME,
    placeholder(hint),
    isSingleLine ? singleLine(current) : EditorView.lineWrapping,
    autocompletion({ override: [(context) => complete(context, current())], icons: false }),
    linter(({ state }) => mistakesIn(state, current()), { delay: LINT_MS }),
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    EditorView.domEventHandlers({ beforeinput: typeOverSelection }),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', autocapitalize: 'off' }),
    EditorView.contentAttributes.of(() => descriptionOf(current())),
    EditorView.updateListener.of(({ docChanged, state, transactions }) => {
      if (docChanged && transactions.every((one) => one.annotation(fromPage) !== true))
        current().onValue(state.doc.toString())
    }),
  ]
}

/**
 * Types over coloured text. Browsers would keep its colour by a style in the markup, which the policy of the page forbids, and says so in
 * the console.
 */
function typeOverSelection(event: InputEvent, view: EditorView): boolean {
  const { inputType, data, isComposing } = event
  const { from, to } = view.state.selection.main
  if (inputType !== 'insertText' || data === null || isComposing || from === to) return false
  const insert = (): Transaction => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' })
  const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert))
  if (!isHandled) view.dispatch(insert())
  event.preventDefault()
  return true
}

/** Enter sends; what is pasted becomes one line. */
function singleLine(current: Current): Extension {
  const submit = (): boolean => {
    current().onSubmit?.()
    return true
  }
  return [
    EditorState.transactionFilter.of((transaction) =>
      transaction.newDoc.lines > 1
        ? [
            transaction,
            {
              changes: {
                from: 0,
                to: transaction.newDoc.length,
                insert: transaction.newDoc.toString().replace(/\s*\n\s*/g, ' '),
              },
              sequential: true,
            },
          ]
        : transaction,
    ),
    // The cursor scrolls it. A region that only a mouse could scroll would be out of reach for keys.
    EditorView.theme({ '.cm-scroller': { overflow: 'hidden' } }),
    // Above the keys that break lines. Completion has its own above all, and takes Enter while its list is open.
    keymap.of([{ key: 'Enter', run: submit, shift: submit }]),
  ]
}

function complete(context: CompletionContext, { complete: ask }: CodeEditorProps): CompletionResult | null {
  const found = ask?.(context.state.doc.toString(), context.pos)
  if (found === undefined || found.options.length === 0) return null
  // An empty word has everything: that is for those who ask for it.
  if (found.from === context.pos && !context.explicit && found.isOffered !== true) return null
  // A word that is whole would take the Enter that sends it.
  const word = context.state.sliceDoc(found.from, context.pos)
  if (!context.explicit && found.options.some(({ label }) => label === word)) return null
  return { from: found.from, options: [...found.options] }
}

function mistakesIn(state: EditorState, { check, language }: CodeEditorProps): readonly Diagnostic[] {
  const text = state.doc.toString()
  if (text.trim() === '') return []
  const mistakes: readonly Mistake[] = language === 'json' ? jsonMistakes(state, text) : (check?.(text) ?? [])
  return mistakes.map(({ at, message }) => {
    const from = Math.min(at, text.length)
    const [word = ''] = /^[\w@.:]+/.exec(text.slice(from)) ?? []
    return { from, to: Math.min(text.length, from + Math.max(1, word.length)), message, severity: 'error' }
  })
}

/** Engines don't all say where a mistake is. The tree of the editor knows what it could not read. */
function jsonMistakes(state: EditorState, text: string): readonly Mistake[] {
  try {
    JSON.parse(text)
    return []
  } catch (error) {
    const { message } = error as Error
    const [, position] = /at position (\d+)/.exec(message) ?? []
    const [, line, column] = /at line (\d+) column (\d+)/.exec(message) ?? []
    if (position !== undefined) return [{ at: Number(position), message }]
    if (line !== undefined) return [{ at: state.doc.line(Number(line)).from + Number(column) - 1, message }]
    let at = text.length
    syntaxTree(state).iterate({ enter: ({ type, from }) => void (type.isError && (at = Math.min(at, from))) })
    return [{ at, message }]
  }
}

/** The description of the control in words. The element with it is outside of the shadow root, where ids don't lead. */
function descriptionOf({ control }: CodeEditorProps): Record<string, string> {
  const ids = control?.['aria-describedby']?.split(' ') ?? []
  const description = ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ')
  return {
    ...(description !== '' && { 'aria-description': description }),
    ...(control?.['aria-invalid'] && { 'aria-invalid': 'true' }),
  }
}

/** The language of rules and filters, as far as colours need it. */
const RULES = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null
    if (stream.match(/^\/\/.*/)) return 'comment'
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string'
    if (stream.match(/^-?\d+(?:\.\d+)?/)) return 'number'
    if (stream.match(/^(?:true|false|null)\b/)) return 'keyword'
    if (stream.match(/^@[\w.]+/)) return 'variableName.special'
    if (stream.match(/^:\w+/)) return 'modifier'
    if (stream.match(/^\w+(?=\()/)) return 'variableName.function'
    if (stream.match(/^[\w.]+/)) return 'variableName'
    if (stream.match(/^(?:\?(?=[!=<>~])|&&|\|\||[!=<>~]+)/)) return 'operator'
    stream.next()
    return null
  },
})

const SQL_WORDS =
  /^(?:select|from|where|group|by|order|having|limit|offset|join|left|right|full|inner|outer|cross|natural|on|using|as|and|or|not|null|is|in|like|glob|between|case|when|then|else|end|distinct|union|all|intersect|except|with|recursive|values|insert|into|update|set|delete|create|drop|table|view|index|over|partition|filter|desc|asc|exists|cast|collate|explain|query|plan|true|false)\b/i

/** SQL, as far as colours need it. */
const SQL = StreamLanguage.define<{ isInComment: boolean }>({
  startState: () => ({ isInComment: false }),
  token(stream, state) {
    if (state.isInComment || stream.match('/*')) {
      state.isInComment = !stream.match(/^.*?\*\//)
      if (state.isInComment) stream.skipToEnd()
      return 'comment'
    }
    if (stream.eatSpace()) return null
    if (stream.match(/^--.*/)) return 'comment'
    if (stream.match(/^'(?:[^']|'')*'?/)) return 'string'
    if (stream.match(/^"(?:[^"]|"")*"?/)) return 'variableName'
    if (stream.match(/^\d+(?:\.\d+)?/)) return 'number'
    if (stream.match(/^:\w+/)) return 'modifier'
    if (stream.match(SQL_WORDS)) return 'keyword'
    if (stream.match(/^\w+(?=\()/)) return 'variableName.function'
    if (stream.match(/^\w+/)) return 'variableName'
    if (stream.match(/^[!=<>|*+%-]+/)) return 'operator'
    stream.next()
    return null
  },
})

const COLOURS = HighlightStyle.define([
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--info)' },
  { tag: [tags.special(tags.variableName), tags.modifier, tags.function(tags.variableName)], color: 'var(--accent)' },
  { tag: tags.propertyName, color: 'var(--ink)', fontWeight: '600' },
  { tag: [tags.operator, tags.punctuation], color: 'var(--muted)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
])

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 2px' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: '8px',
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '4px 10px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--accent)',
  },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal' },
  '.cm-diagnostic': { padding: '6px 10px', borderLeft: '3px solid var(--danger)', fontFamily: 'var(--sans)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft) !important' },
})
