/** The frame of every view of a definition: the head with the actions, the content, and the bar that saves the draft. */
import type { ReactNode } from 'react'
import type { Collection } from '../../api/collections.ts'
import { CollectionHead } from '../collection-head.tsx'
import { DefinitionMenu } from './definition-menu.tsx'
import { useDraft } from './drafts.ts'
import type { DefinitionDraft } from './drafts.ts'
import { SaveBar } from './save-bar.tsx'
import sheet from './definition.css'

interface DefinitionViewProps {
  readonly collection: Collection
  readonly children: (draft: DefinitionDraft) => ReactNode
}

export function DefinitionView({ collection, children }: DefinitionViewProps): ReactNode {
  const draft = useDraft(collection)
  return (
    <>
      <link rel="stylesheet" href={sheet} precedence="page" />
      <CollectionHead collection={collection}>
        <DefinitionMenu collection={collection} />
      </CollectionHead>
      <div className="definition">{children(draft)}</div>
      <SaveBar draft={draft} />
    </>
  )
}
