/** An editor of a rule or a filter of a collection: it completes names, and points at what is wrong. */
import type { ReactNode } from 'react'
import { check, createSchema } from '@pannier/rules'
import type { CollectionDefinition, Schema } from '@pannier/rules'
import type { Collection } from '../api/collections.ts'
import { CodeEditor } from '../parts/code-editor/code-editor.tsx'
import type { Mistake } from '../parts/code-editor/contract.ts'
import { useCollections } from '../state/collections.ts'
import { completeRule } from './rule-completions.ts'

interface RuleEditorProps {
  readonly collection: Collection
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly hint?: string
  readonly isSingleLine?: boolean
  readonly onSubmit?: () => void
}

export function RuleEditor({ collection, ...props }: RuleEditorProps): ReactNode {
  const mistakes = useRuleCheck(collection)
  const { list } = useCollections()
  return (
    <CodeEditor
      {...props}
      language="rule"
      complete={(text, position) => completeRule(text, position, collection, list)}
      check={mistakes}
    />
  )
}

/** A function that finds the mistakes of a rule of the collection, which may have changes that are not saved. */
export function useRuleCheck(collection: Collection): (text: string) => readonly Mistake[] {
  const { list } = useCollections()
  return (text) =>
    check(text, schemaWith(list, collection), collection.id).errors.map(({ position, message }) => ({
      at: position,
      message,
    }))
}

/** Several rules of a collection are on a page, and each is checked whenever one changes. */
let known:
  | { readonly list: readonly Collection[]; readonly collection: Collection; readonly schema: Schema }
  | undefined

function schemaWith(list: readonly Collection[], collection: Collection): Schema {
  if (known?.list === list && known.collection === collection) return known.schema
  const all = [...list.filter(({ id }) => id !== collection.id), collection]
  const schema = createSchema(all as readonly CollectionDefinition[])
  known = { list, collection, schema }
  return schema
}
